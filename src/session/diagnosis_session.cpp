#include "session/diagnosis_session.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "device/registry.h"
#include "ledger/diagnosis_json.h"
#include "measure/clock.h"
#include "measure/memory.h"
#include "session/ledger_evidence.h"
#include "session/trials.h"

namespace feedrate::session {
std::string busy_cpu_text(const plan::Cell& cell, const judge::RoundEvidence& round) {
  constexpr double kAlwaysBusy = 0.95, kMuchFaster = 2;
  if (device::split_device(cell["device"].value()).first != "cpu") return "";
  const auto found = [&](std::string_view resource) {
    return std::ranges::find(round.capacities, resource, &judge::Capacity::resource);
  };
  const auto device = found("device"), loader = found("loader"), end = round.capacities.end();
  if (device == end || loader == end || device->utilisation < kAlwaysBusy ||
      loader->imgs_per_s < kMuchFaster * device->imgs_per_s)
    return "";
  return "this CPU trains all the time, at " + thousands(device->imgs_per_s) +
         " img/s; the loader could deliver " + thousands(loader->imgs_per_s) +
         ". What would limit a GPU shows with --device emulated:NAME";
}

DiagnosisAnswer diagnosis_from(const std::filesystem::path& ledger,
                               const std::vector<std::string>& where) {
  auto [of, evidence, surroundings, records] = evidence_from(ledger, where);
  const judge::Diagnosis diagnosis = judge::diagnosis_of(evidence);
  of.advice = advice_for(of.cell, evidence, diagnosis, surroundings);
  add_tried(records, of.cell, of.advice, static_cast<int>(evidence.rounds.size()), of.seen);
  return {std::move(of), std::move(evidence), diagnosis};
}

DiagnosisSession::DiagnosisSession(DiagnosisOrder order, Session& session, const plan::Cell& cell,
                                   std::function<void(const DiagnosisAnswer&)> answered)
    : order_(std::move(order)),
      folder_(session.options().output),
      session_(session),
      watcher_(session.watcher()),
      answered_(std::move(answered)),
      cell_(cell),
      ladder_(ladder_of(cell)),
      began_ns_(measure::now_ns()),
      live_(session, cell, ladder_, session.options().run.seed, [this] { keep(); }) {
  evidence_.settings = live_.settings();
  head_ = {.cell_id = cell_.id(),
           .planted = order_.planted,
           .budget_s = order_.budget_s,
           .plan = {.rounds = 0}};
  if (order_.resume) go_on();
  session_.open_ledger(first_ladder(), order_.resume);
  if (head_.plan.rounds == 0) keep();
}

double DiagnosisSession::seconds() const { return measure::seconds(measure::now_ns() - began_ns_); }

// What --resume compares with the ledger's records.
std::vector<plan::PlannedRun> DiagnosisSession::first_ladder() const {
  std::vector<plan::PlannedRun> runs;
  for (const auto& [rung, cell] : ladder_) runs.push_back({cell, plan::Role::cell, 0});
  return runs;
}

void DiagnosisSession::go_on() {
  const std::filesystem::path file = folder_ / ledger::kRoundsFile;
  const auto found = ledger::read_rounds(folder_);
  if (!found) {
    if (!std::filesystem::exists(folder_ / "ledger.jsonl")) return;
    throw Error(folder_.string(), "holds no diagnosis that could go on",
                "choose another folder: -o DIR");
  }
  if (found->head.cell_id != cell_.id() || found->head.planted != order_.planted)
    throw Error(file.string(), "is of another cell", "give the same options, or another -o DIR");
  goes_on_ = true;
  head_ = found->head;
  before_s_ = head_.seconds;
  evidence_.rounds = found->rounds;
  evidence_.servers = head_.servers;
  live_.go_on_from(head_.seen);
}

int DiagnosisSession::run() {
  watcher_.logs("diagnosing " + cell_.label() + ": about " + duration(order_.budget_s) +
                " (--budget)");
  const bool is_whole = measure();
  if (!is_whole) {
    watcher_.warns(folder_.empty()
                       ? "interrupted; with -o DIR what is measured is kept, and --resume goes on"
                       : "interrupted; go on: the same command with --resume");
  }
  if (evidence_.rounds.empty()) return session_.exit_code(1);
  const bool is_answered = answer(is_whole);
  const bool is_good = is_whole && is_answered && !has_failed_ && !lacks_blocks();
  return session_.exit_code(is_good ? 0 : 1);
}

std::optional<FirstRoundSoFar> DiagnosisSession::first_round_so_far() const {
  if (!evidence_.rounds.empty()) return std::nullopt;
  const judge::Round& rates = live_.round().rates;
  const auto measured = [&](judge::LadderRung rung) {
    const auto rate = rates.find(rung);
    return rate == rates.end() ? 0.0 : rate->second;
  };
  const FirstRoundSoFar found{.cell = cell_,
                              .device = live_.device(),
                              .imgs_per_s = measured(own_rung(cell_)),
                              .ceiling_imgs_per_s = measured(judge::LadderRung::synthetic),
                              .device_idle = live_.device_idle()};
  if (found.imgs_per_s <= 0 && found.ceiling_imgs_per_s <= 0) return std::nullopt;
  return found;
}

// They failed in each round.
bool DiagnosisSession::lacks_blocks() const {
  return !live_.seen().blocks_failed.empty() && evidence_.pairs().empty();
}

// False: interrupted. Where a round fails, those before it give the answer, if there are any.
bool DiagnosisSession::measure() {
  while (!is_enough() && !has_failed_) {
    try {
      if (!measure_round()) return false;
    } catch (const Error& error) {
      if (evidence_.rounds.empty()) throw;
      watcher_.warns(error.what() + std::string("; the rounds before it give the answer"));
      has_failed_ = true;
    }
  }
  return true;
}

// An interrupted round goes on with what the ledger lacks of it.
bool DiagnosisSession::measure_round() {
  const auto number = static_cast<int>(evidence_.rounds.size());
  std::string title = format("round %d", number + 1);
  if (head_.plan.rounds > 0) title += format(" of %d", head_.plan.rounds);
  const double before_s = seconds();
  if (!live_.measure_ladder(number, title)) return false;
  if (head_.plan.rounds == 0) {  // its ladder may have begun before
    const double ladder_s = before_s_ + seconds() - before_s;
    if (!set_plan(before_s, ladder_s)) return false;
  }
  keep();
  const bool nothing_binds =
      number > 0 && judge::diagnosis_of(evidence_).finding.nothing_usual_binds();
  if (!live_.measure_blocks(head_.plan, nothing_binds, title)) return false;
  evidence_.rounds.push_back(live_.round());
  round_s_ = std::max(round_s_, seconds() - before_s);
  keep();
  return true;
}

// Rounds that take longer than the first one did end it earlier.
bool DiagnosisSession::is_enough() const {
  const std::size_t done = evidence_.rounds.size();
  if (head_.plan.rounds == 0 || done == 0) return false;
  return done >= static_cast<std::size_t>(head_.plan.rounds) ||
         (!goes_on_ && seconds() + 0.7 * round_s_ > order_.budget_s);
}

// `before_s`: until the ladder began. False: interrupted, and there is no plan.
bool DiagnosisSession::set_plan(double before_s, double ladder_s) {
  evidence_.servers = live_.servers();
  head_.device = live_.device();
  head_.servers = evidence_.servers;
  const double began_s = seconds();
  const auto batch = batch_of_blocks(order_.budget_s - before_s, ladder_s);
  if (session_.is_stopped()) return false;
  const double budget_s = order_.budget_s - before_s - (seconds() - began_s);
  double step_s = live_.step_s();
  if (batch) step_s *= static_cast<double>(*batch) / live_.settings().batch_size;
  const DelayPlan found = plan_of(budget_s, ladder_s, step_s, live_.probes());
  if (found.holds_no_pair) refuse_budget(found, ladder_s);
  head_.plan = found.plan;
  if (batch) use_batch(*batch, /*fits_all_pairs=*/!found.needs_s);
  if (const std::string text = busy_cpu_text(cell_, live_.round()); !text.empty())
    watcher_.warns(text);
  if (found.needs_s) say_too_short(*found.needs_s, before_s, ladder_s);
  return true;
}

// A smaller one than the cell's, where that is sound. Of an emulated device that is known; else two
// runs, each as long as one of the ladder's, find it out.
std::optional<int> DiagnosisSession::batch_of_blocks(double budget_s, double ladder_s) {
  const plan::CellSettings& cell = live_.settings();
  // Where the cell's own batch fits, the two runs' time does not have to.
  if (!plan_of(budget_s, ladder_s, live_.step_s(), live_.probes()).needs_s) return std::nullopt;
  const double runs_s =
      cell.emulated()
          ? 0
          : 2 * ladder_s / static_cast<double>(std::max<std::size_t>(1, ladder_.size()));
  const auto batch =
      smaller_batch(cell, budget_s - runs_s, ladder_s, live_.step_s(), live_.probes());
  return batch && (cell.emulated() || live_.keeps_rates(*batch)) ? batch : std::nullopt;
}

// Of the blocks alone: what the ladder measured stays.
void DiagnosisSession::use_batch(int batch, bool fits_all_pairs) {
  head_.plan.batch_size = batch;
  evidence_.servers.images_per_step = static_cast<double>(batch) * live_.settings().gpus;
  head_.servers = evidence_.servers;
  watcher_.logs(
      format("delays are measured with batches of %d instead of %d, so that %s pairs of "
             "blocks of each fit the budget",
             batch, live_.settings().batch_size,
             fits_all_pairs ? std::to_string(kLeastPairs).c_str() : "more"));
}

void DiagnosisSession::refuse_budget(const DelayPlan& plan, double ladder_s) const {
  throw Error("--budget " + duration(order_.budget_s),
              "holds no pair of blocks: the ladder took " + duration(ladder_s) +
                  ", and one pair takes " + duration(plan.pair_s) +
                  format(" with batches of %d", live_.settings().batch_size),
              "use --budget " + duration(std::ceil(1.1 * plan.needs_s.value_or(plan.pair_s))) +
                  ", or a smaller --batch-size");
}

void DiagnosisSession::say_too_short(double needs_s, double before_s, double ladder_s) const {
  // A larger budget makes the ladder's runs longer, too.
  const double longer = ladder_run_s(needs_s) / ladder_run_s(order_.budget_s) - 1;
  const double enough_s = 1.1 * (before_s + needs_s + longer * ladder_s);
  watcher_.warns("--budget " + duration(order_.budget_s) +
                 format(" is too short for %d pairs of blocks of each delay: fewer are measured; ",
                        kLeastPairs) +
                 duration(std::ceil(enough_s)) + " would do, or a smaller --batch-size");
}

// What an interrupted diagnosis goes on from.
void DiagnosisSession::keep() {
  if (folder_.empty()) return;
  head_.seen = live_.seen();
  head_.seconds = before_s_ + seconds();
  ledger::write_rounds(folder_, {head_, evidence_.rounds});
}

judge::DataAndMemory DiagnosisSession::surroundings() const {
  judge::DataAndMemory s{.memory_available = static_cast<double>(measure::memory_available()),
                         .takes_engines = cell_["io"].has_value()};
  const auto dataset = session_.dataset_of(cell_);
  if (dataset) {
    s.samples = static_cast<double>(dataset->samples.size());
    s.bytes_per_sample = dataset->bytes_per_sample();
  }
  return s;
}

// Whether all that was asked for has an answer.
bool DiagnosisSession::answer(bool is_whole) {
  const judge::Diagnosis diagnosis = judge::diagnosis_of(evidence_);
  std::vector<judge::Remedy> advice = advice_for(cell_, evidence_, diagnosis, surroundings());
  const double rounds_s = before_s_ + seconds();
  ledger::SeenInRounds seen = live_.seen();
  const bool is_tried = is_whole && !has_failed_ && order_.is_tried;
  const Tried tried = is_tried ? try_advice(advice, seen) : Tried::all;
  const DiagnosisAnswer found{.of = {.cell = cell_,
                                     .device = head_.device,
                                     .seconds = rounds_s,
                                     .seen = seen,
                                     .advice = advice,
                                     .interrupted_of = is_whole ? 0 : head_.plan.rounds},
                              .evidence = evidence_,
                              .diagnosis = diagnosis};
  const bool is_written = write(ledger::diagnosis_json(found.of, evidence_, diagnosis));
  answered_(found);
  return is_written && tried == Tried::all;
}

// Whatever fails here, the diagnosis is there to be printed.
Tried DiagnosisSession::try_advice(std::vector<judge::Remedy>& advice, ledger::SeenInRounds& seen) {
  try {
    const Tried tried = try_out(session_, cell_, advice, static_cast<int>(evidence_.rounds.size()),
                                session_.options().run.seed, seen);
    if (tried == Tried::interrupted) watcher_.warns("interrupted");
    return tried;
  } catch (const std::exception& error) {
    watcher_.warns(error.what());
    return Tried::not_all;
  }
}

bool DiagnosisSession::write(const nlohmann::ordered_json& json) const {
  if (folder_.empty()) return true;
  try {
    write_whole_file(
        folder_ / "diagnosis.json",
        json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n",
        /*durable=*/true);
    return true;
  } catch (const Error& error) {
    watcher_.warns(error.what());
    return false;
  }
}

}  // namespace feedrate::session
