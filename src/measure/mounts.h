#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace feedrate::measure {

// A mounted file system.
struct Mount {
  std::string type;     // "ext4", "nfs4", "fuse.sshfs"
  std::string device;   // "/dev/vda1", "server:/export"
  std::string options;  // "rw,relatime"
  std::string point;    // the folder that it is mounted at
};

// The one that holds `path`, an absolute path without links. Of one that the table of mounts does
// not list, as in a chroot, only the type is known; none where even that is unknown. Tests give
// another folder as `proc`.
std::optional<Mount> mount_of(const std::filesystem::path& path,
                              const std::filesystem::path& proc = "/proc");

// Whether a file system of this type gets its bytes from a server, or from a program on this
// machine. Either may keep them in a cache of its own, which nothing here can see or drop.
bool is_served(std::string_view type);

// A path as the kernel's tables write it: a blank is "\040".
std::string unescaped(std::string_view text);

}  // namespace feedrate::measure
