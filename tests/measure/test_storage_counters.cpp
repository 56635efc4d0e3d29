#include "measure/storage_counters.h"

#include "base/text.h"
#include "tests/measure/made_up_devices.h"

namespace feedrate::tests {
namespace {

class StorageCounters : public MadeUpDevices {
 protected:
  measure::StorageCounters counters() {
    return measure::StorageCounters(root_, root_ / "proc", root_ / "sys");
  }
  static std::string text(const std::vector<measure::StorageCounter>& counters) {
    return listed(counters, [](const measure::StorageCounter& counter) {
      return counter.name + " " + std::to_string(counter.depth) + " " +
             std::to_string(counter.read_bytes);
    });
  }
};

TEST_F(StorageCounters, AreOfEachDevice) {
  device("dm-0", 10), device("vda", 100);
  made_of("dm-0", "vda");
  on("dm-0");
  const measure::StorageCounters all = counters();
  const auto before = all.read();
  EXPECT_EQ(text(before), "dm-0 0 5120, vda 1 51200");
  device("dm-0", 12), device("vda", 108);
  EXPECT_EQ(text(measure::read_between(before, all.read())), "dm-0 0 1024, vda 1 4096");
}

// In the form of Linux 6.1.
TEST_F(StorageCounters, OfNfsAreInMountstats) {
  write("proc/self/mounts", "server:/a / nfs4 rw 0 0\n");
  write("proc/self/mountstats",
        "device rootfs mounted on / with fstype rootfs\n"
        "device tmpfs mounted on /run with fstype tmpfs\n"
        "device server:/b mounted on /other with fstype nfs4 statvers=1.1\n"
        "\topts:\trw,vers=4.2\n"
        "\tbytes:\t9 9 9 9 9 9 9 9\n"
        "device server:/a mounted on / with fstype nfs4 statvers=1.1\n"
        "\topts:\trw,vers=4.2\n"
        "\tage:\t77\n"
        "\tbytes:\t100 2 30 4 125 6 7 8\n"
        "\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n");
  EXPECT_EQ(text(counters().read()),
            "nfs.normal_read -1 100, nfs.direct_read -1 30, nfs.server_read -1 125");
  write("proc/self/mountstats", "device server:/a mounted on / with fstype nfs4\n\tbytes:\tmany\n");
  EXPECT_EQ(text(counters().read()), "");
}

TEST_F(StorageCounters, OfXfsAreItsOwnOrThoseOfAll) {
  write("proc/self/mounts", "/dev/vda / xfs rw 0 0\n");
  write("proc/fs/xfs/stat", "rw 5 6\nxpc 1 2 3000\n");
  device("vda", 1);
  on("vda");
  EXPECT_EQ(text(counters().read()), "xfs.read -1 3000, vda 0 512");
  write("sys/fs/xfs/vda/stats/stats", "extent_alloc 1 2 3 4\nrw 5 6\nxpc 1 2 700\ndebug 0\n");
  EXPECT_EQ(text(counters().read()), "xfs.read -1 700, vda 0 512");
}

TEST(ReadByOthers, IsWhatTheRunDidNotRead) {
  EXPECT_EQ(measure::read_by_others({{"xfs.read", -1, 900}, {"vda", 0, 202}}, 170), 32);
  EXPECT_EQ(measure::read_by_others({{"vda", 0, 160}}, 170), 0) << "read-ahead of before";
}

// Checksums, the rest of a RAID that lacks a disk, a loop device's read-ahead.
TEST(ReadByOthers, KnowsNothingOfWhatALayerReadsForItself) {
  EXPECT_EQ(measure::read_by_others({{"dm-0", 0, 170}, {"vda", 1, 220}}, 170), 0);
  EXPECT_EQ(measure::read_by_others({{"md0", 0, 170}, {"sda", 1, 170}, {"sdb", 1, 170}}, 170), 0);
  EXPECT_EQ(measure::read_by_others({{"loop0", 0, 170}, {"vda", 1, 400}}, 170), 0);
  EXPECT_EQ(measure::read_by_others({{"loop0", 0, 200}, {"vda", 1, 400}}, 170), 30);
}

TEST(ReadByOthers, IsUnknownWithoutADevice) {
  EXPECT_EQ(measure::read_by_others({}, 170), -1);
  EXPECT_EQ(measure::read_by_others({{"nfs.server_read", -1, 900}}, 170), -1);
  EXPECT_EQ(measure::read_by_others({{"vda", 0, 202}}, -1), -1);
}

TEST_F(StorageCounters, WhatCannotBeReadIsLeftOut) {
  EXPECT_EQ(text(counters().read()), "");
  device("vda", 1);
  on("vda");
  const measure::StorageCounters all = counters();
  const auto before = all.read();
  write("sys/devices/vda/stat", "nonsense\n");
  EXPECT_EQ(text(all.read()), "");
  EXPECT_EQ(text(measure::read_between(before, all.read())), "");
  EXPECT_EQ(text(measure::read_between({{"vda", 0, 7}}, {{"vda", 0, 5}})), "")
      << "a counter that began anew";
  measure::StorageCounters("/nowhere").read();
}

}  // namespace
}  // namespace feedrate::tests
