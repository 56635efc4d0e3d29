#pragma once
#include <filesystem>
#include <functional>

namespace feedrate::cli {

// Makes a few JPEGs of ImageNet's sizes and bytes in a temporary folder, for who has no data at
// hand, calls `use` with the folder and removes it, whenever a signal comes. It takes some seconds,
// whose progress is on stderr unless `quiet`. Returns the exit code: that of `use`, or of the
// signal. Throws an Error where the pictures cannot be written.
int with_small_dataset(bool quiet, const std::function<int(const std::filesystem::path&)>& use);

}  // namespace feedrate::cli
