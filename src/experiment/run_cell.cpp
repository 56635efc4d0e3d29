#include "experiment/run_cell.h"

#include <ctime>

#include "experiment/cell_memory.h"
#include "experiment/failure.h"
#include "measure/clock.h"
#include "measure/error.h"
#include "ranks/rank_processes.h"
#include "storage/container.h"
#include "storage/page_cache.h"

namespace feedrate {
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

std::string_view name_of(Status status) {
  static constexpr std::string_view kNames[] = {"ok", "failed", "interrupted", "invalid"};
  return kNames[static_cast<std::size_t>(status)];
}

CellRunner::CellRunner(RunOptions options, AcceleratorRegistry& registry, RankProcesses* processes)
    : options_(std::move(options)), registry_(registry), processes_(processes) {}

bool CellRunner::ranks_are_apart(const CellSettings& s) const {
  return processes_ != nullptr && (processes_->size() != 0 || registry_.find(s.device).ranks_are_processes);
}

CellSettings CellRunner::of_this_machine(CellSettings s) const {
  if (ranks_are_apart(s)) s.gpus = processes_->here(s.gpus);
  return s;
}

std::shared_ptr<const DatasetVariant> CellRunner::dataset_of(const CellSettings& settings) {
  const std::string variant = settings.variant();
  if (variant.empty()) return nullptr;
  auto& entry = datasets_[variant];
  if (!entry) {
    if (options_.data.empty()) {
      throw UsageError("--dataset", "is needed for --data " + settings.data,
                       "make one with `feedrate gen DIR` and give its folder");
    }
    entry = std::make_shared<const DatasetVariant>(open_dataset(options_.data, variant));
  }
  return entry;
}

std::optional<std::string> CellRunner::manifest_of(const std::string& variant) const {
  const auto found = datasets_.find(variant);
  if (found == datasets_.end() || !found->second) return std::nullopt;
  return found->second->manifest_xxh3;
}

std::shared_ptr<const SampleRecipe> CellRunner::recipe_of(const CellSettings& settings, std::shared_ptr<OutstandingReads> reads, std::stop_token stop) {
  const auto dataset = dataset_of(settings);
  if (!dataset) return nullptr;
  SampleRecipe recipe{.dataset = dataset.get(),
                      .format = settings.data == "tensor" ? nullptr : find_picture_format(settings.data),
                      .spec = settings.batch_spec(),
                      .filter = settings.filter,
                      .decode_scale = settings.decode_scale,
                      .augment = settings.augment,
                      .augment_on_device = settings.augment_on_device,
                      .planted = options_.plant ? &options_.planted : nullptr};
  recipe.reads = std::move(reads);
  if (settings.skip_bad) recipe.bad = std::make_shared<BadSamples>();
  const int threads = allowed_cpus();
  if (settings.cache == "encoded") recipe.encoded_cache = fill_encoded_cache(recipe, threads, stop);
  if (settings.cache == "sample") recipe.sample_cache = fill_sample_cache(recipe, options_.seed, threads, stop);
  return std::make_shared<const SampleRecipe>(std::move(recipe));
}

CellResult CellRunner::run(const Cell& cell, const ProgressSink& progress, std::stop_token stop) {
  CellResult result;
  result.cell = cell;
  result.started_at = utc_now();
  CellSettings settings = settings_of(cell);
  try {
    result.dataset = dataset_of(settings);
    make_room(settings, result.dataset.get());
    auto answer = processes_ ? run_processes(cell, settings, progress, stop) : run_threads(settings, progress, stop);
    if (!answer) {
      result.status = Status::interrupted;
      return result;
    }
    result.ranks = std::move(answer->ranks);
    result.bad = answer->bad;
    result.page_cache_before = answer->page_cache_before;
    result.page_cache_after = answer->page_cache_after;
    result.status = Status::ok;
    for (const RankResult& rank : result.ranks) {
      if (rank.interrupted) result.status = Status::interrupted;
    }
    if (result.status == Status::interrupted) result.ranks.clear();
  } catch (...) {
    result.error = failure_text();
  }
  // Threads that are told to stop fail in all sorts of ways; of processes it is known which came first.
  if (result.status == Status::failed && stop.stop_requested() && !processes_) result.status = Status::interrupted;
  return result;
}

}  // namespace feedrate
