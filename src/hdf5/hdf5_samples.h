#pragma once
#include <memory>

#include "storage/dataset.h"
#include "storage/io_engine.h"
#include "storage/storage.h"

namespace feedrate::hdf5 {

// Container::open of files that are laid out as hdf5_file.h says.
std::unique_ptr<storage::Storage> open_samples(const storage::DatasetVariant& variant,
                                               const storage::Io& io);

}  // namespace feedrate::hdf5
