#include <cstdio>
#include <exception>

#include "benchmarks/micro/micro.h"

// What each stage of a sample's way costs on one core, and what the harness itself costs per step.
int main(int argc, char** argv) {
  using namespace feedrate::micro;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  try {
    Material material;
    register_list();
    register_read();
    register_decode(material);
    register_augment(material);
    register_mask_colour(material);
    register_normalise(material);
    register_sample_source(material);
    register_loader(material);
    register_sampler();
    register_hand_over();
    register_harness(material);
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "feedrate_micro: %s\n", error.what());
    return 1;
  }
}
