#include "measure/mounts.h"
#include "tests/measure/made_up_system.h"

namespace feedrate::tests {
namespace {

class Mounts : public MadeUpSystem {
 protected:
  std::string point_of(const char* path) {
    const auto mount = measure::mount_of(path, root_ / "proc");
    return mount ? mount->point : "none";
  }
};

TEST_F(Mounts, TheLongestPointHoldsAPath) {
  write("proc/self/mounts",
        "/dev/vda / ext4 rw,relatime 0 0\n"
        "server:/export /data nfs4 rw,vers=4.2 0 0\n"
        "/dev/vdb /data/of\\040mine xfs rw 0 0\n");
  EXPECT_EQ(point_of("/home"), "/");
  EXPECT_EQ(point_of("/data"), "/data");
  EXPECT_EQ(point_of("/data/jpeg/a.jpg"), "/data");
  EXPECT_EQ(point_of("/database"), "/") << "no folder below /data";
  EXPECT_EQ(point_of("/data/of mine/a"), "/data/of mine");
  const auto mount = measure::mount_of("/data/x", root_ / "proc");
  EXPECT_EQ(mount->type, "nfs4");
  EXPECT_EQ(mount->device, "server:/export");
  EXPECT_EQ(mount->options, "rw,vers=4.2");
}

TEST_F(Mounts, TheLaterOfTwoHidesTheOther) {
  write("proc/self/mounts", "/dev/vda /data ext4 rw 0 0\ntmpfs /data tmpfs rw 0 0\n");
  EXPECT_EQ(measure::mount_of("/data", root_ / "proc")->type, "tmpfs");
}

TEST_F(Mounts, WhatCannotBeReadIsNone) {
  EXPECT_EQ(point_of("/no such folder"), "none");
  write("proc/self/mounts", "\n/dev/vda\n");
  EXPECT_EQ(point_of("/no such folder"), "none");
}

// As in a chroot.
TEST_F(Mounts, OneThatIsNotListedHasItsTypeAlone) {
  const auto listed = measure::mount_of("/dev/shm");
  if (!listed || listed->type != "tmpfs") GTEST_SKIP() << "/dev/shm is no tmpfs here";
  write("proc/self/mounts", "proc /proc proc rw 0 0\n");
  const auto found = measure::mount_of("/dev/shm", root_ / "proc");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->type, "tmpfs");
  EXPECT_EQ(found->device, "");
}

TEST(FileSystems, OfAServerOrAProgramAreTold) {
  for (const char* type : {"nfs", "nfs4", "cifs", "smb3", "ceph", "lustre", "glusterfs", "9p",
                           "beegfs", "gpfs", "virtiofs", "afs", "fuse", "fuse.sshfs", "fuseblk"})
    EXPECT_TRUE(measure::is_served(type)) << type;
  for (const char* type : {"ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "nfsd", ""})
    EXPECT_FALSE(measure::is_served(type)) << type;
}

}  // namespace
}  // namespace feedrate::tests
