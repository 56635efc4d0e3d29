#include "storage/folder_times.h"

#include <system_error>

#include "measure/mounts.h"

namespace feedrate::storage {

bool FolderTimes::tell_changes(dev_t device, const std::string& folder) {
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] = known_.try_emplace(device, true);
  if (is_new) {
    std::error_code ignored;
    const auto mount = measure::mount_of(std::filesystem::canonical(folder, ignored), proc_);
    known->second = !mount || !mount->type.starts_with("fuse");
  }
  return known->second;
}

}  // namespace feedrate::storage
