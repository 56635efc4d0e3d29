#pragma once
#include <cstddef>
#include <memory>
#include <span>

namespace feedrate::storage {

// Bytes that grow without being initialised and never shrink: a worker reuses one for every sample.
class Buffer {
 public:
  // Makes it `size` bytes long; the contents are undefined if it grew. Returns data().
  std::byte* resize(std::size_t size) {
    if (size > capacity_) {
      data_ = std::make_unique_for_overwrite<std::byte[]>(size);
      capacity_ = size;
    }
    size_ = size;
    return data_.get();
  }
  std::byte* data() { return data_.get(); }
  std::span<const std::byte> bytes() const { return {data_.get(), size_}; }

 private:
  std::unique_ptr<std::byte[]> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace feedrate::storage
