#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "device/default_device.h"
#include "device/registry.h"
#include "tests/temporary_folder.h"

namespace feedrate::tests {
namespace {

device::DefaultDevice with_node(const char* name) {
  const TemporaryFolder dev;
  if (name) std::ofstream(dev.path() / name) << "";
  return device::default_device(dev.path());
}

TEST(DefaultDevice, IsEmulatedWhereNoGpuIs) {
  for (const char* node : {static_cast<const char*>(nullptr), "nvidiactl", "nvidia-uvm", "null"}) {
    EXPECT_EQ(with_node(node).name, "emulated:a100") << (node ? node : "none");
    EXPECT_EQ(with_node(node).why_no_gpu, "no GPU here");
  }
  EXPECT_EQ(device::default_device("/no/such/folder").name, "emulated:a100");
}

TEST(DefaultDevice, IsCudaWhereThisBuildCanUseIt) {
  for (const char* node : {"nvidia0", "nvidia12", "dxg"}) {
    const auto found = with_node(node);
    if (device::trains_on_devices()) {
      EXPECT_EQ(found.name, "cuda") << node;
      EXPECT_EQ(found.why_no_gpu, "");
    } else {
      EXPECT_EQ(found.name, "emulated:a100") << node;
      EXPECT_EQ(found.why_no_gpu, "this build has no LibTorch");
    }
  }
}

}  // namespace
}  // namespace feedrate::tests
