#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data_gen/generate_plan.h"

namespace feedrate {

// Makes the files of one sample. One per thread; reuses its decoders and buffers.
class SampleMaker {
 public:
  explicit SampleMaker(const GeneratePlan& plan);

  // Makes what is missing of sample `index` in `variants`, all of which are made from the picture
  // size `size`; out[i] becomes the manifest line of variants[i]. Returns the bytes written.
  // Errors: feedrate::Error of a picture that cannot be read, or a file that cannot be written.
  std::int64_t make(std::int64_t index, PixelSize size,
                    std::span<const PlannedVariant* const> variants, std::span<SampleFile> out);

 private:
  std::optional<SampleFile> find_existing(const PlannedVariant& variant, std::int64_t index);
  bool is_whole(const PlannedVariant& variant, const std::string& name);
  bool load_stored_jpeg(PixelSize size, std::int64_t index);
  const PixelView& jpeg_pixels(std::int64_t index, PixelSize size);
  PixelView decode_jpeg(PixelSize size, const std::string& name);
  SampleFile write(const PlannedVariant& variant, std::int64_t index);
  SampleFile line_of(const PlannedVariant& variant, std::int64_t index) const;

  const GeneratePlan& plan_;
  std::unique_ptr<Decoder> jpeg_;     // for jpeg_pixels() alone, which borrows from it
  std::vector<std::byte> jpeg_file_;  // the encoded JPEG of the current sample
  std::optional<PixelView> pixels_;   // and its pixels, once they were asked for
  std::vector<std::byte> file_;       // the file being read or written
};

}  // namespace feedrate
