#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/stages.h"

namespace feedrate::judge {

// One resource of the standalone view: something that works in parallel with the others. Its
// capacity is what it could deliver if nothing else limited the run:
//   C = servers / sum of the service times of its stages (per image), U = imgs_per_s / C.
// argmin C names the resource that limits; the largest share within it names the stage. "cpu"
// counts the stages' CPU time alone. Busy CPUs (kCpuBound and more) are named before the loader
// that runs on them. In the loader, waiting for a CPU is a share of its own (kCpuWait): a thread
// that has none stands in the stage where chance has left it, which says nothing of that stage.
// "library" is a library that serves one thread of the process at a time, in the stage `read`;
// waiting for it is the stage `lock`.
struct Capacity {
  std::string resource;       // "loader", "cpu", "library", "link", "decoder", "device"
  double imgs_per_s = 0;      // of all ranks together
  double utilisation = 0;     // imgs_per_s of the run / capacity
  std::string largest_stage;  // and its share of the resource's time
  double largest_share = 0;
};

inline constexpr double kCpuBound = 0.85;  // share of the CPUs' time that the stages take
inline constexpr std::string_view kCpuWait = "CPU wait";

// What each stage takes of a sample (means, in ms, of one worker), and beside the stages what it
// waits for a CPU: that is taken from the stages in proportion to the time in which they did not
// compute. All of it together is the wall time.
struct ServiceTimes {
  struct Part {
    std::string_view name;  // a stage's, or kCpuWait
    double ms = 0;
  };
  std::vector<Part> parts;  // in the order of the stages
  double ms = 0;            // of all
};
ServiceTimes service_times(const measure::StageTotals& stages);
// The same of the stages' CPU time.
ServiceTimes cpu_times(const measure::StageTotals& stages);

struct CapacityInputs {
  double imgs_per_s = 0;  // of the run, all ranks
  int gpus = 1;
  int workers = 0;          // per GPU; 0: the training thread is the one server
  bool loader_seen = true;  // false: its stages' times do not say what it could deliver
  int batch_size = 1;
  double cpus = 0;  // whose time the loader may use; 0: unknown, or the device computes on them too
  measure::StageTotals stages;    // of the window, all workers of all ranks
  double device_ms_per_step = 0;  // mean time a device works on a step (without its waiting)
  double arrival_s_per_batch =
      0;  // mean time that a batch's copy takes, or its decoding on the device; 0: none
  bool decoded_on_device = false;  // the resource is then the decoder, else the link
};

// The resources of a run, the one that limits first.
std::vector<Capacity> capacities(const CapacityInputs& run);

}  // namespace feedrate::judge
