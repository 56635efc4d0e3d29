#include <cstddef>
#include <cstdint>

#include "pipeline/picture_finisher.h"
#include "pipeline/sample_makers.h"

namespace feedrate::pipeline {
namespace {

// cache=decoded: the whole picture lies in memory; the augmentation and the collation remain.
class DecodedMaker : public SampleMaker {
 public:
  DecodedMaker(const SampleRecipe& recipe, measure::StageTimer& timer)
      : recipe_(recipe), finisher_(recipe, timer), timer_(timer) {}

  void give_up() override { timer_.more(measure::Stage::augment); }
  void make(const Draw& draw, const FileBytes& file, std::byte* out) override {
    const CachedSample& kept = (*recipe_.decoded_cache)[static_cast<std::size_t>(draw.sample)];
    const auto* pixels = reinterpret_cast<const std::uint8_t*>(kept.bytes().data());
    const Augmentation augmentation = finisher_.draw(kept.size, draw, file.name);
    // Borrowed, as a decoder that is asked for the window would give it.
    const codec::DecodedWindow window(codec::window_of(codec::packed_view(pixels, kept.size),
                                                       needed_window(augmentation, kept.size)));
    finisher_.finish(window, augmentation, out);
  }

 private:
  const SampleRecipe& recipe_;
  PictureFinisher finisher_;
  measure::StageTimer& timer_;
};

}  // namespace

std::unique_ptr<SampleMaker> make_decoded_maker(const SampleRecipe& recipe,
                                                measure::StageTimer& timer) {
  return std::make_unique<DecodedMaker>(recipe, timer);
}

}  // namespace feedrate::pipeline
