#include "pipeline/collate.h"
#include "pipeline/sample_makers.h"

namespace feedrate::pipeline {
namespace {

// cache=sample: everything but the collation is done.
class CachedMaker : public SampleMaker {
 public:
  CachedMaker(const SampleRecipe& recipe, measure::StageTimer& timer)
      : recipe_(recipe), timer_(timer) {}

  void make(const Draw& draw, const FileBytes&, std::byte* out) override {
    const auto sample = (*recipe_.sample_cache)[static_cast<std::size_t>(draw.sample)].bytes();
    const bool pixels = sample.size() == recipe_.spec.sample_elements();
    timer_.begin(measure::Stage::collate);
    collate(sample, pixels ? codec::Dtype::uint8 : recipe_.spec.dtype, recipe_.spec, out);
    timer_.lap(measure::Stage::collate, static_cast<std::int64_t>(sample.size()));
  }

 private:
  const SampleRecipe& recipe_;
  measure::StageTimer& timer_;
};

}  // namespace

std::unique_ptr<SampleMaker> make_cached_maker(const SampleRecipe& recipe,
                                               measure::StageTimer& timer) {
  return std::make_unique<CachedMaker>(recipe, timer);
}

}  // namespace feedrate::pipeline
