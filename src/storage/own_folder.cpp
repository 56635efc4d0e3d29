#include "storage/own_folder.h"

#include <string>
#include <system_error>

#include "storage/image_folder.h"
#include "storage/left_out.h"
#include "storage/tar_shards.h"

namespace feedrate::storage {
namespace {

namespace fs = std::filesystem;

}  // namespace

OwnFolder look_at_own_folder(const fs::path& folder, std::span<const std::string_view> suffixes,
                             const ListProgress& progress) {
  ListCount count(progress);
  OwnFolder found;
  std::error_code error, ignored;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    count.alive();
    const std::string name = entry->path().filename().string();
    if (is_hidden(name)) continue;
    if (entry->is_directory(ignored)) {
      found.has_classes = true;
    } else if (has_shard_name(name)) {
      ++found.shards;
    } else if (has_suffix(name, suffixes)) {
      ++found.pictures;
    }
  }
  if (found.has_classes && found.shards > found.pictures)
    found.has_classes = holds_class_pictures(folder, suffixes, progress);
  return found;
}

}  // namespace feedrate::storage
