#include "pipeline/caches.h"

#include <algorithm>
#include <exception>

#include "base/error.h"
#include "base/in_parallel.h"
#include "base/random.h"
#include "pipeline/sample_source.h"
#include "storage/container.h"

namespace feedrate::pipeline {

std::shared_ptr<const std::vector<CachedSample>> fill_encoded_cache(const SampleRecipe& recipe,
                                                                    int threads,
                                                                    std::stop_token stop) {
  const storage::DatasetVariant& dataset = *recipe.dataset;
  const auto cache = std::make_shared<std::vector<CachedSample>>(dataset.samples.size());
  in_parallel(
      cache->size(), threads,
      [&] {
        std::shared_ptr<storage::Storage> storage = storage::make_storage(dataset);
        if (recipe.reads) storage->tell(recipe.reads->add());
        return [&, storage](std::size_t i) {
          try {
            storage->read(dataset.samples[i], (*cache)[i].buffer);
          } catch (const Error&) {
            if (!recipe.bad) throw;
            (*cache)[i] = {{}, std::current_exception()};
          }
        };
      },
      [&] { return stop.stop_requested(); });
  return cache;
}

std::shared_ptr<const std::vector<CachedSample>> fill_sample_cache(const SampleRecipe& recipe,
                                                                   std::uint64_t seed, int threads,
                                                                   std::stop_token stop) {
  SampleRecipe once = recipe;
  once.planted = nullptr;
  // Pictures are kept as uint8 pixels, whatever crosses the bus: a user who caches samples would do
  // so, too.
  if (once.format) once.spec.dtype = codec::Dtype::uint8;
  const auto cache = std::make_shared<std::vector<CachedSample>>(recipe.dataset->samples.size());
  in_parallel(
      cache->size(), threads,
      [&] {
        auto counters = std::make_shared<measure::StageCounters>();
        const auto source = std::make_shared<SampleSource>(once, *counters);
        return [&, counters, source](std::size_t i) {
          const auto sample = static_cast<std::int64_t>(i);
          try {
            source->make({sample, 0, mix64(mix64(seed, 0), i), sample},
                         (*cache)[i].buffer.resize(once.spec.sample_bytes()));
          } catch (const Error&) {
            if (!once.bad) throw;
            (*cache)[i] = {{}, std::current_exception()};
          }
        };
      },
      [&] { return stop.stop_requested(); });
  return cache;
}

}  // namespace feedrate::pipeline
