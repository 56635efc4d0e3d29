#include "measure/mounts.h"

#include <sys/vfs.h>

#include <algorithm>
#include <cstdint>
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

// By the number that statfs() gives: statfs(2), linux/magic.h.
struct NamedNumber {
  std::uint32_t number;
  const char* name;
};
constexpr NamedNumber kTypes[] = {
    {0xef53, "ext4"},        {0x58465342, "xfs"},      {0x9123683e, "btrfs"},
    {0xf2f52010, "f2fs"},    {0x2fc12fc1, "zfs"},      {0x01021994, "tmpfs"},
    {0x794c7630, "overlay"}, {0x73717368, "squashfs"}, {0x6969, "nfs"},
    {0xff534d42, "cifs"},    {0xfe534d42, "smb3"},     {0x00c36400, "ceph"},
    {0x0bd00bd0, "lustre"},  {0x47504653, "gpfs"},     {0x01021997, "9p"},
    {0x5346414f, "afs"},     {0x65735546, "fuse"},     {0x19830326, "beegfs"},
    {0x73757245, "coda"},    {0x20030528, "orangefs"}, {0x786f4256, "vboxsf"}};

// In a chroot the file system of the root is in no table of mounts. Its type matters all the same:
// what a server may keep of a file is not seen here.
std::optional<Mount> unlisted(const std::filesystem::path& path) {
  struct statfs info;
  if (statfs(path.c_str(), &info) != 0) return std::nullopt;
  const auto number = static_cast<std::uint32_t>(info.f_type);
  const auto known = std::ranges::find(kTypes, number, &NamedNumber::number);
  if (known == std::end(kTypes)) return std::nullopt;
  return Mount{.type = known->name, .device = {}, .options = {}, .point = {}};
}

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
  return best ? best : unlisted(path);
}

bool is_served(std::string_view type) {
  // "fuse.sshfs", and "fuseblk": a program stands between the kernel and the bytes.
  return type.starts_with("fuse") || std::ranges::find(kServed, type) != std::end(kServed);
}

}  // namespace feedrate::measure
