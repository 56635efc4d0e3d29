#include "train/pinned_slabs_cuda.h"

#include <cuda_runtime_api.h>

#include <cstring>
#include <string>

#include "base/error.h"

namespace feedrate::train {
namespace {

class PinnedSlabs : public pipeline::SlabAllocator {
 public:
  std::byte* allocate(std::size_t bytes) override {
    void* slab = nullptr;
    const cudaError_t status = cudaHostAlloc(&slab, bytes, cudaHostAllocPortable);
    if (status != cudaSuccess) {
      cudaGetLastError();  // else the next, unrelated call would report it
      throw Error(
          "page-locked memory",
          "cannot get " + std::to_string(bytes >> 20) + " MiB (" + cudaGetErrorString(status) + ")",
          "use a smaller --prefetch or --batch-size, or --pin-memory off");
    }
    std::memset(slab, 0, bytes);
    return static_cast<std::byte*>(slab);
  }
  // At exit the driver may be gone before the last ring is: then there is nothing left to free.
  void release(std::byte* slab, std::size_t) noexcept override {
    if (cudaFreeHost(slab) != cudaSuccess) cudaGetLastError();
  }
};

}  // namespace

std::shared_ptr<pipeline::SlabAllocator> pinned_slabs() { return std::make_shared<PinnedSlabs>(); }

std::shared_ptr<std::byte> pinned_bytes(std::size_t bytes) {
  const auto slabs = pinned_slabs();
  return {slabs->allocate(bytes), [=](std::byte* memory) { slabs->release(memory, bytes); }};
}

}  // namespace feedrate::train
