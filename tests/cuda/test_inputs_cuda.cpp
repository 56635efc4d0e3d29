#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <vector>

#include "support_cuda.h"
#include "train/batch_augment.h"
#include "train/host_batch.h"
#include "train/inputs_cuda.h"

namespace feedrate {
namespace {

class CudaInputsTest : public OnGpu {};

// Many batches through two buffers, each summed on the device while the next ones are copied: a slab filled too
// early, or a buffer overwritten while it is read, gives another sum.
TEST_F(CudaInputsTest, ArriveWholeAndInOrder) {
  const StepSpec spec = small_spec(Feed::streamed, "fp32", false, "library");
  constexpr int kBatches = 200;
  CudaInputs inputs(spec, at::kFloat, stream());
  std::vector<double> expected;
  std::vector<at::Tensor> sums;
  for (int i = 0; i < kBatches; ++i) {
    BatchLease batch = some_host_batch(spec, i);
    expected.push_back(Normaliser(at::kCPU, at::kFloat)(borrow_pixels(*batch, spec.batch)).to(at::kDouble).sum().item<double>());
    const std::size_t slot = inputs.next(std::move(batch));
    const TrainBatch ready = inputs.make(slot);
    at::Tensor sum = ready.input.to(at::kDouble).sum();
    for (int busy = 0; busy < 20; ++busy) sum = sum + (ready.input.to(at::kDouble).sum() - sum);  // read for a while
    sums.push_back(sum);
    inputs.done_reading();
  }
  inputs.wait();
  for (int i = 0; i < kBatches; ++i) EXPECT_NEAR(sums[i].item<double>(), expected[i], 1e-6 * std::abs(expected[i]) + 1e-3) << "batch " << i;
}

TEST_F(CudaInputsTest, AreAugmentedAsOnTheCpu) {
  StepSpec spec = small_spec(Feed::streamed, "fp32", false, "library");
  spec.augment_to = PixelSize{24, 24};
  spec.jitter = true;
  BatchLease batch = some_host_batch(spec, 1);
  for (int i = 0; i < spec.batch.batch_size; ++i) {
    batch->augmentations.push_back(draw_augmentation({true, true}, spec.batch.size, 77 + static_cast<std::uint64_t>(i)));
  }
  const InputMaker on_cpu(spec, at::kCPU, at::kFloat);
  const at::Tensor expected = on_cpu(borrow_pixels(*batch, spec.batch), on_cpu.parameters(*batch));
  CudaInputs inputs(spec, at::kFloat, stream());
  const at::Tensor ours = inputs.make(inputs.next(std::move(batch))).input.cpu();
  inputs.wait();
  EXPECT_LT((ours - expected).abs().max().item<float>(), 0.02f);  // of about 4.6; half a level of a pixel
}

}  // namespace
}  // namespace feedrate
