#pragma once
#include <cmath>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/random.h"
#include "device/qualify.h"

namespace feedrate::tests {

// "cuda-graph on" and so on: what distinguishes options from the plain ones.
inline std::vector<std::string> taken_in(const device::StepOptions& o) {
  std::vector<std::string> names;
  if (o.channels_last) names.push_back("memory-format channels_last");
  if (o.batch_norm != "counted") names.push_back("batch-norm " + o.batch_norm);
  if (o.optimizer == "fused") names.push_back("optimizer fused");
  if (o.master_weights) names.push_back("master-weights on");
  if (o.cuda_graph) names.push_back("cuda-graph on");
  if (o.space_to_depth) names.push_back("stem space-to-depth");
  if (o.memset_kernels) names.push_back("graph-memsets kernels");
  if (!o.trial_precision.empty()) names.push_back("precision " + o.trial_precision);
  return names;
}

// A device whose options are as fast, and as right, as is planted.
class StandIn : public device::StepTrials {
 public:
  struct Planted {
    double faster = 1.2, noise = 0.01;
    device::StepError error{1e-3, 0.1, 0.001};
    device::StepError in_fp16{};  // instead, where it is larger
    std::string fails{};          // with this error
    bool crashes = false;         // and takes its process along
  };
  std::map<std::string, Planted> planted;
  device::StepError plain{1e-3, 0.1, 0.001};
  device::StepError plain_in_fp16{1e-4, 0.02, 0.0002};
  int most_images = 1 << 20;  // that fit
  int crashes_at = 1 << 20;   // a batch of so many images takes the process along
  std::vector<int> asked;     // batches

  device::StepError error_of(const device::StepOptions& options) override {
    const bool is_fp16 = options.trial_precision == "fp16";
    device::StepError worst = is_fp16 ? plain_in_fp16 : plain;
    for (const std::string& name : taken_in(options)) {
      const Planted& one = planted[name];
      if (one.crashes) std::abort();
      if (!one.fails.empty()) throw std::runtime_error(one.fails);
      const device::StepError& error = is_fp16 ? one.in_fp16 : one.error;
      worst.loss = larger(worst.loss, error.loss);
      worst.update = larger(worst.update, error.update);
      worst.scale = larger(worst.scale, error.scale);
      worst.one = larger(worst.one, error.one);
      worst.one_in_fp32 = larger(worst.one_in_fp32, error.one_in_fp32);
    }
    return worst;
  }

  double seconds(const device::StepOptions& options, int batch, int steps) override {
    asked.push_back(batch);
    if (batch >= crashes_at) std::abort();
    if (batch > most_images) throw std::runtime_error("out of memory");
    double step = 1e-3 * batch;
    for (const std::string& name : taken_in(options))
      step /= planted[name].faster * (1 + planted[name].noise * (random_.uniform() - 0.5));
    return step * steps;
  }

 private:
  static double larger(double a, double b) { return std::isnan(b) || b > a ? b : a; }
  Random random_{7};
};

// Everything is left to the device.
inline device::OpenStep all_open() {
  return {.typed = {},
          .open = {"memory-format", "batch-norm", "optimizer", "master-weights", "cuda-graph",
                   "stem", "graph-memsets", "precision"},
          .precision = "bf16",
          .batch = 64};
}

}  // namespace feedrate::tests
