// The loader "dali": NVIDIA DALI is half a gigabyte, so what calls it is a module (src/dali).
#include "base/module.h"
#include "pipeline/loader.h"

namespace feedrate::pipeline {
namespace {

using Make = void (*)(LoaderOptions&& options, std::unique_ptr<Loader>& made);

Make module() {
  static const auto make = reinterpret_cast<Make>(
      load_module({.file = "libfeedrate_dali.so",
                   .symbol = "feedrate_dali",
                   .option = "--loader dali",
                   .absent = "this build has no DALI",
                   .build_it = "run scripts/bootstrap --dali and build again",
                   .find_libraries = "put the folder of DALI's libraries into LD_LIBRARY_PATH, or "
                                     "run scripts/bootstrap --dali and build again",
                   .layout = kLoaderLayout}));
  return make;
}

}  // namespace

void check_dali_loader() { module(); }

std::unique_ptr<Loader> make_dali_loader(LoaderOptions options) {
  std::unique_ptr<Loader> made;
  module()(std::move(options), made);
  return made;
}

}  // namespace feedrate::pipeline
