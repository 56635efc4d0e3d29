#include "experiment/run_cell.h"

#include <algorithm>
#include <ctime>
#include <mutex>
#include <system_error>
#include <thread>

#include "codec/codec.h"
#include "measure/clock.h"
#include "measure/error.h"
#include "measure/memory.h"
#include "pipeline/encoded_slot.h"
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

// What the cell will hold in host memory: slabs, decoders, the manifest, and the caches that it asks for. Without
// caches only the manifest grows with the dataset.
double bytes_held(const CellSettings& s, const DatasetVariant& dataset) {
  // A decoder has about the picture as coefficients or rows, and as pixels; the file lies beside it.
  const double decoder = s.data == "tensor" ? 0 : 8.0 * s.image_size.width * s.image_size.height;
  const auto samples = static_cast<double>(dataset.samples.size());
  constexpr double kManifestLine = 100;
  const auto batch = static_cast<double>(s.batch_spec().bytes());
  const double ahead = s.loader == "batch" ? 1.0 * s.workers * s.prefetch : s.prefetch + 5.0;
  double bytes = batch * (ahead + 5) * s.gpus + kManifestLine * samples;
  bytes += (decoder + static_cast<double>(dataset.total_bytes) / std::max(samples, 1.0)) * std::max(s.workers, 1) * s.gpus;
  // DALI keeps each batch under way encoded, decoded and resized.
  if (s.loader == "dali") bytes += 3.0 * s.image_size.width * s.image_size.height * s.batch_size * s.prefetch * s.gpus;
  if (s.cache == "encoded") bytes += static_cast<double>(dataset.total_bytes);
  if (s.cache == "sample") {
    const std::size_t element = s.data == "tensor" ? size_of(s.transfer) : 1;  // pictures are kept as uint8
    bytes += static_cast<double>(dataset.samples.size() * s.batch_spec().sample_elements() * element);
  }
  return bytes;
}

// Batches of encoded pictures have room for the dataset's largest.
void make_room(CellSettings& s, const DatasetVariant* dataset) {
  if (!s.decode_on_device || dataset == nullptr) return;
  std::size_t largest = 0;
  for (const SampleFile& file : dataset->samples) largest = std::max<std::size_t>(largest, file.bytes);
  s.encoded_slot = encoded_slot_for(largest);
}

void check_memory(const CellSettings& s, const DatasetVariant& dataset) {
  const double needed = bytes_held(s, dataset);
  const auto available = static_cast<double>(memory_available());
  if (available == 0 || needed < 0.9 * available) return;
  throw Error("memory", "the cell needs " + std::to_string(static_cast<long>(needed / 1e6)) + " MB, " +
                            std::to_string(static_cast<long>(available / 1e6)) + " MB are available",
              "use a smaller --batch-size, fewer --workers or --gpus, or --cache none");
}

}  // namespace

std::string_view name_of(Status status) {
  static constexpr std::string_view kNames[] = {"ok", "failed", "interrupted", "invalid"};
  return kNames[static_cast<std::size_t>(status)];
}

CellRunner::CellRunner(RunOptions options, AcceleratorRegistry& registry)
    : options_(std::move(options)), registry_(registry) {}

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

void CellRunner::check(const Cell& cell) {
  CellSettings s = settings_of(cell);
  if (s.decode_on_device) s.encoded_slot = encoded_slot_for(0);  // the device is asked whether it can decode
  const AcceleratorKind& kind = registry_.find(s.device);
  kind.check(split_device(s.device).second, s.step_spec(options_.seed));
  if (const int there = kind.count(); s.gpus > there) {
    throw UsageError("--gpus " + std::to_string(s.gpus),
                     "is more than `" + kind.name + "` can use here (" + std::to_string(there) + ")",
                     "use fewer (cpu and cuda train one replica so far), or --device emulated:NAME");
  }
  const auto dataset = dataset_of(s);
  if (!dataset) return;
  make_room(s, dataset.get());
  if (const LoaderKind& loader = find_loader_kind(s.loader); loader.check != nullptr) loader.check();
  if (!dataset->container->packed.empty()) make_storage(*dataset);  // whether it can be opened
  if (const int classes = s.step_spec(0).classes; dataset->classes > classes) {
    throw Error(dataset->folder.string(), "has " + std::to_string(dataset->classes) + " classes, the network " + std::to_string(classes),
                "make it with at most that many class folders");
  }
  const auto samples = static_cast<std::int64_t>(dataset->samples.size());
  if (samples < s.gpus) {
    throw Error(dataset->folder.string(), "has fewer samples than there are GPUs", "make more: `feedrate gen --count`");
  }
  check_memory(s, *dataset);
  if (s.page_cache == "cold" && samples / s.gpus < 4LL * s.batch_size) {
    throw Error(dataset->folder.string(), "is too small for a cold run of batches of " + std::to_string(s.batch_size),
                "a cold run is one pass at most: make more pictures, or use a smaller --batch-size");
  }
}

double CellRunner::memory_needed(const Cell& cell) {
  CellSettings settings = settings_of(cell);
  const auto dataset = dataset_of(settings);
  make_room(settings, dataset.get());
  return dataset ? bytes_held(settings, *dataset) : 0;
}

std::shared_ptr<const SampleRecipe> CellRunner::recipe_of(const CellSettings& settings, std::stop_token stop) {
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
  if (settings.skip_bad) recipe.bad = std::make_shared<BadSamples>();
  const int threads = allowed_cpus();
  if (settings.cache == "encoded") recipe.encoded_cache = fill_encoded_cache(*dataset, threads, stop, settings.skip_bad);
  if (settings.cache == "sample") recipe.sample_cache = fill_sample_cache(recipe, options_.seed, threads, stop);
  return std::make_shared<const SampleRecipe>(std::move(recipe));
}

void CellRunner::prepare_page_cache(const CellSettings& settings, CellResult& result, std::stop_token stop) {
  if (!result.dataset || settings.cache != "none") return;
  if (settings.page_cache == "warm") warm_page_cache(*result.dataset, stop);
  if (settings.page_cache == "cold") drop_from_page_cache(*result.dataset, stop);
  if (stop.stop_requested()) return;
  result.page_cache_before = page_cache_share(*result.dataset);
  if (settings.page_cache == "cold" && result.page_cache_before > 0.05) {
    throw Error(result.dataset->folder.string(), "stays in the page cache although it was asked to go",
                "put the dataset on a disk's file system (tmpfs cannot be dropped), or use --page-cache warm");
  }
}

CellResult CellRunner::run(const Cell& cell, const ProgressSink& progress, std::stop_token stop) {
  CellResult result;
  result.cell = cell;
  result.started_at = utc_now();
  CellSettings settings = settings_of(cell);
  try {
    result.dataset = dataset_of(settings);
    make_room(settings, result.dataset.get());
    prepare_page_cache(settings, result, stop);
    const RankTask task{.settings = settings, .limits = options_.limits, .kind = &registry_.find(settings.device),
                        .seed = options_.seed, .device_argument = std::string(split_device(settings.device).second),
                        .recipe = recipe_of(settings, stop), .progress = progress};
    if (stop.stop_requested()) {  // while the caches were filled
      result.status = Status::interrupted;
      return result;
    }
    result.ranks = run_ranks(task, stop);
    if (task.recipe) result.bad = task.recipe->bad;
    result.status = Status::ok;
    for (const RankResult& rank : result.ranks) {
      if (rank.interrupted) result.status = Status::interrupted;
    }
    if (result.dataset && settings.cache == "none") result.page_cache_after = page_cache_share(*result.dataset);
  } catch (const std::bad_alloc&) {
    result.error = "memory: exhausted; use a smaller --batch-size, fewer --workers, or --cache none";
  } catch (const std::system_error& error) {
    result.error = std::string("threads: ") + error.what() + "; use fewer --workers or --gpus";
  } catch (const std::exception& error) {
    result.error = error.what();
  }
  if (result.status == Status::failed && stop.stop_requested()) result.status = Status::interrupted;
  return result;
}

std::vector<RankResult> CellRunner::run_ranks(const RankTask& task, std::stop_token stop) {
  const auto groups = make_thread_groups(task.settings.gpus);
  std::vector<RankResult> results(groups.size());
  std::mutex mutex;
  std::exception_ptr first_error;  // the others fail only because the first one did
  const auto fail = [&](Group& group) {
    {
      const std::lock_guard lock(mutex);
      if (!first_error) first_error = std::current_exception();
    }
    group.abort();
  };
  {
    std::vector<std::jthread> threads;
    try {
      for (std::size_t r = 0; r < groups.size(); ++r) {
        threads.emplace_back([&, r] {
          try {
            results[r] = run_rank(task, *groups[r], stop);
          } catch (...) {
            fail(*groups[r]);
          }
        });
      }
    } catch (...) {  // a thread could not be made: the others would wait for it for ever
      fail(*groups.front());
    }
  }
  if (first_error) std::rethrow_exception(first_error);
  return results;
}

}  // namespace feedrate
