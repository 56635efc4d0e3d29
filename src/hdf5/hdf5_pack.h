#pragma once
#include <filesystem>

#include "storage/container.h"

namespace feedrate::hdf5 {

// Container::pack into a file that is laid out as hdf5_file.h says.
bool pack_samples(const storage::DatasetVariant& from, const std::filesystem::path& folder,
                  const storage::PackProgress& progress);

}  // namespace feedrate::hdf5
