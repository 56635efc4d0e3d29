#pragma once
#include <cstddef>
#include <memory>

#include "plan/settings.h"
#include "storage/dataset.h"

namespace feedrate::run {

// Whether a cell keeps each sample of its dataset in memory: filling takes as long as the dataset
// is large.
bool keeps_samples(const plan::CellSettings& settings);

// How many of `samples` a cell keeps, if it may keep `most` (0: all).
std::size_t kept_samples(const plan::CellSettings& settings, std::size_t samples, std::size_t most);

// Leaves of the dataset `kept` samples, evenly spread over it, class by class, so that each class
// keeps its share, where that is a sample at least. 0, and more than there are: all. A part is
// other data: its manifest's hash is another, and `made` says of how many it is. Throws a
// UsageError where its container has to be read whole.
void keep_part(storage::DatasetVariant& dataset, std::size_t kept);

// The dataset with `kept` samples of all, evenly spread over it; null where that is all of them.
std::shared_ptr<const storage::DatasetVariant> part_of(const storage::DatasetVariant& dataset,
                                                       std::size_t kept);

}  // namespace feedrate::run
