#pragma once
#include <filesystem>
#include <functional>

#include "storage/buffer.h"
#include "storage/dataset.h"
#include "storage/storage.h"

namespace feedrate::storage {

// For Container::pack(): reads a sample. Errors: as Storage::read(), and if its checksum is not the
// manifest's.
void read_for_packing(Storage& storage, const DatasetVariant& from, const SampleFile& sample,
                      Buffer& into);
// For Container::pack(): `write` makes "TO.partial" and returns whether it is whole; then it is
// synced and renamed, else removed. Errors: what `write` throws, a std::system_error as an Error
// naming `to`.
bool write_packed(const std::filesystem::path& to,
                  const std::function<bool(const std::filesystem::path& partial)>& write);

}  // namespace feedrate::storage
