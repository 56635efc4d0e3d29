#include "hdf5/hdf5_pack.h"
#include "hdf5/hdf5_samples.h"
#include "storage/hdf5_module.h"

extern "C" __attribute__((visibility("default"))) const std::uint64_t feedrate_layout;
const std::uint64_t feedrate_layout = feedrate::storage::kHdf5Layout;

// What the program looks up after loading this library.
extern "C" __attribute__((visibility("default"))) const feedrate::storage::Hdf5Module&
feedrate_hdf5() {
  static constexpr feedrate::storage::Hdf5Module kModule{feedrate::hdf5::open_samples,
                                                         feedrate::hdf5::pack_samples};
  return kModule;
}
