// The container "hdf5": one HDF5 file for all samples. The HDF5 library brings thirty others along,
// so what calls it is a module (src/hdf5).
#include "base/module.h"
#include "storage/container.h"
#include "storage/hdf5_module.h"

namespace feedrate::storage {
namespace {

const Hdf5Module& module() {
  static const auto functions = reinterpret_cast<const Hdf5Module& (*)()>(
      load_module({.file = "libfeedrate_hdf5.so",
                   .symbol = kHdf5Symbol,
                   .option = "--container hdf5",
                   .absent = "this build cannot read HDF5",
                   .build_it = "install HDF5 (scripts/bootstrap) and build again",
                   .find_libraries = "install the HDF5 library (Debian, Ubuntu: libhdf5-103-1)",
                   .layout = kHdf5Layout}));
  return functions();
}

}  // namespace

Container hdf5_container() {
  return {.name = "hdf5",
          .help = "one HDF5 file, chunked, read by its library, which lets one thread in at a time",
          .packed = kHdf5File,
          .locks = true,
          .takes_engines = false,
          .open = [](const DatasetVariant& variant,
                     const Io& io) { return module().open(variant, io); },
          .pack = [](const DatasetVariant& from, const std::filesystem::path& to,
                     const PackProgress& progress) { return module().pack(from, to, progress); }};
}

}  // namespace feedrate::storage
