#pragma once
#include <span>
#include <string>
#include <vector>

#include "measure/stages.h"

namespace feedrate::diagnose {

// One resource of the standalone view: something that works in parallel with the others. Its
// capacity is what it could deliver if nothing else limited the run:
//   C = servers / sum of the service times of its stages (per image), U = imgs_per_s / C.
// argmin C names the resource that limits; the largest share within it names the stage. "cpu"
// counts the stages' CPU time alone: where threads outnumber CPUs, the wall time of a stage
// includes waiting for a CPU, and says little about which stage costs most. Busy CPUs (kCpuBound
// and more) are therefore named before the loader that runs on them. "library" is a library that
// serves one thread of the process at a time, in the stage `read`; waiting for it is the stage
// `lock`.
struct Capacity {
  std::string resource;       // "loader", "cpu", "library", "link", "decoder", "device"
  double imgs_per_s = 0;      // of all ranks together
  double utilisation = 0;     // imgs_per_s of the run / capacity
  std::string largest_stage;  // and its share of the resource's time
  double largest_share = 0;
};

inline constexpr double kCpuBound = 0.85;  // share of the CPUs' time that the stages take

struct CapacityInputs {
  double imgs_per_s = 0;  // of the run, all ranks
  int gpus = 1;
  int workers = 0;          // per GPU; 0: the training thread is the one server
  bool loader_seen = true;  // false: its stages' times do not say what it could deliver
  int batch_size = 1;
  int cpus = 0;  // that the loader may use; 0: unknown, or the device computes on them too
  measure::StageTotals stages;    // of the window, all workers of all ranks
  double device_ms_per_step = 0;  // mean time a device works on a step (without its waiting)
  double arrival_s_per_batch =
      0;  // mean time that a batch's copy takes, or its decoding on the device; 0: none
  bool decoded_on_device = false;  // the resource is then the decoder, else the link
};

// The resources of a run, the one that limits first.
std::vector<Capacity> capacities(const CapacityInputs& run);

}  // namespace feedrate::diagnose
