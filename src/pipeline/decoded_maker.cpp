#include <cstddef>
#include <cstdint>
#include <span>

#include "pipeline/picture_finisher.h"
#include "pipeline/sample_makers.h"

namespace feedrate::pipeline {
namespace {

// Borrows the pixels of the window, as a decoder that is asked for it would give them.
codec::PixelView pixels_of(std::span<const std::byte> picture, codec::PixelSize size,
                           const codec::Rect& window) {
  const auto stride = static_cast<std::ptrdiff_t>(size.width) * 3;
  const auto* first = reinterpret_cast<const std::uint8_t*>(picture.data());
  return {first + window.y * stride + window.x * 3, stride, window.width, window.height};
}

// cache=decoded: the whole picture lies in memory; the augmentation and the collation remain.
class DecodedMaker : public SampleMaker {
 public:
  DecodedMaker(const SampleRecipe& recipe, measure::StageTimer& timer)
      : recipe_(recipe), finisher_(recipe, timer), timer_(timer) {}

  void give_up() override { timer_.more(measure::Stage::augment); }
  void make(const Draw& draw, const FileBytes& file, std::byte* out) override {
    const CachedSample& kept = (*recipe_.decoded_cache)[static_cast<std::size_t>(draw.sample)];
    const std::span<const std::byte> picture = kept.bytes();
    const Augmentation augmentation = finisher_.draw(kept.size, draw, file.name);
    const codec::DecodedWindow window(
        pixels_of(picture, kept.size, needed_window(augmentation, kept.size)));
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
