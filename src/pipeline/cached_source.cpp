#include <string>

#include "base/error.h"
#include "pipeline/collate.h"
#include "pipeline/sample_sources.h"

namespace feedrate::pipeline {
namespace {

// cache=sample: everything but the collation is done.
class CachedSampleSource : public SampleSource {
 public:
  CachedSampleSource(const SampleRecipe& recipe, measure::StageCounters& counters)
      : recipe_(recipe), timer_(counters) {}

  void make(const Draw& draw, std::byte* out) override {
    timer_.start();
    const auto index = static_cast<std::size_t>(draw.sample);
    const auto sample = (*recipe_.sample_cache)[index].bytes();
    if (sample.empty()) {
      throw Error((recipe_.dataset->folder / recipe_.dataset->samples[index].path).string(),
                  "could not be decoded when the cache was filled", "run `feedrate verify`");
    }
    const bool pixels = sample.size() == recipe_.spec.sample_elements();
    collate(sample, pixels ? codec::Dtype::uint8 : recipe_.spec.dtype, recipe_.spec, out);
    timer_.lap(measure::Stage::collate, static_cast<std::int64_t>(sample.size()));
  }

 private:
  const SampleRecipe& recipe_;
  measure::StageTimer timer_;
};

}  // namespace

std::unique_ptr<SampleSource> make_cached_source(const SampleRecipe& recipe,
                                                 measure::StageCounters& counters) {
  return std::make_unique<CachedSampleSource>(recipe, counters);
}

}  // namespace feedrate::pipeline
