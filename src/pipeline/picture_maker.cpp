#include "pipeline/picture_finisher.h"
#include "pipeline/sample_makers.h"

namespace feedrate::pipeline {
namespace {

class PictureMaker : public SampleMaker {
 public:
  PictureMaker(const SampleRecipe& recipe, measure::StageTimer& timer)
      : recipe_(recipe),
        decoder_(codec::make_decoder(*recipe.format, recipe.decoder)),
        finisher_(recipe, timer),
        timer_(timer) {}

  void give_up() override { timer_.more(measure::Stage::decode); }
  void make(const Draw& draw, const FileBytes& file, std::byte* out) override {
    timer_.begin(measure::Stage::decode);
    const codec::PixelSize stored = decoder_->open(file.bytes, file.name);
    const Augmentation augmentation = finisher_.draw(stored, draw, file.name);
    const codec::Rect wanted = needed_window(augmentation, stored);
    const codec::DecodedWindow window = decoder_->decode(wanted, reduction_of(augmentation));
    if (recipe_.stray_bytes && decoder_->stray_bytes().any())
      recipe_.stray_bytes->note(draw.sample);
    timer_.lap(measure::Stage::decode, static_cast<std::int64_t>(file.bytes.size()));
    finisher_.finish(window, augmentation, out);
  }

 private:
  // The largest that leaves both sides at least as long as the output's.
  int reduction_of(const Augmentation& by) const {
    if (!recipe_.decode_scale || by.mask_colour != MaskColour::none) return 1;
    const codec::Rect& window = by.window;
    const codec::PixelSize to = recipe_.spec.size;
    int reduction = 1;
    while (reduction < 8 && window.width >= 2 * reduction * to.width &&
           window.height >= 2 * reduction * to.height)
      reduction *= 2;
    return reduction;
  }

  const SampleRecipe& recipe_;
  std::unique_ptr<codec::Decoder> decoder_;
  PictureFinisher finisher_;
  measure::StageTimer& timer_;
};

}  // namespace

std::unique_ptr<SampleMaker> make_picture_maker(const SampleRecipe& recipe,
                                                measure::StageTimer& timer) {
  return std::make_unique<PictureMaker>(recipe, timer);
}

}  // namespace feedrate::pipeline
