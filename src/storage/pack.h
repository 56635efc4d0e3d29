#pragma once
#include <filesystem>
#include <functional>
#include <vector>

#include "storage/buffer.h"
#include "storage/dataset.h"
#include "storage/storage.h"

namespace feedrate::storage {

// For Container::pack(): reads a sample. Errors: as Storage::read(), and if its checksum is not the
// manifest's.
void read_for_packing(Storage& storage, const DatasetVariant& from, const SampleFile& sample,
                      Buffer& into);
// For Container::pack(): `write` makes "TO.partial" for each file of `to`, which lie in one folder,
// and returns whether all are whole; then they are synced and renamed, else removed. Errors: what
// `write` throws, a std::system_error as an Error naming the first file.
using Paths = std::vector<std::filesystem::path>;
bool write_packed(const Paths& to, const std::function<bool(const Paths& partial)>& write);

}  // namespace feedrate::storage
