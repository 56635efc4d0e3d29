// Trains on synthetic batches on the CPU, as `feedrate run --device cpu --data synthetic` does, in
// blocks of steps: for each line read, one block, and its images per second as one line.
//   feedrate_steps MODEL BATCH_SIZE INPUT_SIZE THREADS STEPS_PER_BLOCK PRECISION
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

#include "device/accelerator.h"
#include "measure/clock.h"

namespace {

using namespace feedrate;

double block(Accelerator& device, int steps, int batch_size) {
  const std::int64_t start = now_ns();
  for (int i = 0; i < steps; ++i) device.submit(nullptr);
  device.drain();
  const double elapsed = seconds(now_ns() - start);
  std::vector<StepRecord> records;
  device.collect(records);
  return steps * batch_size / elapsed;
}

void serve(char** arguments) {
  const int side = std::stoi(arguments[3]), steps = std::stoi(arguments[5]);
  StepSpec spec{.model = arguments[1],
                .precision = arguments[6],
                .threads = std::stoi(arguments[4]),
                .feed = Feed::synthetic};
  spec.batch = {.batch_size = std::stoi(arguments[2]), .size = {side, side}, .dtype = Dtype::fp32};
  AcceleratorRegistry registry;
  const auto group = make_thread_groups(1);
  const auto device = registry.find("cpu").make("", spec, *group.front());
  block(*device, 2, spec.batch.batch_size);  // primitives are chosen, memory is touched
  std::puts("ready");
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    std::printf("%.6f\n", block(*device, steps, spec.batch.batch_size));
    std::fflush(stdout);
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 7) {
    std::fputs("feedrate_steps MODEL BATCH_SIZE INPUT_SIZE THREADS STEPS_PER_BLOCK PRECISION\n",
               stderr);
    return 2;
  }
  try {
    serve(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
