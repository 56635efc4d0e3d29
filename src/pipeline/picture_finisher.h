#pragma once
#include <string_view>

#include "measure/stages.h"
#include "pipeline/mask_colour.h"
#include "pipeline/resize.h"
#include "pipeline/sample_recipe.h"
#include "pipeline/sampler.h"
#include "storage/buffer.h"

namespace feedrate::pipeline {

// What happens to a picture once its pixels are there: it is resized, flipped, its colours are
// changed (or it is masked, coloured and not resized), and it is collated; where the device
// augments, it is only collated. One per worker, not thread-safe; counts its time into the stages
// augment and collate.
class PictureFinisher {
 public:
  // Both outlive it.
  PictureFinisher(const SampleRecipe& recipe, measure::StageTimer& timer)
      : recipe_(recipe), timer_(timer) {}

  // What the host does to a picture of `stored` pixels. Throws an Error that names it if the device
  // augments, and takes pictures of another size, or if it is too small for its crop.
  Augmentation draw(codec::PixelSize stored, const Draw& draw, std::string_view name) const;
  // Writes BatchSpec::sample_bytes() bytes to `out`. `window` holds the pixels of
  // needed_window().
  void finish(const codec::DecodedWindow& window, const Augmentation& augmentation, std::byte* out);

 private:
  void leave_to_device(const codec::DecodedWindow& window, std::byte* out);
  void augment(const codec::DecodedWindow& window, const Augmentation& by, std::uint8_t* out);
  void mask(const codec::PixelView& pixels, const Augmentation& by, std::uint8_t* out);

  const SampleRecipe& recipe_;
  Resizer resizer_;
  MaskColourer mask_colourer_;
  storage::Buffer whole_;  // a whole picture, masked and coloured
  storage::Buffer pixels_;
  measure::StageTimer& timer_;
};

}  // namespace feedrate::pipeline
