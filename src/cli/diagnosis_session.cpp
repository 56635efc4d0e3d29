#include "cli/diagnosis_session.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "cli/diagnosis_text.h"
#include "cli/result_text.h"
#include "measure/clock.h"
#include "measure/memory.h"
#include "record/diagnosis_json.h"

namespace feedrate::cli {

DiagnosisSession::DiagnosisSession(DiagnosisOrder order, Measuring& measuring,
                                   const plan::Cell& cell)
    : order_(std::move(order)),
      measuring_(measuring),
      cell_(cell),
      ladder_(ladder_of(cell)),
      began_ns_(measure::now_ns()),
      diagnosing_(measuring, cell, ladder_, order_.seed) {
  evidence_.settings = diagnosing_.settings();
  evidence_.serial_copies = has_serial_copies(evidence_.settings);
  head_ = {.cell_id = cell_.id(),
           .planted = order_.planted,
           .budget_s = order_.budget_s,
           .plan = {.rounds = 0}};
  if (order_.resume) go_on();
  measuring_.open_ledger(first_ladder(), order_.resume);
  if (!order_.folder.empty() && head_.plan.rounds == 0) keep();
}

double DiagnosisSession::seconds() const { return measure::seconds(measure::now_ns() - began_ns_); }

// What --resume compares with the ledger's records.
std::vector<plan::PlannedRun> DiagnosisSession::first_ladder() const {
  std::vector<plan::PlannedRun> runs;
  for (const auto& [rung, cell] : ladder_) runs.push_back({cell, plan::Role::cell, 0});
  return runs;
}

void DiagnosisSession::go_on() {
  const std::filesystem::path file = order_.folder / record::kRoundsFile;
  const auto found = record::read_rounds(order_.folder);
  if (!found) {
    if (!std::filesystem::exists(order_.folder / "ledger.jsonl")) return;
    throw Error(order_.folder.string(), "holds no diagnosis that could go on",
                "choose another folder: -o DIR");
  }
  if (found->head.cell_id != cell_.id() || found->head.planted != order_.planted)
    throw Error(file.string(), "is of another cell", "give the same options, or another -o DIR");
  head_ = found->head;
  before_s_ = head_.seconds;
  evidence_.rounds = found->rounds;
  evidence_.servers = head_.servers;
  diagnosing_.go_on_from(head_.seen);
}

int DiagnosisSession::carry_out() {
  std::fprintf(stderr, "diagnosing %s: about %s (--budget)\n", cell_.label().c_str(),
               duration(order_.budget_s).c_str());
  const bool is_whole = measure();
  if (!is_whole) {
    std::fprintf(stderr, "feedrate: interrupted%s\n",
                 order_.folder.empty() ? "" : "; go on: the same command with --resume");
  }
  if (evidence_.rounds.empty()) return measuring_.exit_code(1);
  const bool is_answered = answer(is_whole && order_.is_tried);
  return measuring_.exit_code(is_whole && is_answered ? 0 : 1);
}

// False: interrupted.
bool DiagnosisSession::measure() {
  while (!is_enough())
    if (!measure_round()) return false;
  return true;
}

// An interrupted round goes on with what the ledger lacks of it.
bool DiagnosisSession::measure_round() {
  const auto number = static_cast<int>(evidence_.rounds.size());
  std::string title = format("round %d", number + 1);
  if (head_.plan.rounds > 0) title += format(" of %d", head_.plan.rounds);
  const double before_s = seconds();
  if (!diagnosing_.measure_ladder(number, title)) return false;
  const double ladder_s = seconds() - before_s;
  if (head_.plan.rounds == 0) {
    set_plan(order_.budget_s - before_s, ladder_s);
    if (!order_.folder.empty()) keep();
    say_if_too_short(before_s + ladder_s);
  }
  const bool nothing_binds =
      number > 0 && diagnose::diagnosis_of(evidence_).finding.nothing_usual_binds();
  if (!diagnosing_.measure_blocks(head_.plan, nothing_binds, title)) return false;
  evidence_.rounds.push_back(diagnosing_.round());
  round_s_ = std::max(round_s_, seconds() - before_s);
  if (!order_.folder.empty()) keep();
  return true;
}

// Rounds that take longer than the first one did end it earlier.
bool DiagnosisSession::is_enough() const {
  const std::size_t done = evidence_.rounds.size();
  if (head_.plan.rounds == 0 || done == 0) return false;
  return done >= static_cast<std::size_t>(head_.plan.rounds) ||
         (!order_.resume && seconds() + 0.7 * round_s_ > order_.budget_s);
}

void DiagnosisSession::set_plan(double left_s, double ladder_s) {
  evidence_.servers = diagnosing_.servers();
  head_.device = diagnosing_.device();
  head_.servers = evidence_.servers;
  head_.plan = plan_of(left_s, ladder_s, diagnosing_.step_s(), diagnosing_.probes());
}

// `first_s`: until the end of the first ladder.
void DiagnosisSession::say_if_too_short(double first_s) const {
  const double whole_s = first_s + head_.plan.block_run_s;
  if (head_.plan.rounds > 1 || whole_s < 1.2 * order_.budget_s) return;
  std::fprintf(
      stderr,
      "feedrate: one round takes about %s, longer than --budget: a smaller --batch-size, or "
      "a larger budget, tells more\n",
      duration(whole_s).c_str());
}

void DiagnosisSession::keep() {
  head_.seen = diagnosing_.seen();
  head_.seconds = before_s_ + seconds();
  record::write_rounds(order_.folder, {head_, evidence_.rounds});
}

diagnose::Surroundings DiagnosisSession::surroundings() const {
  diagnose::Surroundings s{.memory_available = static_cast<double>(measure::memory_available()),
                           .takes_engines = cell_["io"].has_value()};
  const auto dataset = measuring_.dataset_of(cell_);
  if (dataset && !dataset->samples.empty()) {
    s.samples = static_cast<double>(dataset->samples.size());
    s.bytes_per_sample = static_cast<double>(dataset->total_bytes) / s.samples;
  }
  return s;
}

// Whether all that was asked for has an answer.
bool DiagnosisSession::answer(bool is_tried) {
  const diagnose::Diagnosis diagnosis = diagnose::diagnosis_of(evidence_);
  std::vector<diagnose::Remedy> advice = diagnose::advice_of(evidence_, diagnosis, surroundings());
  const bool is_whole =
      !is_tried || diagnosing_.try_out(advice, static_cast<int>(evidence_.rounds.size()));
  if (!is_whole) std::fprintf(stderr, "feedrate: interrupted\n");
  const record::DiagnosisOf of{.cell = cell_,
                               .device = head_.device,
                               .seconds = before_s_ + seconds(),
                               .left_out = diagnosing_.seen().left_out,
                               .advice = advice,
                               .patterns = diagnosing_.patterns(),
                               .runs = diagnosing_.seen().runs,
                               .flags = diagnosing_.seen().flags};
  if (!order_.folder.empty()) {
    using Json = nlohmann::ordered_json;
    const Json json = record::diagnosis_json(of, evidence_, diagnosis);
    write_whole_file(order_.folder / "diagnosis.json",
                     json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n",
                     /*durable=*/true);
  }
  print_diagnosis(order_.json, of, evidence_, diagnosis);
  return is_whole;
}

}  // namespace feedrate::cli
