#include <benchmark/benchmark.h>

namespace feedrate::micro {
void register_batch_norm();
}

// What parts of a training step cost on the CPU, beside the library's.
int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  feedrate::micro::register_batch_norm();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
