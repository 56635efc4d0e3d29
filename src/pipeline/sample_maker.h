#pragma once
#include <cstddef>
#include <span>
#include <string_view>

#include "codec/image.h"
#include "pipeline/augment.h"
#include "pipeline/sampler.h"

namespace feedrate::pipeline {

// A sample's file, for the one that makes a sample of it.
struct FileBytes {
  std::span<const std::byte> bytes;  // without what has landed
  std::size_t landed = 0;            // bytes at its end that lie where landing() said
  std::string_view name;             // for errors
};

// Makes a finished sample of a file's bytes. One per worker, not thread-safe; counts its time into
// its stages.
class SampleMaker {
 public:
  virtual ~SampleMaker() = default;
  // Where in the sample's slot `out` the last bytes of a file of `bytes` bytes can go as they are,
  // straight from storage. Empty: nowhere.
  virtual std::span<std::byte> landing(std::size_t /*bytes*/, std::byte* /*out*/) const {
    return {};
  }
  // Writes BatchSpec::sample_bytes() bytes to `out`. Throws an Error that names the file.
  virtual void make(const Draw& draw, const FileBytes& file, std::byte* out) = 0;
  // To be called after make() has thrown: counts the time that it took into a stage.
  virtual void give_up() {}
};

// Throws an Error: a device that takes whole pictures takes those of one size.
[[noreturn]] void refuse_picture_size(std::string_view name, codec::PixelSize stored,
                                      const char* remedy);

// Throws an Error that names a picture which is too small to be cropped as the policy says.
void check_crop(const AugmentPolicy& policy, codec::PixelSize stored, std::string_view name);

}  // namespace feedrate::pipeline
