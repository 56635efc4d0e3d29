#pragma once
#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace feedrate::storage {

// Whether the times of folders tell what came into them. On FUSE (s3fs, sshfs) they need not. What
// lies below a folder may be another file system: mounted there, or behind a link. Thread-safe.
class FolderTimes {
 public:
  // Tests give another folder as `proc`.
  explicit FolderTimes(std::filesystem::path proc = "/proc") : proc_(std::move(proc)) {}

  // Of the file system with that number, on which `folder` lies; each is looked up once.
  bool tell_changes(dev_t device, const std::string& folder);

 private:
  const std::filesystem::path proc_;
  std::mutex mutex_;
  std::map<dev_t, bool> known_;
};

}  // namespace feedrate::storage
