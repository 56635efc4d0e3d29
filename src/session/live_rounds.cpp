#include "session/live_rounds.h"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "judge/reads_in_flight.h"
#include "ledger/record_json.h"
#include "ledger/recorded_measurement.h"
#include "measure/clock.h"
#include "session/ledger_evidence.h"
#include "session/live_runs.h"
#include "session/run_evidence.h"
#include "session/told_flags.h"

namespace feedrate::session {
namespace {

using judge::LadderRung;

std::size_t steps_of_block(const run::BlockPlan& blocks) {
  return static_cast<std::size_t>(blocks.least_steps) + run::kSettlingSteps;
}

// So that two blocks fit into such a run; false: they cannot.
bool shorten(run::BlockPlan& blocks, const run::Measurement& m) {
  constexpr double kShare = 0.8;  // delayed blocks take longer
  if (static_cast<std::size_t>(m.steps) < 2 * steps_of_block(blocks)) return false;
  blocks.seconds = std::min(blocks.seconds, kShare * m.window_s / 2 / (1 + run::kSettlingShare));
  return true;
}

constexpr const char* kDelays = " · delays";
constexpr const char* kStaysAsItIs =
    "the files do not fit into memory: what of them lies in the page cache stays as it is";

}  // namespace

LiveRounds::LiveRounds(Session& session, const plan::Cell& cell, LadderCells ladder,
                       std::uint64_t seed, std::function<void()> ran)
    : session_(session),
      cell_(cell),
      ladder_(std::move(ladder)),
      settings_(plan::settings_of(cell)),
      wanted_{.served = session.registry().find(settings_.device).delays},
      seed_(seed),
      ran_(std::move(ran)) {
  servers_ = servers_of(settings_);
}

// A rung that cannot be measured here is left out by name; the ceiling and the cell are needed.
void LiveRounds::check_rungs() {
  for (const auto& [rung, cell] : ladder_) {
    try {
      session_.check({{cell, plan::Role::cell, 0}});
    } catch (const std::runtime_error& error) {
      if (is_needed(rung)) throw;
      seen_.left_out.emplace(rung, session_.cleaned(error.what()));
    }
  }
  are_checked_ = true;
}

bool LiveRounds::measure_ladder(int round, const std::string& title) {
  number_ = round;
  round_ = {};
  needed_failed_.clear();
  if (!are_checked_) check_rungs();
  const auto left_out = seen_.left_out;
  std::vector<plan::PlannedRun> runs;
  std::map<std::string, LadderRung> rungs;  // by cell_id
  for (const auto& [rung, cell] : ladder_) {
    if (seen_.left_out.contains(rung)) continue;
    rungs[cell.id()] = rung;
    if (rung != LadderRung::synthetic) runs.push_back({cell, plan::Role::cell, round});
  }
  shuffle(runs, mix64(seed_, static_cast<std::uint64_t>(round)));
  runs.insert(runs.begin(),
              {ladder_.at(LadderRung::synthetic), plan::Role::opening_ceiling, round});
  add_from_ledger(rungs);
  if (!measure_rungs(std::move(runs), rungs, title)) return false;
  for (const LadderRung needed : {LadderRung::synthetic, own_rung(cell_)}) {
    if (round_.rates.contains(needed)) continue;
    seen_.left_out = left_out;  // the same reason may have made others fail
    ran_();
    throw Error(needed == LadderRung::synthetic ? "the ceiling" : cell_.label(),
                needed_failed_[needed], "see that it runs: `feedrate run`");
  }
  count_patterns();
  return true;
}

bool LiveRounds::keeps_rates(int batch) {
  constexpr double kMostApart = 0.1;
  Watcher& watcher = session_.watcher();
  const std::string label = format("batches of %d", batch);
  const auto is_kept = [&](LadderRung rung) {
    const plan::Cell cell = changed(ladder_.at(rung), {{"batch-size", std::to_string(batch)}});
    session_.check({{cell, plan::Role::cell, number_}});
    watcher.shows(label);
    const run::CellResult result = session_.runner().run(
        cell, [&](const run::RunProgress& p) { watcher.shows(label, p); }, session_.token());
    watcher.shows_nothing();
    if (!result.measurement) return false;
    const double share = run::sustained_rate(*result.measurement) / round_.rates.at(rung);
    return std::abs(share - 1) <= kMostApart;
  };
  try {
    return is_kept(LadderRung::synthetic) && is_kept(own_rung(cell_));
  } catch (const std::runtime_error&) {  // no such batches fit this cell or this machine
    return false;
  }
}

bool LiveRounds::is_needed(LadderRung rung) const {
  return rung == LadderRung::synthetic || rung == own_rung(cell_);
}

// The cold rung comes last: it takes from the others what they find in the page cache. Where that
// must stay as it is, it does not come at all. False: interrupted.
bool LiveRounds::measure_rungs(std::vector<plan::PlannedRun> runs,
                               const std::map<std::string, LadderRung>& rungs,
                               const std::string& title) {
  const auto rung_of = [&](const plan::Cell& cell) { return rungs.at(cell.id()); };
  const auto last = std::ranges::stable_partition(
      runs, [](const plan::PlannedRun& run) { return !run.cell.is("page-cache", "cold"); });
  std::vector<plan::PlannedRun> cold(last.begin(), last.end());
  runs.erase(last.begin(), last.end());
  const LiveRuns live{
      .title = title,
      .name = [&](const plan::Cell& cell) { return std::string(name_of(rung_of(cell))); },
      .add = [&](const ledger::Record& record) { add(rung_of(record.context.run.cell), record); },
      .replaced = [&] { seen_ = before_last_; },
      .more =
          [&] {
            if (!cold.empty() && round_.page_cache == "as-is") {
              seen_.left_out.emplace(LadderRung::cold, kStaysAsItIs);
              cold.clear();
            }
            return std::exchange(cold, {});
          }};
  return live.measure(session_, runs);
}

// What an interrupted round had measured already.
void LiveRounds::add_from_ledger(const std::map<std::string, LadderRung>& rungs) {
  if (!session_.ledger()) return;
  // A run that was measured again stands behind the one that was spoilt.
  for (const nlohmann::ordered_json& record : std::views::reverse(session_.ledger()->records())) {
    const auto rung = rungs.find(record.value("cell_id", ""));
    if (rung != rungs.end() && record.at("repetition") == number_ && record.at("status") == "ok" &&
        !round_.rates.contains(rung->second))
      add_measured(rung->second, ledger::measurement_from(record),
                   ledger::capacities_from(record.at("capacities")));
  }
}

void LiveRounds::add_measured(LadderRung rung, const run::Measurement& m,
                              std::vector<judge::Capacity> capacities) {
  add_run(m, rung, round_);
  if (rung != own_rung(cell_)) return;
  add_own_run(settings_, m, std::move(capacities), round_);
  device_ = m.device.name;
  step_s_ = 1e-3 * m.step_ms.summary.mean;
  device_idle_ = m.device_idle_fraction;
  servers_.cpus = usable_cpus(m);
  look_at_storage();
  look_at_reads();
}

void LiveRounds::add(LadderRung rung, const ledger::Record& record) {
  const run::CellResult& result = record.result;
  if (result.status == run::Status::interrupted) return;
  before_last_ = seen_;
  add_told_flags(record.flags, name_of(rung), seen_);
  if (result.status == run::Status::failed) {
    const std::string why = session_.cleaned(result.error);
    if (is_needed(rung)) {
      needed_failed_[rung] = why;
    } else {
      seen_.left_out.emplace(rung, why);
    }
  }
  if (result.measurement) {
    add_measured(rung, *result.measurement, record.verdict->capacities);
    if (rung == own_rung(cell_)) patterns_ = patterns_in(*result.measurement);
  }
  ran_();
}

// No ledger has a record of them.
void LiveRounds::judge_blocks(const run::CellResult& result) {
  judge::FlagFacts facts{.result = result,
                         .options = session_.options().run,
                         .opening_imgs_per_s = std::nullopt,
                         .ceiling = std::nullopt,
                         .first_page_cache = std::nullopt,
                         .differences = session_.differences()};
  add_told_flags(judge::flags_of(facts), "blocks", seen_);
}

// Where each of the cell's reads is the storage's, one at random like the extra ones, and samples
// can be read past the page cache.
void LiveRounds::look_at_storage() {
  const bool is_read = round_.reads_reach_storage();
  if (!is_read || settings_.order != pipeline::Order::shuffled) return;
  const auto past_it = with(cell_, {{"io", "direct"}, {"io-depth", ""}, {"page-cache", ""}});
  if (!past_it) return;
  try {
    session_.check({{*past_it, plan::Role::cell, 0}});
    wanted_.storage = true;
  } catch (const std::runtime_error&) {  // the storage is then named by elimination
  }
}

// Once they may limit, each round measures what they cost.
void LiveRounds::look_at_reads() {
  const measure::StageTotals& stages = round_.undelayed.value();
  const double waits =
      judge::share_of_read_waits(judge::service_times(stages), judge::cpu_times(stages));
  judge::Evidence own{.settings = settings_, .servers = servers_, .rounds = {round_}};
  wanted_.in_flight = wanted_.in_flight || judge::may_reads_in_flight_limit(
                                               settings_, judge::reads_in_flight_of(own), waits);
}

std::vector<judge::Pattern> LiveRounds::patterns_in(const run::Measurement& m) const {
  const auto loader = std::ranges::find(round_.capacities, "loader", &judge::Capacity::resource);
  const judge::StepsSeen steps{.step_ms = m.step_ms.values,
                               .data_wait_ms = m.data_wait_ms.values,
                               .device_idle_ms = m.device_idle_ms.values,
                               .batch_size = settings_.batch_size,
                               .workers = settings_.workers,
                               .prefetch = settings_.prefetch,
                               .loader = settings_.loader,
                               .loader_imgs_per_s = loader == round_.capacities.end()
                                                        ? 0
                                                        : loader->imgs_per_s / settings_.gpus};
  return judge::patterns_of(steps);
}

// Of the round's last run of the cell: another one of it was spoilt.
void LiveRounds::count_patterns() {
  auto patterns = std::exchange(patterns_, std::nullopt);
  if (!patterns) return;  // it ran before an interruption
  ++seen_.rounds;
  for (judge::Pattern& pattern : *patterns) {
    ledger::SeenPattern& seen = seen_.patterns[pattern.name];
    ++seen.rounds;
    seen.last = std::move(pattern);
  }
}

// For each pair the places in another order, and each pair either way round: what changes while the
// run goes on hits each alike.
std::vector<run::Block> LiveRounds::blocks_of(const ledger::DiagnosisPlan& plan,
                                              const std::vector<Probe>& probes) const {
  const double rate = round_.rates.at(own_rung(cell_));
  judge::Servers servers = servers_;
  if (plan.batch_size > 0)
    servers.images_per_step = static_cast<double>(plan.batch_size) * settings_.gpus;
  std::vector<run::Block> blocks;
  Random coin(mix64(seed_, 0x626c6f636bULL + static_cast<std::uint64_t>(number_)));
  for (int pair = 0; pair < plan.pairs; ++pair) {
    std::vector<Probe> shuffled = probes;
    shuffle(shuffled, coin.bits());
    for (const Probe& probe : shuffled) {
      const bool withholds = probe.place == measure::Place::in_flight;
      const run::Block on{probe.place,
                          withholds ? judge::withheld_of(settings_.io_depth)
                                    : judge::delay_of(probe.place, probe.burns, rate, servers)};
      run::Block off{probe.place, {}};
      off.delay.burns = probe.burns;
      const bool on_first = coin.below(2) == 1;
      blocks.push_back(on_first ? on : off);
      blocks.push_back(on_first ? off : on);
    }
  }
  return blocks;
}

bool LiveRounds::measure_blocks(const ledger::DiagnosisPlan& plan, bool nothing_binds,
                                const std::string& title) {
  ProbesWanted wanted = wanted_;
  wanted.launching = nothing_binds;
  const std::vector<Probe> probes = probes_of(settings_, wanted);
  const double more = static_cast<double>(probes.size()) / static_cast<double>(this->probes());
  run::BlockPlan blocks = plan.blocks;
  blocks.blocks = blocks_of(plan, probes);
  double left_s = plan.block_run_s * more;
  const auto cell = cell_of_blocks(plan);
  if (!cell) return true;  // the ladder then says what it can by itself
  std::optional<measure::StageTotals> undelayed;
  bool some_ended = false;
  Watcher& watcher = session_.watcher();
  watcher.shows(title + kDelays);
  for (std::uint64_t run = 0; !blocks.blocks.empty() && left_s > 2 * blocks.seconds; ++run) {
    const std::int64_t began_ns = measure::now_ns();
    const run::CellResult result =
        measure_once(*cell, blocks, left_s, run,
                     [&](const run::RunProgress& p) { watcher.shows(title + kDelays, p); });
    watcher.shows_nothing();
    left_s -= measure::seconds(measure::now_ns() - began_ns);
    if (result.status == run::Status::interrupted) return false;
    judge_blocks(result);
    if (!result.measurement) {
      blocks_failed(result.error);
      break;  // the ladder then says what it can by itself
    }
    const std::size_t ended = add_blocks(blocks.blocks, result.measurement->blocks, undelayed);
    if (ended == 0 && (some_ended || !may_be_shorter(blocks, *result.measurement, run))) break;
    some_ended = some_ended || ended > 0;
    // One pass over a cold dataset may end sooner than the blocks do: another one goes on.
    blocks.blocks.erase(blocks.blocks.begin(),
                        blocks.blocks.begin() + static_cast<std::ptrdiff_t>(ended));
  }
  if (undelayed) round_.undelayed = undelayed;
  return true;
}

// After a run in which no two blocks ended.
bool LiveRounds::may_be_shorter(run::BlockPlan& blocks, const run::Measurement& m,
                                std::uint64_t run) {
  if (run == 0 && shorten(blocks, m)) return true;
  blocks_failed(
      format("its run of %lld steps is too short for two blocks of %zu: use more "
             "pictures, a smaller --batch-size or a larger --budget",
             static_cast<long long>(m.steps), steps_of_block(blocks)));
  return false;
}

// The cell, with the batches that were planned. Nothing where it cannot be measured with these.
std::optional<plan::Cell> LiveRounds::cell_of_blocks(const ledger::DiagnosisPlan& plan) {
  if (plan.batch_size == 0) return cell_;
  const plan::Cell cell = changed(cell_, {{"batch-size", std::to_string(plan.batch_size)}});
  try {
    session_.check({{cell, plan::Role::cell, number_}});
    return cell;
  } catch (const std::runtime_error& error) {
    blocks_failed(error.what());
    return std::nullopt;
  }
}

run::CellResult LiveRounds::measure_once(const plan::Cell& cell, const run::BlockPlan& blocks,
                                         double most_s, std::uint64_t run,
                                         const run::ProgressSink& progress) {
  return session_.runner().run_blocks(
      cell, blocks, most_s, progress, session_.token(),
      mix64(seed_, static_cast<std::uint64_t>(number_) + (run << 32)));
}

void LiveRounds::blocks_failed(const std::string& why) {
  session_.watcher().warns((round_.pairs.empty() ? "no" : "not every") +
                           (" delay could be measured: " + why));
  seen_.blocks_failed = session_.cleaned(why);
}

// Returns how many of the first blocks ended, in whole pairs.
std::size_t LiveRounds::add_blocks(const std::vector<run::Block>& planned,
                                   const std::vector<run::BlockResult>& results,
                                   std::optional<measure::StageTotals>& undelayed) {
  std::map<std::size_t, const run::BlockResult*> measured;
  for (const run::BlockResult& block : results) {
    if (block.block >= planned.size()) continue;  // another machine's word
    measured[block.block] = &block;
    if (planned[block.block].delay.is_on()) continue;
    if (!undelayed) undelayed.emplace();
    *undelayed += block.stages;
  }
  std::size_t ended = 0;
  for (std::size_t b = 0; b + 1 < planned.size(); b += 2) {
    if (!measured.contains(b) || !measured.contains(b + 1)) continue;
    ended = b + 2;
    const bool on_first = planned[b].delay.is_on();
    const std::size_t on = on_first ? b : b + 1, off = on_first ? b + 1 : b;
    judge::BlockPair pair{planned[on].place, planned[on].delay, measured[on]->imgs_per_s(),
                          measured[off]->imgs_per_s()};
    // What was asked of the storage counts as far as it was read.
    const double asked = std::exchange(pair.delay.reads, measured[on]->extra_reads);
    if (2 * pair.delay.reads >= asked) round_.pairs.push_back(pair);
  }
  return ended;
}

}  // namespace feedrate::session
