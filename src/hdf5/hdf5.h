#pragma once
#include "storage/container.h"

namespace feedrate::hdf5 {

// What Container asks for, of files that are laid out as hdf5_file.h says.
std::unique_ptr<Storage> open_samples(const DatasetVariant& variant);
bool pack_samples(const DatasetVariant& from, const std::filesystem::path& to, const PackProgress& progress);

}  // namespace feedrate::hdf5
