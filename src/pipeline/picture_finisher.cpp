#include "pipeline/picture_finisher.h"

#include "pipeline/collate.h"
#include "pipeline/jitter.h"
#include "pipeline/sample_maker.h"

namespace feedrate::pipeline {

Augmentation PictureFinisher::draw(codec::PixelSize stored, const Draw& draw,
                                   std::string_view name) const {
  if (recipe_.augment_on_device && stored != recipe_.spec.size)
    refuse_picture_size(name, stored, "use --augment-on host");
  const AugmentPolicy policy =
      recipe_.augment_on_device ? AugmentPolicy{false, false} : recipe_.augment;
  return draw_augmentation(policy, stored, draw.augment_seed);
}

void PictureFinisher::finish(const codec::DecodedWindow& window, const Augmentation& augmentation,
                             std::byte* out) {
  // uint8 batches are resized straight into their slot; the others pass through `pixels_`.
  const BatchSpec& spec = recipe_.spec;
  const bool direct = spec.dtype == codec::Dtype::uint8;
  std::byte* resized = direct ? out : pixels_.resize(spec.sample_elements());
  resizer_.resize(window, spec.size, augmentation.flip, recipe_.filter,
                  reinterpret_cast<std::uint8_t*>(resized));
  jitter_colours(reinterpret_cast<std::uint8_t*>(resized), spec.sample_elements() / 3,
                 augmentation.jitter);
  const codec::Rect& taken = augmentation.window;
  timer_.lap(measure::Stage::augment, static_cast<std::int64_t>(taken.width) * taken.height * 3);

  if (!direct) collate(pixels_.bytes(), codec::Dtype::uint8, spec, out);
  timer_.lap(measure::Stage::collate, static_cast<std::int64_t>(spec.sample_elements()));
}

}  // namespace feedrate::pipeline
