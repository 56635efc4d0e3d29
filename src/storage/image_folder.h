#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

#include "storage/dataset.h"

namespace feedrate::storage {

// Told now and then how many files were listed so far; from any thread, one call at a time.
using ListProgress = std::function<void(std::uint64_t)>;

// A folder of pictures as torchvision's ImageFolder reads it: each folder below `folder` is a
// class, in name order; a class's pictures lie in it at any depth. Those whose names end in one of
// `suffixes` (".jpg", whatever the case) are its samples. Links are followed. Nothing is read:
// names, sizes and times of the files make the manifest, so SampleFile::xxh3 is 0. `threads` list
// it. Errors: feedrate::Error naming the folder or file (no pictures, none below class folders, not
// readable, a link that leads nowhere or to where it came from) and the remedy.
DatasetVariant list_image_folder(const std::filesystem::path& folder,
                                 std::span<const std::string_view> suffixes, int threads,
                                 const ListProgress& progress = {});

// Whether `data` is one: a folder that `feedrate gen` has not made.
bool is_image_folder(const std::filesystem::path& data);

}  // namespace feedrate::storage
