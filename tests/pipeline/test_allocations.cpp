// In the steady state a worker takes no memory: not for a sample, whatever its format.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

#include "pipeline/caches.h"
#include "pipeline/sample_source.h"
#include "pipeline/sampler.h"
#include "tests/codec/npz_files.h"
#include "tests/support.h"

namespace {
std::atomic<long> allocations{0};

void* counted(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  void* memory =
      alignment <= alignof(std::max_align_t)
          ? std::malloc(bytes)
          : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes, 1); }
void* operator new[](std::size_t bytes) { return counted(bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t to) {
  return counted(bytes, static_cast<std::size_t>(to));
}
void* operator new[](std::size_t bytes, std::align_val_t to) {
  return counted(bytes, static_cast<std::size_t>(to));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace feedrate::tests {
namespace {

constexpr codec::PixelSize kStored{120, 90};
constexpr int kSamples = 16;

// In ten epochs.
long allocations_of(const pipeline::SampleRecipe& recipe) {
  measure::StageCounters counters;
  pipeline::SampleSource source(recipe, counters);
  const pipeline::Sampler sampler(kSamples, 1, 0, 1);
  std::vector<std::byte> slot(recipe.spec.sample_bytes());
  std::int64_t i = 0;
  for (; i < 40 * kSamples; ++i)
    source.make(sampler.at(i), slot.data());  // buffers reach their size
  const long before = allocations;
  for (; i < 50 * kSamples; ++i) source.make(sampler.at(i), slot.data());
  return allocations - before;
}

TEST(Allocations, ASampleTakesNoMemory) {
  const TemporaryFolder folder;
  make_dataset(folder.path(), {"jpeg", "png", "png0", "bmp", "webp", "npy", "npz", "raw", "tensor"},
               kStored, kSamples);
  for (const char* data : {"jpeg", "png", "png0", "bmp", "webp", "npy", "npz", "raw", "tensor"}) {
    const bool tensor = std::string(data) == "tensor";
    const storage::DatasetVariant dataset = storage::open_dataset(
        folder.path(), (tensor ? "tensor-uint8" : std::string(data)) + "/120x90");
    for (const pipeline::ResizeFilter filter :
         {pipeline::ResizeFilter::bilinear, pipeline::ResizeFilter::antialias}) {
      pipeline::SampleRecipe recipe{
          .dataset = &dataset,
          .format = codec::find_picture_format(data),
          .spec = {1, tensor ? kStored : codec::PixelSize{48, 48}, codec::Dtype::uint8},
          .filter = filter};
      recipe.augment.jitter = true;
      recipe.stray_bytes = std::make_shared<pipeline::NotedSamples>(kSamples);
      EXPECT_EQ(allocations_of(recipe), 0) << data;
      if (tensor) continue;
      recipe.decoded_cache = pipeline::fill_decoded_cache(recipe, 1);
      EXPECT_EQ(allocations_of(recipe), 0) << data << ", decoded before";
      recipe.augment.mask_colour = pipeline::MaskColour::whole;
      recipe.augment.crop = recipe.spec.size;
      EXPECT_EQ(allocations_of(recipe), 0) << data << ", masked";
    }
  }
}

// Nor does looking for the picture among arrays that are none: an exception would.
TEST(Allocations, SeveralArraysTakeNoMemory) {
  const TestPicture picture = make_picture(24, 18);
  for (const bool deflated : {false, true}) {
    const std::vector<NpzArray> arrays = {
        {"mask.npy", flat_array()}, {"x.npy", encode("npy", picture)}, {"y.npy", Bytes(64)}};
    const Bytes file = write_npz(arrays, {.deflated = deflated});
    const auto decoder = codec::find_picture_format("npz")->make_decoder();
    EXPECT_EQ(decode_whole(*decoder, file).pixels, picture.pixels);
    const long before = allocations;
    for (int i = 0; i < 10; ++i) {
      decoder->open(file, "test file");
      decoder->decode(whole(picture.size), 1);
    }
    EXPECT_EQ(allocations - before, 0) << deflated;
  }
}

}  // namespace
}  // namespace feedrate::tests
