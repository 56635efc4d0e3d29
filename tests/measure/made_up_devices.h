#pragma once
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <string>

#include "tests/measure/made_up_system.h"

namespace feedrate::tests {

// A made-up /sys with block devices, which stand for those of this machine's file systems.
class MadeUpDevices : public MadeUpSystem {
 protected:
  MadeUpDevices() { std::filesystem::create_directories(root_ / "sys/dev/block"); }

  // A device that has read so many sectors. Its folder is below sys/devices.
  void device(const std::string& name, std::int64_t sectors) {
    write("sys/devices/" + name + "/stat", "7 0 " + std::to_string(sectors) + " 9 0 0 0 0 0 0 0\n");
  }
  // As a partition of a disk.
  void partition(const std::string& disk, const std::string& name, std::int64_t sectors) {
    device(disk + "/" + name, sectors);
    write("sys/devices/" + disk + "/" + name + "/partition", "1\n");
  }
  // The file system that holds root_, or another file, lies on the device.
  void on(const std::string& name, const std::filesystem::path& file = {}) {
    struct stat info;
    ASSERT_EQ(stat((file.empty() ? root_ : file).c_str(), &info), 0);
    link("sys/devices/" + name, "sys/dev/block/" + std::to_string(major(info.st_dev)) + ":" +
                                    std::to_string(minor(info.st_dev)));
  }
  void made_of(const std::string& name, const std::string& part) {
    link("sys/devices/" + part,
         "sys/devices/" + name + "/slaves/" + std::filesystem::path(part).filename().string());
  }
  void loop(const std::string& name, const std::filesystem::path& file, bool direct = false) {
    write("sys/devices/" + name + "/loop/backing_file", file.string() + "\n");
    write("sys/devices/" + name + "/loop/dio", direct ? "1\n" : "0\n");
  }
  void link(const std::string& to, const std::string& name) {
    std::filesystem::create_directories((root_ / name).parent_path());
    std::filesystem::remove(root_ / name);
    std::filesystem::create_symlink(root_ / to, root_ / name);
  }
};

}  // namespace feedrate::tests
