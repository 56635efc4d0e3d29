#include "cli/diagnosing.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <ranges>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "cli/ledger_evidence.h"
#include "cli/progress.h"
#include "measure/affinity.h"
#include "measure/clock.h"
#include "plan/axes.h"
#include "plan/expand.h"

namespace feedrate::cli {
namespace {

using diagnose::Rung;
using measure::Place;

// Flags that say that something else used the machine, or changed it, or spoilt what is read.
// Others say that runs are short, which the rounds make up for.
constexpr std::string_view kOfTheMachine[] = {
    "noisy_neighbour", "cpu_steal", "cpu_quota", "memory_pressure", "stopped",
    "clock_changed",   "straggler", "planted",   "bad_samples",     "ceiling_exceeded"};

// Measures runs one after the other, live.
class Turns {
 public:
  Turns(Measuring& measuring, std::string title)
      : measuring_(measuring), title_(std::move(title)) {}

  // False: interrupted.
  bool measure(const std::vector<plan::PlannedRun>& plan,
               const std::function<std::string(const plan::Cell&)>& name,
               const std::function<void(const record::Record&)>& add) {
    const record::SweepHooks hooks{
        .started =
            [&](const plan::PlannedRun& run, std::size_t, std::size_t, std::optional<double>) {
              label_ = title_ + " · " + name(run.cell);
              line_.show(label_);
            },
        .progress =
            [&](const run::RunProgress& p) {
              line_.show(label_ + ": " + describe(p, std::nullopt));
            },
        .finished = [&](const record::Record& record,
                        const nlohmann::ordered_json&) { add(record); },
        .more = {}};
    const record::SweepOutcome outcome = measuring_.run(plan, hooks, /*stop_at_failure=*/false);
    line_.clear();
    return !outcome.interrupted;
  }

 private:
  Measuring& measuring_;
  const std::string title_;
  ProgressLine line_;
  std::string label_;
};

double loader_cpu_s(const measure::StageTotals& stages) {
  double cpu_s = 0;
  for (const measure::StageTotal& stage : stages.stage) cpu_s += measure::seconds(stage.cpu_ns);
  return cpu_s;
}

}  // namespace

std::optional<plan::Cell> with(const plan::Cell& cell,
                               const std::map<std::string, std::string>& others) {
  plan::AxisValues values;
  for (const plan::Axis& axis : plan::axes())
    if (const auto& value = cell[axis.name]) values[std::string(axis.name)] = {*value};
  for (const auto& [axis, value] : others) {
    values.erase(axis);
    if (!value.empty()) values[axis] = {value};
  }
  try {
    const std::vector<plan::Cell> cells = plan::expand(values);
    return cells.empty() ? std::nullopt : std::optional(cells.front());
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

Rung own_rung(const plan::Cell& cell) {
  return cell.is("page-cache", "cold") ? Rung::cold : Rung::none;
}

LadderCells ladder_of(const plan::Cell& cell) {
  LadderCells ladder;
  const auto add = [&](Rung rung, const std::optional<plan::Cell>& rung_cell) {
    if (rung_cell) ladder.emplace(rung, *rung_cell);
  };
  ladder.emplace(Rung::synthetic, plan::ceiling_of(cell));
  for (const Rung rung :
       {Rung::device, Rung::host, Rung::sample, Rung::decoded, Rung::encoded, Rung::discard}) {
    const std::string cache(diagnose::name_of(rung));
    add(rung, with(cell, {{"cache", cache}, {"page-cache", "auto"}}));
  }
  const int gpus = plan::settings_of(cell).gpus;
  add(Rung::cpus,
      with(cell, {{"device", "emulated:inf"},
                  {"host-cpu-ms", ""},
                  {"all-reduce-ms", ""},
                  {"workers", std::to_string(std::max(1, measure::allowed_cpus() / gpus))}}));
  const bool is_cold = cell.is("page-cache", "cold");
  add(Rung::none, is_cold ? with(cell, {{"page-cache", "warm"}}) : cell);
  // What lies in the page cache of an as-is cell must stay as it is.
  if (cell["page-cache"] && !cell.is("page-cache", "as-is"))
    add(Rung::cold, is_cold ? cell : with(cell, {{"page-cache", "cold"}}));
  return ladder;
}

diagnose::Servers servers_of(const plan::CellSettings& settings) {
  return {.workers = static_cast<double>(std::max(settings.workers, 1) * settings.gpus),
          .cpus = 1,
          .images_per_step = static_cast<double>(settings.batch_size) * settings.gpus};
}

bool has_serial_copies(const plan::CellSettings& settings) {
  return settings.device_kind == "cpu" || (settings.emulated() && settings.workers == 0);
}

std::vector<Probe> probes_of(const plan::CellSettings& settings, const ProbesWanted& wanted) {
  std::vector<Probe> probes;
  const auto add = [&](Place place, bool burns) {
    const auto& served = wanted.served;
    if (std::ranges::find(served, place) != served.end()) probes.push_back({place, burns});
  };
  if (settings.loader != "dali") {
    add(Place::worker, false);
    if (settings.workers > 0) add(Place::worker, true);
  }
  if (!has_serial_copies(settings)) add(Place::copy, false);
  add(Place::step, false);
  if (wanted.launching && !has_serial_copies(settings)) add(Place::step, true);
  if (settings.gpus > 1) add(Place::all_reduce, false);
  if (wanted.storage && settings.loader != "dali") add(Place::storage, false);
  return probes;
}

record::DiagnosisPlan plan_of(double budget_s, double ladder_s, double step_s, std::size_t probes) {
  constexpr int kLeastPairs = 6, kMostPairs = 16;  // for each place, all rounds together
  constexpr int kMostRounds = 6, kWantedRounds = 3;
  constexpr int kLeastSteps = 6, kSettlingSteps = 3;
  // Seconds of a block, with the time in which it settles: what will do, and what is wanted.
  constexpr double kLeast = 0.2, kWanted = 0.6, kLongest = 3;
  constexpr double kStartup = 1, kSettles = 0.2;
  const double steps_s = (kLeastSteps + kSettlingSteps) * step_s;
  const double least = std::max(kLeast, steps_s), wanted = std::max(kWanted, steps_s);
  record::DiagnosisPlan plan{.blocks = {.blocks = {}, .least_steps = kLeastSteps}};
  for (int rounds = kMostRounds; rounds >= 1; --rounds) {
    const double left_s = budget_s / rounds - ladder_s - kStartup;
    const int needed = (kLeastPairs + rounds - 1) / rounds;
    const double pair_of_each = 2 * static_cast<double>(probes);  // blocks
    const double each = left_s / (pair_of_each * needed);
    // The ladder has half of the time at most where that leaves enough rounds for an interval.
    const bool is_long_enough =
        rounds > kWantedRounds ? each >= wanted && left_s >= ladder_s : each >= least;
    if (!is_long_enough && rounds > 1) continue;
    plan.rounds = rounds;
    plan.pairs = std::clamp(static_cast<int>(left_s / (pair_of_each * wanted)), needed,
                            std::max(needed, kMostPairs / rounds));
    const double blocks = pair_of_each * plan.pairs;
    const double block_s = std::clamp(left_s / blocks, least, std::max(least, kLongest));
    plan.blocks.seconds = block_s / (1 + kSettles);
    // Blocks end with a step, and delayed ones have longer steps. What is too short for all blocks
    // ends with those that fit.
    plan.block_run_s = is_long_enough ? 1.3 * block_s * blocks : std::max(left_s, 4 * least);
    break;
  }
  return plan;
}

Diagnosing::Diagnosing(Measuring& measuring, const plan::Cell& cell, LadderCells ladder,
                       std::uint64_t seed)
    : measuring_(measuring),
      cell_(cell),
      ladder_(std::move(ladder)),
      settings_(plan::settings_of(cell)),
      wanted_{.served = measuring.delays_served(cell)},
      seed_(seed) {
  servers_ = servers_of(settings_);
}

// A rung that cannot be measured here is left out by name; the ceiling and the cell are needed.
void Diagnosing::check_rungs() {
  for (const auto& [rung, cell] : ladder_) {
    try {
      measuring_.check({{cell, plan::Role::cell, 0}});
    } catch (const std::runtime_error& error) {
      if (rung == Rung::synthetic || rung == own_rung(cell_)) throw;
      seen_.left_out.emplace(rung, error.what());
    }
  }
  are_checked_ = true;
}

bool Diagnosing::measure_ladder(int round, const std::string& title) {
  number_ = round;
  round_ = {};
  if (!are_checked_) check_rungs();
  std::vector<plan::PlannedRun> plan;
  std::map<std::string, Rung> rungs;  // by cell_id
  for (const auto& [rung, cell] : ladder_) {
    if (seen_.left_out.contains(rung)) continue;
    rungs[cell.id()] = rung;
    if (rung != Rung::synthetic) plan.push_back({cell, plan::Role::cell, round});
  }
  shuffle(plan, mix64(seed_, static_cast<std::uint64_t>(round)));
  // It takes from the others what they find in the page cache.
  std::ranges::stable_partition(
      plan, [](const plan::PlannedRun& run) { return !run.cell.is("page-cache", "cold"); });
  plan.insert(plan.begin(), {ladder_.at(Rung::synthetic), plan::Role::opening_ceiling, round});
  if (!measure_rungs(plan, rungs, title)) return false;
  add_from_ledger(rungs);
  const Rung own = own_rung(cell_);
  for (const Rung needed : {Rung::synthetic, own}) {
    if (const auto why = seen_.left_out.find(needed); why != seen_.left_out.end())
      throw Error(needed == own ? cell_.label() : "the ceiling", why->second,
                  "see that it runs: `feedrate run`");
  }
  return true;
}

// False: interrupted.
bool Diagnosing::measure_rungs(const std::vector<plan::PlannedRun>& plan,
                               const std::map<std::string, Rung>& rungs, const std::string& title) {
  const auto rung_of = [&](const plan::Cell& cell) { return rungs.at(cell.id()); };
  return Turns(measuring_, title)
      .measure(
          plan, [&](const plan::Cell& cell) { return std::string(name_of(rung_of(cell))); },
          [&](const record::Record& record) { add(rung_of(record.context.run.cell), record); });
}

// What an interrupted round had measured already.
void Diagnosing::add_from_ledger(const std::map<std::string, Rung>& rungs) {
  if (!measuring_.ledger()) return;
  // A run that was measured again stands behind the one that was spoilt.
  for (const nlohmann::ordered_json& record : std::views::reverse(measuring_.ledger()->records())) {
    const auto rung = rungs.find(record.value("cell_id", ""));
    if (rung == rungs.end() || record.at("repetition") != number_ || record.at("status") != "ok" ||
        round_.rates.contains(rung->second))
      continue;
    const bool is_own = rung->second == own_rung(cell_);
    add_record(record, rung->second, is_own, round_);
    if (!is_own) continue;
    round_.undelayed.reset();  // its blocks tell it better
    device_ = record.at("device").at("name");
    look_at_storage(round_.page_cache);
    servers_.cpus = std::max(1.0, record.at("threads").value("cpu_capacity", 1.0));
    step_s_ = 1e-3 * record.at("step_ms").at("mean").get<double>();
  }
}

void Diagnosing::add(Rung rung, const record::Record& record) {
  const run::CellResult& result = record.result;
  ++seen_.runs;
  for (const record::Flag& flag : record.flags) {
    if (std::ranges::find(kOfTheMachine, flag.name) == std::end(kOfTheMachine)) continue;
    record::SeenFlag& seen = seen_.flags[flag.name];
    ++seen.runs;
    seen.reason = flag.reason, seen.remedy = flag.remedy;
  }
  if (result.status == run::Status::failed) seen_.left_out.emplace(rung, result.error);
  if (!result.measurement) return;
  const run::Measurement& m = *result.measurement;
  round_.rates[rung] = run::kept_up(m);
  if (rung == Rung::cpus && !m.machines.empty())
    round_.cpus_busy = std::max(0.0, m.machines.front().use.process_cpu_s) /
                       std::max(m.window_s * m.cpu_capacity, 1e-9);
  if (rung != own_rung(cell_)) return;
  round_.capacities = record.verdict->capacities;
  look_at_storage(m.page_cache.state);
  add_cell(m);
}

// Where each of the cell's reads is the storage's, one at random like the extra ones, and samples
// can be read past the page cache.
void Diagnosing::look_at_storage(const std::string& page_cache) {
  round_.page_cache = page_cache;
  const bool is_read = page_cache == "cold" || page_cache == "bypassed";
  if (!is_read || settings_.order != pipeline::Order::shuffled) return;
  const auto past_it = with(cell_, {{"io", "direct"}, {"io-depth", ""}, {"page-cache", ""}});
  if (!past_it) return;
  try {
    measuring_.check({{*past_it, plan::Role::cell, 0}});
    wanted_.storage = true;
  } catch (const std::runtime_error&) {  // the storage is then named by elimination
  }
}

void Diagnosing::add_cell(const run::Measurement& m) {
  device_ = m.device.name;
  servers_.cpus = std::max(m.cpu_capacity, 1.0);
  step_s_ = 1e-3 * m.step_ms.summary.mean;
  if (m.images > 0 && !m.machines.empty()) {
    // Of rank 0's process; the others are taken to be like it.
    std::set<std::pair<std::string, int>> processes;
    for (const run::RankMeasurement& rank : m.ranks)
      processes.emplace(rank.place.host, rank.place.pid);
    const double all = m.machines.front().use.process_cpu_s * static_cast<double>(processes.size());
    round_.step_cpu_s = std::max(0.0, all - loader_cpu_s(m.stages)) / static_cast<double>(m.images);
  }
  double least = m.ranks.size() > 1 ? m.step_ms.summary.mean : 0;
  for (const run::RankMeasurement& rank : m.ranks) least = std::min(least, rank.sync_ms);
  round_.all_reduce_share =
      diagnose::all_reduce_share(least, m.step_ms.summary.mean, m.device_idle_fraction);
  const std::int64_t opens_ns = m.latencies.opens.percentile_ns(0.5);
  if (const auto reads_ns = m.latencies.percentile_ns(0.5); reads_ns.value_or(0) > 0)
    round_.open_share = static_cast<double>(opens_ns) / static_cast<double>(*reads_ns);
  add_patterns(m);
}

void Diagnosing::add_patterns(const run::Measurement& m) {
  ++seen_.rounds;
  const auto loader = std::ranges::find(round_.capacities, "loader", &diagnose::Capacity::resource);
  const diagnose::StepsSeen steps{.step_ms = m.step_ms.values,
                                  .data_wait_ms = m.data_wait_ms.values,
                                  .device_idle_ms = m.device_idle_ms.values,
                                  .batch_size = settings_.batch_size,
                                  .workers = settings_.workers,
                                  .prefetch = settings_.prefetch,
                                  .loader = settings_.loader,
                                  .loader_imgs_per_s = loader == round_.capacities.end()
                                                           ? 0
                                                           : loader->imgs_per_s / settings_.gpus};
  for (diagnose::Pattern& pattern : diagnose::patterns_of(steps)) {
    record::SeenPattern& seen = seen_.patterns[pattern.name];
    ++seen.rounds;
    seen.last = std::move(pattern);
  }
}

std::vector<diagnose::Pattern> Diagnosing::patterns() const {
  std::vector<diagnose::Pattern> all;
  for (const auto& [name, seen] : seen_.patterns)
    if (2 * seen.rounds > seen_.rounds) all.push_back(seen.last);
  return all;
}

// For each pair the places in another order, and each pair either way round: what changes while the
// run goes on hits each alike.
std::vector<run::Block> Diagnosing::blocks_of(const record::DiagnosisPlan& plan,
                                              const std::vector<Probe>& probes) const {
  const double rate = round_.rates.at(own_rung(cell_));
  std::vector<run::Block> blocks;
  Random coin(mix64(seed_, 0x626c6f636bULL + static_cast<std::uint64_t>(number_)));
  for (int pair = 0; pair < plan.pairs; ++pair) {
    std::vector<Probe> shuffled = probes;
    shuffle(shuffled, coin.bits());
    for (const Probe& probe : shuffled) {
      run::Block on{probe.place, diagnose::delay_of(probe.place, probe.burns, rate, servers_)},
          off{probe.place, {}};
      off.delay.burns = probe.burns;
      const bool on_first = coin.below(2) == 1;
      blocks.push_back(on_first ? on : off);
      blocks.push_back(on_first ? off : on);
    }
  }
  return blocks;
}

bool Diagnosing::measure_blocks(const record::DiagnosisPlan& plan, bool nothing_binds,
                                const std::string& title) {
  ProbesWanted wanted = wanted_;
  wanted.launching = nothing_binds;
  const std::vector<Probe> probes = probes_of(settings_, wanted);
  const double more = static_cast<double>(probes.size()) / static_cast<double>(this->probes());
  run::BlockPlan blocks = plan.blocks;
  blocks.blocks = blocks_of(plan, probes);
  ProgressLine line;
  const std::string label = title + " · delays";
  line.show(label);
  const run::CellResult result = measuring_.run_blocks(
      cell_, blocks, plan.block_run_s * more,
      [&](const run::RunProgress& p) { line.show(label + ": " + describe(p, std::nullopt)); },
      mix64(seed_, static_cast<std::uint64_t>(number_)));
  line.clear();
  if (result.status == run::Status::interrupted) return false;
  if (!result.measurement) {  // the ladder says what it can by itself
    std::fprintf(stderr, "feedrate: no delay could be measured: %s\n", result.error.c_str());
    return true;
  }
  std::map<std::size_t, const run::BlockResult*> measured;
  std::optional<measure::StageTotals> undelayed;
  for (const run::BlockResult& block : result.measurement->blocks) {
    if (block.block >= blocks.blocks.size()) continue;  // another machine's word
    measured[block.block] = &block;
    if (blocks.blocks[block.block].delay.is_on()) continue;
    if (!undelayed) undelayed.emplace();
    *undelayed += block.stages;
  }
  for (std::size_t b = 0; b + 1 < blocks.blocks.size(); b += 2) {
    if (!measured.contains(b) || !measured.contains(b + 1)) continue;
    const bool on_first = blocks.blocks[b].delay.is_on();
    const std::size_t on = on_first ? b : b + 1, off = on_first ? b + 1 : b;
    diagnose::BlockPair pair{blocks.blocks[on].place, blocks.blocks[on].delay,
                             measured[on]->imgs_per_s(), measured[off]->imgs_per_s()};
    // What was asked of the storage counts as far as it was read.
    const double asked = std::exchange(pair.delay.reads, measured[on]->extra_reads);
    if (2 * pair.delay.reads >= asked) round_.pairs.push_back(pair);
  }
  round_.undelayed = undelayed;
  return true;
}

namespace {

// A cell to try, for the remedy of this number.
struct Trial {
  plan::Cell cell;
  std::size_t remedy = 0;
  std::optional<int> workers;  // of a search for W*
  std::vector<double> rates;   // images/s
};

std::vector<std::map<std::string, std::string>> variants_of(const diagnose::Remedy& remedy) {
  std::vector<std::map<std::string, std::string>> all;
  for (const int workers : remedy.workers_to_try()) {
    all.push_back(remedy.changes);
    all.back()["workers"] = std::to_string(workers);
  }
  // What a cache would bring is a rung of the ladder: it is measured.
  if (all.empty() && !remedy.changes.empty() && !remedy.changes.contains("cache"))
    all.push_back(remedy.changes);
  return all;
}

// By cell_id.
std::map<std::string, Trial> trials_of(Measuring& measuring, const plan::Cell& cell,
                                       std::vector<diagnose::Remedy>& advice) {
  std::map<std::string, Trial> trials;
  for (std::size_t i = 0; i < advice.size(); ++i) {
    for (const auto& changes : variants_of(advice[i])) {
      try {
        const auto changed = with(cell, changes);
        if (!changed) throw Error(cell.label(), "its other options refuse that");
        measuring.check({{*changed, plan::Role::cell, 0}});
        Trial trial{.cell = *changed, .remedy = i, .workers = {}, .rates = {}};
        if (const auto workers = changes.find("workers"); workers != changes.end())
          trial.workers = std::stoi(workers->second);
        trials.emplace(changed->id(), std::move(trial));
      } catch (const std::runtime_error& error) {
        advice[i].not_tried = error.what();
      }
    }
  }
  return trials;
}

// What an interrupted trial had measured already: a sweep leaves that out.
void add_tried_before(const record::Ledger* ledger, int from, int to,
                      std::map<std::string, Trial>& trials) {
  if (!ledger) return;
  for (const nlohmann::ordered_json& record : ledger->records()) {
    const auto trial = trials.find(record.value("cell_id", ""));
    const int round = record.value("repetition", -1);
    if (trial == trials.end() || record.at("status") != "ok" || round < from || round >= to)
      continue;
    diagnose::RoundEvidence one;
    add_record(record, Rung::none, /*is_own=*/false, one);
    trial->second.rates.push_back(one.rates.at(Rung::none));
  }
}

}  // namespace

bool Diagnosing::try_out(std::vector<diagnose::Remedy>& advice, int first_round) {
  constexpr int kTries = 3;
  std::map<std::string, Trial> trials = trials_of(measuring_, cell_, advice);
  for (int t = 0; t < kTries && !trials.empty(); ++t) {
    const int round = first_round + t;
    std::vector<plan::PlannedRun> plan;
    for (const auto& [id, trial] : trials) plan.push_back({trial.cell, plan::Role::cell, round});
    shuffle(plan, mix64(seed_, static_cast<std::uint64_t>(round)));
    const auto name = [&](const plan::Cell& cell) {
      return advice[trials.at(cell.id()).remedy].name;
    };
    const auto add = [&](const record::Record& record) {
      Trial& trial = trials.at(record.context.run.cell.id());
      if (const auto& m = record.result.measurement) {
        trial.rates.push_back(run::kept_up(*m));
      } else {
        advice[trial.remedy].not_tried = record.result.error;
      }
    };
    if (!Turns(measuring_, "trying the advice").measure(plan, name, add)) return false;
  }
  add_tried_before(measuring_.ledger(), first_round, first_round + kTries, trials);
  for (const auto& [id, trial] : trials) {
    if (trial.rates.empty()) continue;
    diagnose::Remedy& remedy = advice[trial.remedy];
    const measure::Estimate rate = measure::estimate_of_rates(trial.rates);
    if (trial.workers) remedy.by_workers[*trial.workers] = rate;
    if (!trial.workers || remedy.changes.at("workers") == std::to_string(*trial.workers))
      remedy.measured = rate;
  }
  return true;
}

}  // namespace feedrate::cli
