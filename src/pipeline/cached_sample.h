#pragma once
#include <exception>
#include <span>

#include "codec/image.h"
#include "storage/buffer.h"

namespace feedrate::pipeline {

// A sample that was read, or made, once for all epochs. Constant once its cache is filled; any
// number of threads may read it then.
struct CachedSample {
  storage::Buffer buffer;
  std::exception_ptr error;  // an Error: why there is no such sample; null: there is
  codec::PixelSize size{};   // cache=decoded: of the picture, whose rows are packed

  // Throws that Error.
  std::span<const std::byte> bytes() const {
    if (error) std::rethrow_exception(error);
    return buffer.bytes();
  }
};

}  // namespace feedrate::pipeline
