#include "pipeline/picture_finisher.h"

#include "codec/plain.h"
#include "pipeline/collate.h"
#include "pipeline/jitter.h"
#include "pipeline/sample_maker.h"

namespace feedrate::pipeline {

Augmentation PictureFinisher::draw(codec::PixelSize stored, const Draw& draw,
                                   std::string_view name) const {
  if (recipe_.augment_on_device && stored != recipe_.spec.size)
    refuse_picture_size(name, stored, "use --augment-on host");
  check_crop(recipe_.augment, stored, name);
  const AugmentPolicy policy =
      recipe_.augment_on_device ? AugmentPolicy{false, false} : recipe_.augment;
  return draw_augmentation(policy, stored, draw.augment_seed);
}

void PictureFinisher::finish(const codec::DecodedWindow& window, const Augmentation& augmentation,
                             std::byte* out) {
  if (recipe_.augment_on_device) return leave_to_device(window, out);
  timer_.begin(measure::Stage::augment);
  // uint8 batches are augmented straight into their slot; the others pass through `pixels_`.
  const BatchSpec& spec = recipe_.spec;
  const bool direct = spec.dtype == codec::Dtype::uint8;
  std::byte* pixels = direct ? out : pixels_.resize(spec.sample_elements());
  augment(window, augmentation, reinterpret_cast<std::uint8_t*>(pixels));
  const codec::PixelSize shown{window.pixels.width, window.pixels.height};
  const codec::Rect taken = needed_window(augmentation, shown);
  timer_.lap(measure::Stage::augment, static_cast<std::int64_t>(taken.width) * taken.height * 3);

  const auto bytes = static_cast<std::int64_t>(spec.sample_elements());
  if (direct) return timer_.pass(measure::Stage::collate, bytes);
  timer_.begin(measure::Stage::collate);
  collate(pixels_.bytes(), codec::Dtype::uint8, spec, out);
  timer_.lap(measure::Stage::collate, bytes);
}

// The whole picture, of the batch's size: draw() refuses another.
void PictureFinisher::leave_to_device(const codec::DecodedWindow& window, std::byte* out) {
  timer_.begin(measure::Stage::collate);
  codec::copy_packed(window.pixels, reinterpret_cast<std::uint8_t*>(out));
  timer_.lap(measure::Stage::collate, static_cast<std::int64_t>(recipe_.spec.sample_bytes()));
}

void PictureFinisher::augment(const codec::DecodedWindow& window, const Augmentation& by,
                              std::uint8_t* out) {
  const BatchSpec& spec = recipe_.spec;
  if (by.mask_colour != MaskColour::none) return mask(window.pixels, by, out);
  resizer_.resize(window, spec.size, by.flip, recipe_.filter, out);
  jitter_colours(out, spec.sample_elements() / 3, by.jitter);
}

void PictureFinisher::mask(const codec::PixelView& pixels, const Augmentation& by,
                           std::uint8_t* out) {
  if (by.mask_colour == MaskColour::cropped) return mask_colourer_.apply(pixels, by.mask_seed, out);
  // Pixels that are cut off are worked on as well: that is what this order is there to show.
  auto* whole = reinterpret_cast<std::uint8_t*>(
      whole_.resize(3 * static_cast<std::size_t>(pixels.width) * pixels.height));
  mask_colourer_.apply(pixels, by.mask_seed, whole);
  const codec::PixelSize size{pixels.width, pixels.height};
  codec::copy_packed(codec::window_of(codec::packed_view(whole, size), by.window), out);
}

}  // namespace feedrate::pipeline
