#pragma once
#include <benchmark/benchmark.h>

#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "codec/image.h"
#include "data_gen/picture.h"

namespace feedrate::micro {

// Stored at the network's size, as ImageNet's pictures are on average, and large; and what a
// network sees.
inline constexpr std::array<codec::PixelSize, 3> kStoredSizes{{{224, 224}, {500, 375}, {768, 768}}};
inline constexpr codec::PixelSize kStored = kStoredSizes[1];
inline constexpr codec::PixelSize kInput{224, 224};

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
  const data_gen::Picture& picture(codec::PixelSize size = kStored);  // one generated picture
  const std::filesystem::path&
  data();  // a small dataset of every format, and uint8, fp16, fp32 tensors

 private:
  std::map<std::string, data_gen::Picture> pictures_;  // by size
  std::unique_ptr<TemporaryFolder> folder_;
};

// Images (or steps, where it says so) and bytes of one iteration, as rates beside the time.
void set_rates(benchmark::State& state, std::int64_t items, std::int64_t bytes);

// Each in the file of its stage. `material` outlives the runs.
void register_list();
void register_read();
void register_decode(Material& material);
void register_augment(Material& material);
void register_mask_colour(Material& material);
void register_normalise(Material& material);
void register_sample_source(Material& material);
void register_loader(Material& material);
void register_sampler();
void register_hand_over();
void register_harness(Material& material);

}  // namespace feedrate::micro
