#pragma once
#include <benchmark/benchmark.h>

#include <filesystem>
#include <memory>

#include "codec/image.h"
#include "data_gen/picture.h"

namespace feedrate::micro {

// What ImageNet's pictures have on average, and what a network sees of them.
inline constexpr PixelSize kStored{500, 375};
inline constexpr PixelSize kInput{224, 224};

// A folder of its own, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();  // throws std::system_error
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// What several benchmarks work on, made when the first of them asks.
class Material {
 public:
  const Picture& picture();  // one generated picture of kStored
  const std::filesystem::path&
  data();  // a small dataset of every format, and uint8, fp16, fp32 tensors

 private:
  std::unique_ptr<Picture> picture_;
  std::unique_ptr<TemporaryFolder> folder_;
};

// Images (or steps, where it says so) and bytes of one iteration, as rates beside the time.
void set_rates(benchmark::State& state, std::int64_t items, std::int64_t bytes);

// Each in the file of its stage. `material` outlives the runs.
void register_read();
void register_decode(Material& material);
void register_augment(Material& material);
void register_normalise(Material& material);
void register_sample_source(Material& material);
void register_sampler();
void register_hand_over();
void register_harness(Material& material);

}  // namespace feedrate::micro
