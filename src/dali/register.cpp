#include "dali/dali_loader.h"

extern "C" __attribute__((visibility("default"))) const std::uint64_t feedrate_layout;
const std::uint64_t feedrate_layout = feedrate::pipeline::kLoaderLayout;

// What the program looks up after loading this library: see dali_loader.cpp in the pipeline's room.
extern "C" __attribute__((visibility("default"))) void feedrate_dali(
    feedrate::pipeline::LoaderOptions&& options,
    std::unique_ptr<feedrate::pipeline::Loader>& made) {
  made = feedrate::dali::make_loader(std::move(options));
}
