#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace feedrate {

// One step down the ladder: what a stage costs after overlap, in milliseconds per step of one GPU.
struct Rung {
  std::string stage;      // "normalise", "copy", "collate", "decode+augment", "read", "storage"
  double ms_per_step = 0; // negative within the noise of the two runs
};

// The ladder from the throughput of runs that differ in their cache alone:
//   normalise = device - synthetic, copy = host - device, collate = sample - host,
//   decode+augment = encoded - sample, read = warm - encoded, storage = cold - warm,
// each as the difference of milliseconds per step. `imgs_per_s` has the keys "synthetic", "device",
// "host", "sample", "encoded", "warm", "cold"; where one is missing the rungs that need it are left out.
// batch_images: images per step of all GPUs together.
std::vector<Rung> ladder(const std::map<std::string, double, std::less<>>& imgs_per_s, double batch_images);

}  // namespace feedrate
