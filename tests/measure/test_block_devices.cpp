#include "measure/block_devices.h"

#include "base/text.h"
#include "tests/measure/made_up_devices.h"

namespace feedrate::tests {
namespace {

class BlockDevices : public MadeUpDevices {
 protected:
  std::vector<measure::BlockDevice> found() {
    return measure::block_devices_under(root_, root_ / "proc", root_ / "sys");
  }
  // "dm-0 0, vda1 1"
  std::string names() {
    return listed(found(), [](const measure::BlockDevice& device) {
      return device.name + " " + std::to_string(device.depth);
    });
  }
};

TEST_F(BlockDevices, APartitionStandsForItself) {
  partition("vda", "vda1", 5);
  on("vda/vda1");
  EXPECT_EQ(names(), "vda1 0");
  EXPECT_EQ(found().front().stat, root_ / "sys/devices/vda/vda1/stat");
}

TEST_F(BlockDevices, WhatADeviceIsMadeOfStandsBelowIt) {
  device("md0", 0), device("dm-0", 0), device("sdb", 0);
  partition("sda", "sda2", 0);
  made_of("md0", "dm-0"), made_of("md0", "sdb");
  made_of("dm-0", "sda/sda2");
  on("md0");
  EXPECT_EQ(names(), "md0 0, dm-0 1, sdb 1, sda2 2") << "the topmost first";
}

// Its file lies on another file system: here /proc stands for that.
TEST_F(BlockDevices, ALoopDeviceStandsOnItsFilesDevice) {
  device("loop0", 0), device("loop1", 0), device("vda", 0);
  on("loop0");
  loop("loop0", "/proc/version");
  EXPECT_EQ(names(), "loop0 0");
  on("vda", "/proc/version");
  EXPECT_EQ(names(), "loop0 0, vda 1");
  EXPECT_EQ(found().front().cached_file, "/proc/version");
  EXPECT_EQ(found().back().cached_file, "");
  loop("loop0", "/proc/version", true);
  EXPECT_EQ(names(), "loop0 0, vda 1");
  EXPECT_EQ(found().front().cached_file, "") << "it reads past the page cache";
  loop("loop0", root_ / "gone.img (deleted)");
  EXPECT_EQ(names(), "loop0 0");
}

TEST_F(BlockDevices, ADeviceThatStandsOnItselfEnds) {
  device("loop0", 0);
  on("loop0");
  write("disk.img", "x");
  loop("loop0", root_ / "disk.img");
  EXPECT_EQ(names(), "loop0 0");
}

// A partition of a loop device has no file of its own.
TEST_F(BlockDevices, APartitionHasItsDisksFile) {
  partition("loop0", "loop0p1", 0);
  write("disk.img", "x");
  loop("loop0", root_ / "disk.img");
  on("loop0/loop0p1");
  EXPECT_EQ(names(), "loop0p1 0");
  EXPECT_EQ(found().front().cached_file, root_ / "disk.img");
}

// Btrfs numbers its files by no device.
TEST_F(BlockDevices, TheMountNamesWhatTheNumberDoesNot) {
  device("vdb", 0);
  link("sys/devices/vdb", "sys/class/block/vdb");
  write("proc/self/mounts", "/dev/vdb / btrfs rw 0 0\n");
  EXPECT_EQ(names(), "vdb 0");
  write("proc/self/mounts", "server:/vdb / nfs4 rw 0 0\n");
  EXPECT_EQ(names(), "");
}

TEST_F(BlockDevices, WhatCannotBeSeenIsNone) {
  EXPECT_EQ(names(), "");
  EXPECT_TRUE(measure::block_devices_under("/nowhere").empty());
  measure::block_devices_under(root_);  // this machine's own: whatever they are
}

}  // namespace
}  // namespace feedrate::tests
