#include "run/cell_runner.h"

#include <ctime>
#include <utility>

#include "base/random.h"
#include "base/xxh3.h"
#include "measure/clock.h"
#include "run/cell_checks.h"
#include "run/failure.h"

namespace feedrate::run {
namespace {

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace

CellRunner::CellRunner(RunOptions options, device::AcceleratorRegistry& registry)
    : options_(std::move(options)),
      registry_(registry),
      ranks_(make_thread_ranks(registry)),
      datasets_(options_.data, options_.samples, {}, {}, options_.listing_run),
      qualifier_(std::make_shared<Qualifier>()) {
  if (options_.relist) datasets_.relist();  // nobody else has
}

CellRunner::CellRunner(RunOptions options, device::AcceleratorRegistry& registry,
                       ranks::RankProcesses& processes, storage::ListProgress listing,
                       storage::ListNote note, std::shared_ptr<Qualifier> qualifier)
    : CellRunner(options, registry, processes,
                 Datasets(options.data, options.samples, std::move(listing), std::move(note),
                          options.listing_run),
                 std::move(qualifier)) {}

CellRunner::CellRunner(RunOptions options, device::AcceleratorRegistry& registry,
                       ranks::RankProcesses& processes, Datasets datasets,
                       std::shared_ptr<Qualifier> qualifier)
    : options_(std::move(options)),
      registry_(registry),
      ranks_(make_process_ranks(registry, processes)),
      datasets_(std::move(datasets)),
      qualifier_(std::move(qualifier)) {}

const plan::CellSettings& CellRunner::settings_for(const plan::Cell& cell) {
  const std::string id = cell.id();
  if (const auto known = settings_.find(id); known != settings_.end()) return known->second;
  plan::CellSettings settings = plan::settings_of(cell);
  if (settings.precision == "auto") {
    // A kind without that has no device here, which its check() says.
    const device::AcceleratorKind& kind = registry_.find(settings.device);
    if (kind.auto_precision) settings.precision = kind.auto_precision(settings.device_argument);
    if (settings.precision == "bf16") settings.open_step.insert("precision");  // fp16 is as mixed
  }
  return settings_.emplace(id, std::move(settings)).first->second;
}

double CellRunner::check(const plan::Cell& cell) {
  const plan::CellSettings& settings = settings_for(cell);
  const double bytes = check_cell(cell, settings, options_, registry_, *ranks_, datasets_);
  // Not by run(): several threads may run cells. What a later cell opens may add to the outputs.
  trains_ = trains_ || !settings.emulated();
  if (trains_) datasets_.tell_outputs();
  return bytes;
}

void CellRunner::check_device(const plan::Cell& cell) {
  run::check_device(settings_for(cell), options_, registry_, *ranks_);
}

std::shared_ptr<const storage::DatasetVariant> CellRunner::dataset_of(const plan::Cell& cell) {
  const plan::CellSettings& settings = settings_for(cell);
  ranks_->probe_cell_data(cell, settings, options_, datasets_);
  return datasets_.of(settings);
}

std::optional<std::string> CellRunner::manifest_of(const std::string& variant) const {
  return datasets_.manifest_of(variant);
}

CellResult CellRunner::run(const plan::Cell& cell, const ProgressSink& progress,
                           std::stop_token stop, const How& how) {
  RunOptions options = options_;
  options.seed = how.seed.value_or(options_.seed);
  options.limits.max_seconds = how.max_seconds.value_or(options_.limits.max_seconds);
  options.in_pairs = how.in_pairs;
  options.team = how.team;
  // A machine that changes alike in all runs, as at their start, is so not met by the same order.
  options.pairs_seed = mix64(options.seed, xxh3_of(cell.id() + how.team));
  if (!how.trace.empty()) options.trace = how.trace;
  return run_with(options, cell, progress, std::move(stop));
}

CellResult CellRunner::run_blocks(const plan::Cell& cell, const BlockPlan& blocks,
                                  double most_seconds, const ProgressSink& progress,
                                  std::stop_token stop, std::uint64_t seed) {
  RunOptions options = options_;
  options.seed = seed;
  options.blocks = blocks;
  options.limits.max_seconds = most_seconds;
  options.limits.min_seconds = most_seconds;  // by which the progress says how much is left
  return run_with(options, cell, progress, std::move(stop));
}

CellResult CellRunner::run_with(RunOptions options, const plan::Cell& cell,
                                const ProgressSink& progress, std::stop_token stop) {
  CellResult result{.cell = cell, .settings = settings_for(cell), .started_at = utc_now()};
  RankResults kept;
  const Qualifier::Place here{options, registry_, *ranks_, stop};
  try {
    datasets_.refuse_unreadable(result.settings.variant(), way_of_reading(result.settings));
    result.dataset = datasets_.of(result.settings);
    result.listed = datasets_.how_listed(result.settings.variant());
    options.outputs = datasets_.outputs();
    if (!result.settings.emulated()) result.outputs = options.outputs;
    if (!qualifier_->qualify(result, here)) {
      result.status = Status::interrupted;
      return result;
    }
    const std::int64_t asked_ns = measure::now_ns();
    const auto answer =
        ranks_->run(cell, result.settings, options, result.dataset, progress, stop, kept);
    result.status = answer ? Status::ok : Status::interrupted;
    if (result.status == Status::ok) result.measurement = measurement_of(result.settings, *answer);
    if (result.measurement && result.measurement->first_batch_ns != 0)
      result.first_batch_s = measure::seconds(result.measurement->first_batch_ns - asked_ns);
  } catch (...) {
    result.status = Status::failed;
    result.error = failure_text();
    result.error += qualifier_->largest_batch(result, here);
    for (const auto& [rank, measured] : kept)
      if (!measured.in_pairs || !measured.blocks.empty())
        result.kept_ranks.emplace(rank, measurement_of(result.settings, measured));
  }
  return result;
}

}  // namespace feedrate::run
