#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "pipeline/random.h"
#include "pipeline/sample_source.h"

namespace feedrate {
namespace {

// Calls work(sample) for every sample of the dataset, by `threads` threads, each with a work of its own;
// the first exception ends all of them and is thrown on.
template <typename MakeWork>
void for_each_sample(std::size_t samples, int threads, const std::stop_token& stop, const MakeWork& make_work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;
  const auto run = [&] {
    try {
      auto work = make_work();
      for (std::size_t i; !stop.stop_requested() && (i = next.fetch_add(1)) < samples;) work(i);
    } catch (...) {
      next = samples;
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> pool;
    for (int t = 0; t < threads; ++t) pool.emplace_back(run);
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace

std::shared_ptr<const std::vector<Buffer>> fill_encoded_cache(const DatasetVariant& dataset, int threads,
                                                              std::stop_token stop) {
  const auto cache = std::make_shared<std::vector<Buffer>>(dataset.samples.size());
  for_each_sample(cache->size(), threads, stop, [&] {
    return [&, storage = std::shared_ptr<Storage>(make_buffered_files(dataset.folder))](std::size_t i) {
      // Read by way of a buffer of the exact size: the storage may need room beyond the file's end.
      Buffer file;
      storage->read(dataset.samples[i].path, dataset.samples[i].bytes, file);
      std::copy(file.bytes().begin(), file.bytes().end(), (*cache)[i].resize(file.bytes().size()));
    };
  });
  return cache;
}

std::shared_ptr<const std::vector<Buffer>> fill_sample_cache(const SampleRecipe& recipe, std::uint64_t seed,
                                                             int threads, std::stop_token stop) {
  SampleRecipe once = recipe;
  once.planted = nullptr;
  // Pictures are kept as pixels whatever crosses the bus, as a user who caches samples would.
  if (once.format) once.spec.dtype = Dtype::uint8;
  const auto cache = std::make_shared<std::vector<Buffer>>(recipe.dataset->samples.size());
  for_each_sample(cache->size(), threads, stop, [&] {
    auto counters = std::make_shared<StageCounters>();
    std::shared_ptr<SampleSource> source = make_sample_source(once, *counters);
    return [&, counters, source](std::size_t i) {
      const auto sample = static_cast<std::int64_t>(i);
      source->make({sample, 0, mix64(mix64(seed, 0), i), sample}, (*cache)[i].resize(once.spec.sample_bytes()));
    };
  });
  return cache;
}

}  // namespace feedrate
