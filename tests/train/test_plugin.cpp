#include <dlfcn.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "device/accelerator.h"
#include "device/registry.h"

namespace feedrate::tests {
namespace {

// The library as the program loads it: its symbols are its own, its errors are ours.
TEST(TrainingLibrary, RegistersItsDevicesAndThrowsErrorsThatTheProgramCatches) {
  void* library = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto register_all =
      reinterpret_cast<device::RegisterAccelerators>(dlsym(library, device::kRegisterSymbol));
  ASSERT_NE(register_all, nullptr) << dlerror();
  device::AcceleratorRegistry registry;
  const std::size_t before = registry.kinds().size();
  register_all(registry);
  ASSERT_EQ(registry.kinds().size(), before + 2);
  const device::AcceleratorKind& cpu = registry.kinds()[before];
  EXPECT_EQ(cpu.name, "cpu");
  EXPECT_EQ(registry.kinds()[before + 1].name, "cuda");
  device::StepSpec spec;
  spec.model = "resnet50";
  spec.precision = "fp8";
  EXPECT_THROW(cpu.check("", spec), UsageError);
}

TEST(TrainingLibrary, ExportsNothingElse) {
  void* library = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  EXPECT_EQ(dlsym(library, "_ZN8feedrate5train8cpu_kindEv"), nullptr);
}

}  // namespace
}  // namespace feedrate::tests
