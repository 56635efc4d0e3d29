#include "pipeline/collate.h"
#include "pipeline/jitter.h"
#include "pipeline/sample_makers.h"

namespace feedrate::pipeline {
namespace {

class PictureMaker : public SampleMaker {
 public:
  PictureMaker(const SampleRecipe& recipe, measure::StageTimer& timer)
      : recipe_(recipe), decoder_(recipe.format->make_decoder()), timer_(timer) {}

  void give_up() override { timer_.more(measure::Stage::decode); }
  void make(const Draw& draw, const FileBytes& file, std::byte* out) override {
    const codec::PixelSize stored = decoder_->open(file.bytes, file.name);
    if (recipe_.augment_on_device && stored != recipe_.spec.size)
      refuse_picture_size(file.name, stored, "use --augment-on host");
    const AugmentPolicy policy =
        recipe_.augment_on_device ? AugmentPolicy{false, false} : recipe_.augment;
    const Augmentation augmentation = draw_augmentation(policy, stored, draw.augment_seed);
    const codec::Rect& wanted = augmentation.window;
    const codec::DecodedWindow window =
        decoder_->decode(wanted, recipe_.decode_scale ? reduction_of(wanted) : 1);
    timer_.lap(measure::Stage::decode, static_cast<std::int64_t>(file.bytes.size()));

    // uint8 batches are resized straight into their slot; the others pass through `pixels_`.
    const BatchSpec& spec = recipe_.spec;
    const bool direct = spec.dtype == codec::Dtype::uint8;
    std::byte* resized = direct ? out : pixels_.resize(spec.sample_elements());
    resizer_.resize(window, spec.size, augmentation.flip, recipe_.filter,
                    reinterpret_cast<std::uint8_t*>(resized));
    jitter_colours(reinterpret_cast<std::uint8_t*>(resized), spec.sample_elements() / 3,
                   augmentation.jitter);
    timer_.lap(measure::Stage::augment,
               static_cast<std::int64_t>(wanted.width) * wanted.height * 3);

    if (!direct) collate(pixels_.bytes(), codec::Dtype::uint8, spec, out);
    timer_.lap(measure::Stage::collate, static_cast<std::int64_t>(spec.sample_elements()));
  }

 private:
  // The largest that leaves both sides at least as long as the output's.
  int reduction_of(const codec::Rect& window) const {
    const codec::PixelSize to = recipe_.spec.size;
    int reduction = 1;
    while (reduction < 8 && window.width >= 2 * reduction * to.width &&
           window.height >= 2 * reduction * to.height)
      reduction *= 2;
    return reduction;
  }

  const SampleRecipe& recipe_;
  std::unique_ptr<codec::Decoder> decoder_;
  Resizer resizer_;
  storage::Buffer pixels_;
  measure::StageTimer& timer_;
};

}  // namespace

std::unique_ptr<SampleMaker> make_picture_maker(const SampleRecipe& recipe,
                                                measure::StageTimer& timer) {
  return std::make_unique<PictureMaker>(recipe, timer);
}

}  // namespace feedrate::pipeline
