#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "codec/tensor.h"
#include "pipeline/augment.h"

namespace feedrate::pipeline {

// Shape of every batch of a run: batch_size x height x width x 3, interleaved (NHWC). For a decoder
// on the device: batch_size slots of encoded pictures (encoded_slot.h), which have that many
// pixels.
struct BatchSpec {
  int batch_size = 0;
  codec::PixelSize size;
  codec::Dtype dtype =
      codec::Dtype::uint8;  // uint8: pixels; fp16, fp32: normalised (see normalise() in tensor.h)
  std::size_t encoded_slot = 0;  // bytes of a slot; 0: samples are pixels
  codec::Normalisation normalisation =
      codec::Normalisation::imagenet;  // of pixels, on the host or on the device
  std::size_t sample_elements() const {
    return static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height) * 3;
  }
  std::size_t sample_bytes() const {
    return encoded_slot != 0 ? encoded_slot : sample_elements() * codec::size_of(dtype);
  }
  std::size_t bytes() const { return sample_bytes() * static_cast<std::size_t>(batch_size); }
  bool operator==(const BatchSpec&) const = default;
};

// One batch in host memory: a slab of the ring, filled by loader workers, read by the device.
struct HostBatch {
  std::byte* pixels = nullptr;       // spec.bytes() long
  std::vector<std::int64_t> labels;  // batch_size
  std::vector<Augmentation>
      augmentations;           // batch_size; drawn where the device is to carry them out
  std::int64_t sequence = -1;  // position in the loader's stream, 0, 1, 2 ...
  std::int64_t ready_ns = 0;   // when it was whole, by now_ns(); 0: not traced, or never queued
};

class SlabRing;
struct ReturnToRing {
  std::shared_ptr<SlabRing> ring;  // null: the batch belongs to a cache and stays where it is
  void operator()(HostBatch* batch) const;
};
// The right to a batch; destroying it gives the slab back to its ring. Movable across threads.
using BatchLease = std::unique_ptr<HostBatch, ReturnToRing>;

}  // namespace feedrate::pipeline
