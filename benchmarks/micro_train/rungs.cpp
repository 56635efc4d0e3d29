#include <ATen/Functions.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "measure/clock.h"
#include "train/synthetic.h"
#include "train/trainer.h"

// What each rung of a training step is worth on the CPU: single steps with it and without it, in turns, in one
// process, so that a machine whose speed wanders is as slow for the one as for the other.
//   feedrate_rungs [BATCH SIDE STEPS]
namespace feedrate {
namespace {

struct Pair {
  const char* name;
  Precision precision;
  StepRungs without, with;
};

StepRungs all() { return {.channels_last = true, .batch_norm = "fused", .optimizer = "fused", .master_weights = true}; }

std::vector<Pair> pairs() {
  StepRungs nchw = all(), library = all(), counted = all(), loop = all(), cast = all();
  nchw.channels_last = false, nchw.batch_norm = "library";
  library.batch_norm = "library", counted.batch_norm = "counted", loop.optimizer = "loop", cast.master_weights = false;
  return {{"memory-format contiguous -> channels_last", Precision::fp32, nchw, library},
          {"batch-norm counted -> library", Precision::fp32, counted, library},
          {"optimizer loop -> fused", Precision::fp32, loop, all()},
          {"master-weights off -> on (bf16)", Precision::bf16, cast, all()},
          {"batch-norm library -> fused", Precision::fp32, library, all()}};
}

// One way to run the step, with weights and batches of its own.
struct Way {
  Way(const StepSpec& spec, Precision precision)
      : trainer(trainer_options(spec, precision, at::kCPU)), ring(spec, input_type(precision), at::kCPU) {}
  double seconds() {
    const TrainBatch& batch = ring.next();
    const std::int64_t start = now_ns();
    trainer.step(batch.input, batch.labels);
    return 1e-9 * static_cast<double>(now_ns() - start);
  }
  Trainer trainer;
  SyntheticRing ring;
};

// The median of the paired ratios, and half of the width of its 95 % interval (of an order statistic).
void measure(const Pair& pair, StepSpec spec, int steps) {
  spec.rungs = pair.without;
  Way without(spec, pair.precision);
  spec.rungs = pair.with;
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
  const auto at = [&](double place) { return ratios[static_cast<std::size_t>(std::clamp(place, 0.0, steps - 1.0))]; };
  const double half = 0.98 * std::sqrt(static_cast<double>(steps));  // of the ranks
  std::printf("| %s | %.3f | %.3f to %.3f |\n", pair.name, at(steps / 2.0), at(steps / 2.0 - half), at(steps / 2.0 + half));
  std::fflush(stdout);
}

}  // namespace
}  // namespace feedrate

int main(int argc, char** argv) {
  using namespace feedrate;
  const auto argument = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
  const int batch = argument(1, 16), side = argument(2, 64), steps = argument(3, 40);
  at::set_num_threads(allowed_cpus());
  std::printf("resnet50, %d at %dx%d, %d threads, %d pairs of steps each\n\n| rung | speed with / without | 95 %% interval |\n|---|---|---|\n",
              batch, side, side, allowed_cpus(), steps);
  for (const Pair& pair : pairs()) measure(pair, {.batch = {.batch_size = batch, .size = {side, side}}, .model = "resnet50"}, steps);
}
