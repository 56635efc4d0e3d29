#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
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

// What O_DIRECT asks of addresses, offsets and lengths: the largest logical block that disks have.
inline constexpr std::size_t kDirectAlignment = 4096;
constexpr std::uint64_t aligned_down(std::uint64_t n) { return n & ~(kDirectAlignment - 1); }
constexpr std::uint64_t aligned_up(std::uint64_t n) {
  return aligned_down(n + kDirectAlignment - 1);
}

// Memory that begins and ends at such a boundary; the contents are undefined.
class AlignedBuffer {
 public:
  explicit AlignedBuffer(std::size_t size)
      : data_(static_cast<std::byte*>(std::aligned_alloc(kDirectAlignment, aligned_up(size)))),
        size_(aligned_up(size)) {
    if (!data_) throw std::bad_alloc();
  }
  std::byte* data() { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t size_;
};

}  // namespace feedrate::storage
