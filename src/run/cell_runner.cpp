#include "run/cell_runner.h"

#include <ctime>
#include <utility>

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

// Everything that a qualification hangs on.
nlohmann::json qualification_key(const device::AcceleratorKind& kind,
                                 const plan::CellSettings& settings, const RunOptions& options) {
  return {{"device", kind.identity ? kind.identity(settings.device_argument) : settings.device},
          {"build", options.build ? options.build() : ""},
          {"model", settings.model},
          {"precision", settings.precision},
          {"batch_size", settings.batch_size},
          {"input_size", codec::to_string(settings.input_size)},
          {"typed", json_of(settings.step)},
          {"open", settings.open_step}};
}

// The axes that concern a CPU, too.
std::set<std::string> open_without_typing(const plan::CellSettings& settings) {
  std::set<std::string> open = {"memory-format", "batch-norm", "optimizer"};
  if (settings.precision == "fp16" || settings.precision == "bf16") open.insert("master-weights");
  return open;
}

}  // namespace

std::string_view name_of(Status status) {
  static constexpr std::string_view kNames[] = {"ok", "failed", "interrupted"};
  return kNames[static_cast<std::size_t>(status)];
}

CellRunner::CellRunner(RunOptions options, device::AcceleratorRegistry& registry)
    : options_(std::move(options)),
      registry_(registry),
      ranks_(make_thread_ranks(registry)),
      datasets_(options_.data) {}

CellRunner::CellRunner(RunOptions options, device::AcceleratorRegistry& registry,
                       ranks::RankProcesses& processes, storage::ListProgress listing,
                       storage::ListNote note)
    : CellRunner(options, registry, processes,
                 Datasets(options.data, std::move(listing), std::move(note))) {}

CellRunner::CellRunner(RunOptions options, device::AcceleratorRegistry& registry,
                       ranks::RankProcesses& processes, Datasets datasets)
    : options_(std::move(options)),
      registry_(registry),
      ranks_(make_process_ranks(registry, processes)),
      datasets_(std::move(datasets)) {}

const plan::CellSettings& CellRunner::settings_for(const plan::Cell& cell) {
  const std::string id = cell.id();
  if (const auto known = settings_.find(id); known != settings_.end()) return known->second;
  plan::CellSettings settings = plan::settings_of(cell);
  if (settings.precision == "auto") {
    // A kind without that has no device here, which its check() says.
    const device::AcceleratorKind& kind = registry_.find(settings.device);
    if (kind.auto_precision) settings.precision = kind.auto_precision(settings.device_argument);
  }
  return settings_.emplace(id, std::move(settings)).first->second;
}

// What is left open is looked up, or found out. Where nothing is, `--qualify` shows all the same
// what the device's ways of making a step would gain.
bool CellRunner::qualify(const RunOptions& options, CellResult& result,
                         const std::stop_token& stop) {
  // The trials have one rank: nobody knows how a graph does that holds an exchange of gradients.
  plan::CellSettings settings = result.settings;
  if (settings.gpus > 1) settings.open_step.erase("cuda-graph");
  const device::AcceleratorKind& kind = registry_.find(settings.device);
  if (!kind.trials || (settings.open_step.empty() && !options.qualify)) return true;
  if (settings.open_step.empty()) settings.open_step = open_without_typing(settings);
  const nlohmann::json holds_for = qualification_key(kind, settings, options);
  std::shared_ptr<const device::Qualification>& found = qualified_[holds_for.dump()];
  const KeptQualifications kept;
  if (!found && !options.qualify) {
    std::string note;
    if (auto before = kept.find(holds_for, note))
      found = std::make_shared<const device::Qualification>(*std::move(before));
    if (!note.empty() && qualify_hooks_.note) qualify_hooks_.note(note);
  }
  if (!found) {
    const auto event = qualify_apart(
        {.asks_rates = options.qualify},
        [&](const QualifyOrder& order, const QualifySink& sink) {
          return ranks_->qualify(result.cell, settings, options, order, sink, stop);
        },
        qualify_hooks_.told);
    if (!event) return false;
    found = std::make_shared<const device::Qualification>(*event->qualified);
    if (qualify_hooks_.found) qualify_hooks_.found(settings, *found);
    try {
      if (kind.identity) kept.keep(holds_for, *found);
    } catch (const std::exception& error) {  // it is found again next time
      if (qualify_hooks_.note) qualify_hooks_.note(error.what());
    }
  }
  if (result.settings.open_step.empty()) return true;
  apply(found->chosen, settings.open_step, result.settings.step);
  result.qualified = found;
  return true;
}

// "; --batch-size 192 fits", after an error that says that the cell's own does not.
std::string CellRunner::largest_batch(const RunOptions& options, const CellResult& result,
                                      const std::stop_token& stop) {
  const device::AcceleratorKind& kind = registry_.find(result.settings.device);
  if (!kind.identity || result.error.find(device::kOutOfMemory) == std::string::npos) return "";
  try {
    const auto event = qualify_apart({.asks_fit = true},
                                     [&](const QualifyOrder& order, const QualifySink& sink) {
                                       return ranks_->qualify(result.cell, result.settings, options,
                                                              order, sink, stop);
                                     },
                                     {});
    if (event && event->fits.value_or(0) > 0)
      return "; --batch-size " + std::to_string(*event->fits) + " fits";
  } catch (const std::exception&) {  // the first error is the one to tell
  }
  return "";
}

double CellRunner::check(const plan::Cell& cell) {
  return check_cell(cell, settings_for(cell), options_, registry_, *ranks_, datasets_);
}

void CellRunner::check_device(const plan::Cell& cell) {
  run::check_device(settings_for(cell), options_, registry_, *ranks_);
}

std::shared_ptr<const storage::DatasetVariant> CellRunner::dataset_of(const plan::Cell& cell) {
  const plan::CellSettings& settings = settings_for(cell);
  ranks_->look_ahead(cell, settings, options_, datasets_);
  return datasets_.of(settings);
}

std::optional<std::string> CellRunner::manifest_of(const std::string& variant) const {
  return datasets_.manifest_of(variant);
}

CellResult CellRunner::run(const plan::Cell& cell, const ProgressSink& progress,
                           std::stop_token stop, std::optional<std::uint64_t> seed,
                           const std::filesystem::path& trace) {
  RunOptions options = options_;
  options.seed = seed.value_or(options_.seed);
  if (!trace.empty()) options.trace = trace;
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

CellResult CellRunner::run_with(const RunOptions& options, const plan::Cell& cell,
                                const ProgressSink& progress, std::stop_token stop) {
  CellResult result{.cell = cell, .settings = settings_for(cell), .started_at = utc_now()};
  RankResults kept;
  try {
    datasets_.refuse_unreadable(result.settings.variant(), way_of_reading(result.settings));
    result.dataset = datasets_.of(result.settings);
    if (!qualify(options, result, stop)) {
      result.status = Status::interrupted;
      return result;
    }
    const auto answer =
        ranks_->run(cell, result.settings, options, result.dataset, progress, stop, kept);
    result.status = answer ? Status::ok : Status::interrupted;
    if (result.status == Status::ok) result.measurement = measurement_of(result.settings, *answer);
  } catch (...) {
    result.status = Status::failed;
    result.error = failure_text();
    result.error += largest_batch(options, result, stop);
    for (const auto& [rank, measured] : kept)
      result.kept_ranks.emplace(rank, measurement_of(result.settings, measured));
  }
  return result;
}

}  // namespace feedrate::run
