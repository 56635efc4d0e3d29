#include <ATen/Functions.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "measure/affinity.h"
#include "measure/clock.h"
#include "train/synthetic.h"
#include "train/trainer.h"

// What each option of a training step is worth on the CPU: single steps with it and without it, in
// turns, in one process, so that a machine whose speed wanders is as slow for the one as for the
// other.
//   feedrate_step_options [BATCH SIDE STEPS]
namespace feedrate {
namespace {

struct Pair {
  const char* name;
  train::Precision precision;
  device::StepOptions without, with;
};

device::StepOptions all() {
  return {
      .channels_last = true, .batch_norm = "library", .optimizer = "fused", .master_weights = true};
}

std::vector<Pair> pairs() {
  device::StepOptions nchw = all(), counted = all(), loop = all(), cast = all(), blocks = all();
  nchw.channels_last = false, counted.batch_norm = "counted", loop.optimizer = "loop",
  cast.master_weights = false, blocks.space_to_depth = true;
  return {{"memory-format contiguous -> channels_last", train::Precision::fp32, nchw, all()},
          {"batch-norm counted -> library", train::Precision::fp32, counted, all()},
          {"optimizer loop -> fused", train::Precision::fp32, loop, all()},
          {"stem convolution -> space-to-depth", train::Precision::fp32, all(), blocks},
          {"master-weights off -> on (bf16)", train::Precision::bf16, cast, all()}};
}

// One way to run the step, with weights and batches of its own.
struct Way {
  Way(const device::StepSpec& spec, train::Precision precision)
      : trainer(train::trainer_options(spec, precision, at::kCPU)),
        ring(spec, train::input_type(precision), at::kCPU) {}
  double seconds() {
    const train::TrainBatch& batch = ring.next();
    const std::int64_t start = measure::now_ns();
    trainer.step(batch.input, batch.labels);
    return 1e-9 * static_cast<double>(measure::now_ns() - start);
  }
  train::Trainer trainer;
  train::SyntheticRing ring;
};

// Prints the median of the paired ratios and its 95 % interval (from order statistics).
void measure_pair(const Pair& pair, device::StepSpec spec, int steps) {
  spec.step = pair.without;
  Way without(spec, pair.precision);
  spec.step = pair.with;
  Way with(spec, pair.precision);
  for (int i = 0; i < 3; ++i) without.seconds(), with.seconds();
  std::vector<double> ratios;
  for (int i = 0; i < steps; ++i) {
    const bool first = i % 2 == 0;
    const double before = first ? without.seconds() : 0;
    const double ours = with.seconds();
    ratios.push_back((first ? before : without.seconds()) / ours);
  }
  std::sort(ratios.begin(), ratios.end());
  const auto at = [&](double place) {
    return ratios[static_cast<std::size_t>(std::clamp(place, 0.0, steps - 1.0))];
  };
  const double half = 0.98 * std::sqrt(static_cast<double>(steps));  // of the ranks
  std::printf("| %s | %.3f | %.3f to %.3f |\n", pair.name, at(steps / 2.0), at(steps / 2.0 - half),
              at(steps / 2.0 + half));
  std::fflush(stdout);
}

}  // namespace
}  // namespace feedrate

int main(int argc, char** argv) {
  using namespace feedrate;
  const auto argument = [&](int i, int otherwise) {
    return argc > i ? std::atoi(argv[i]) : otherwise;
  };
  const int batch = argument(1, 16), side = argument(2, 64), steps = argument(3, 40);
  at::set_num_threads(measure::allowed_cpus());
  std::printf(
      "resnet50, %d at %dx%d, %d threads, %d pairs of steps each\n\n| step option | speed with / "
      "without | 95 %% interval |\n|---|---|---|\n",
      batch, side, side, measure::allowed_cpus(), steps);
  for (const Pair& pair : pairs())
    measure_pair(pair, {.batch = {.batch_size = batch, .size = {side, side}}, .model = "resnet50"},
                 steps);
}
