#pragma once
#include "base/module.h"
#include "storage/container.h"

namespace feedrate::storage {

// What the module libfeedrate_hdf5.so does, by Container's terms.
struct Hdf5Module {
  std::unique_ptr<Storage> (*open)(const DatasetVariant& variant, const Io& io);
  bool (*pack)(const DatasetVariant& from, const std::filesystem::path& folder,
               const PackProgress& progress);
};
inline constexpr std::uint64_t kHdf5Layout =
    layout_of<Hdf5Module, DatasetVariant, SampleFile, Container, Storage, ReadRequest,
              ReadCompletion, Io>();
// The function that it exports returns a const Hdf5Module&.
inline constexpr const char* kHdf5Symbol = "feedrate_hdf5";
inline constexpr const char* kHdf5File = "samples.h5";

}  // namespace feedrate::storage
