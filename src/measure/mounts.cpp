#include "measure/mounts.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

namespace feedrate::measure {
namespace {

// Over a network, or through a hypervisor from its host.
constexpr std::string_view kServed[] = {
    "9p",     "afs",  "beegfs", "ceph",   "cifs",     "coda",     "glusterfs", "gpfs",
    "lustre", "mmfs", "ncpfs",  "nfs",    "nfs4",     "orangefs", "panfs",     "prl_fs",
    "pvfs2",  "smb3", "smbfs",  "vboxsf", "virtiofs", "vmhgfs",   "wekafs"};

bool is_inside(const std::string& path, const std::string& point) {
  return path.starts_with(point) &&
         (point == "/" || path.size() == point.size() || path[point.size()] == '/');
}

}  // namespace

std::string unescaped(std::string_view text) {
  std::string plain;
  const auto octal = [&](std::size_t i) {
    return i < text.size() && text[i] >= '0' && text[i] < '8';
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || !octal(i + 1) || !octal(i + 2) || !octal(i + 3)) {
      plain += text[i];
      continue;
    }
    plain +=
        static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + text[i + 3] - '0');
    i += 3;
  }
  return plain;
}

std::optional<Mount> mount_of(const std::filesystem::path& path,
                              const std::filesystem::path& proc) {
  std::ifstream mounts(proc / "self/mounts");
  std::optional<Mount> best;
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream fields(line);
    Mount mount;
    if (!(fields >> mount.device >> mount.point >> mount.type >> mount.options)) continue;
    mount.device = unescaped(mount.device);
    mount.point = unescaped(mount.point);
    if (!is_inside(path.string(), mount.point)) continue;
    // Of two at one point, the later one hides the other.
    if (!best || mount.point.size() >= best->point.size()) best = mount;
  }
  return best;
}

bool is_served(std::string_view type) {
  // "fuse.sshfs", and "fuseblk": a program stands between the kernel and the bytes.
  return type.starts_with("fuse") || std::ranges::find(kServed, type) != std::end(kServed);
}

}  // namespace feedrate::measure
