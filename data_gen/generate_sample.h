#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data_gen/generate_plan.h"

namespace feedrate::data_gen {

// Makes the files of one sample. One per thread; reuses its decoders and buffers.
class SampleMaker {
 public:
  explicit SampleMaker(const GeneratePlan& plan);

  // Makes what is missing of sample `index` in `variants`, all of which are made from the pictures
  // `kind`; out[i] becomes the manifest line of variants[i]. Returns the bytes written.
  // Errors: feedrate::Error of a picture, or a file of the dataset, that cannot be read, or of a
  // file that cannot be written.
  std::int64_t make(std::int64_t index, const PictureKind& kind,
                    std::span<const PlannedVariant* const> variants,
                    std::span<storage::SampleFile> out);

 private:
  std::optional<storage::SampleFile> find_existing(const PlannedVariant& variant,
                                                   std::int64_t index);
  bool is_whole(const PlannedVariant& variant, std::int64_t index, const std::string& name);
  bool load_stored_jpeg(const PictureKind& kind, std::int64_t index);
  void encode_jpeg(const PictureKind& kind, std::int64_t index);
  const codec::PixelView& jpeg_pixels(std::int64_t index, const PictureKind& kind);
  codec::PixelView decode_jpeg(codec::PixelSize size, const std::string& name);
  storage::SampleFile write(const PlannedVariant& variant, std::int64_t index);
  storage::SampleFile line_of(const PlannedVariant& variant, std::int64_t index) const;

  const GeneratePlan& plan_;
  std::unique_ptr<codec::Decoder> jpeg_;    // for jpeg_pixels() alone, which borrows from it
  std::vector<std::byte> jpeg_file_;        // the encoded JPEG of the current sample
  std::optional<codec::PixelView> pixels_;  // and its pixels, once they were asked for
  std::vector<std::byte> file_;             // the file being read or written
};

}  // namespace feedrate::data_gen
