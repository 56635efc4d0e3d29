#include "base/error.h"
#include "device/registry.h"
#include "train/accelerators.h"
#include "train/augment_kernel.h"
#include "train/normalise_kernel.h"

namespace feedrate::train {
namespace {

[[noreturn]] void refuse() {
  throw Error(
      "--device cuda", "this build has a LibTorch for CPUs only",
      "build with a LibTorch for CUDA (scripts/bootstrap), or use --device cpu or emulated:NAME");
}

}  // namespace

at::Tensor augment_on_cuda(const AugmentBatch&) { refuse(); }
at::Tensor normalise_on_cuda(const at::Tensor&, const at::Tensor&) { refuse(); }
at::Tensor normalise_space_to_depth_on_cuda(const at::Tensor&, const at::Tensor&) { refuse(); }

AcceleratorKind cuda_kind() {
  return {.name = "cuda",
          .help = "trains on an NVIDIA GPU (not in this build)",
          .make = [](std::string_view, const StepSpec&, Group&) -> std::unique_ptr<Accelerator> {
            refuse();
          },
          .count = [] { return 0; },
          .check = [](std::string_view, const StepSpec&) { refuse(); }};
}

}  // namespace feedrate::train
