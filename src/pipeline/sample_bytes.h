#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "codec/image.h"
#include "measure/stages.h"
#include "pipeline/sample_source.h"
#include "storage/buffer.h"
#include "storage/storage.h"

namespace feedrate::pipeline {

// name -> bytes, from storage or from the `encoded` cache. One per worker, not thread-safe.
class SampleBytes {
 public:
  explicit SampleBytes(const SampleRecipe& recipe);

  // A file's bytes, valid until the next call. The reading counts into the stage `read`.
  std::span<const std::byte> get(const Draw& draw, measure::StageTimer& timer);
  // Reads the last tail.size() bytes into `tail` and returns the `head` bytes before them. Nothing
  // if the file has another length or lies in the cache: use get().
  std::optional<std::span<const std::byte>> get_apart(const Draw& draw, std::size_t head,
                                                      std::span<std::byte> tail,
                                                      measure::StageTimer& timer);
  std::size_t length(const Draw& draw) const;
  // Tells the storage that the sample will be read soon.
  void expect(const Draw& draw, measure::StageTimer& timer);
  // The name for an error; valid until the next call.
  std::string_view name(const Draw& draw);

 private:
  const storage::SampleFile& file_of(const Draw& draw) const;
  std::span<const std::byte> read(const Draw& draw, std::span<std::byte> tail,
                                  measure::StageTimer& timer);

  const SampleRecipe& recipe_;
  const std::string prefix_;
  std::string name_;  // reused, so that a sample allocates nothing
  std::unique_ptr<storage::Storage> storage_;
  storage::Buffer buffer_;
};

// Throws an Error: a device that takes whole pictures takes those of one size.
[[noreturn]] void refuse_picture_size(std::string_view name, codec::PixelSize stored,
                                      const char* remedy);

}  // namespace feedrate::pipeline
