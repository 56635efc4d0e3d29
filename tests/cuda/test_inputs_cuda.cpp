#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "codec/tensor.h"
#include "data_gen/drawn_batch.h"
#include "support_cuda.h"
#include "train/batch_augment.h"
#include "train/host_batch.h"
#include "train/inputs_cuda.h"
#include "train/pinned_slabs_cuda.h"

namespace feedrate::tests {
namespace {

struct Inputs {
  at::Tensor on_gpu, on_cpu;
};

class CudaInputsTest : public OnGpu {
 protected:
  // What both make of one batch, each sample of which is augmented as `policy` draws.
  Inputs made_by_both(const device::StepSpec& spec, const pipeline::AugmentPolicy& policy) {
    pipeline::BatchLease batch = some_host_batch(spec, 1);
    for (int i = 0; i < spec.batch.batch_size; ++i) {
      batch->augmentations[static_cast<std::size_t>(i)] =
          pipeline::draw_augmentation(policy, spec.batch.size, 77 + static_cast<std::uint64_t>(i));
    }
    const train::InputMaker maker(spec, at::kCPU, at::kFloat);
    const at::Tensor on_cpu =
        maker(train::borrow_pixels(*batch, spec.batch), maker.parameters(*batch));
    train::CudaInputs inputs(spec, at::kFloat, stream());
    const at::Tensor on_gpu = inputs.make(inputs.next(std::move(batch))).input.cpu();
    inputs.wait();
    return {on_gpu, on_cpu};
  }
};

// Many batches through two slabs and two buffers. The device is busy before it reads each, so that
// the host and the copies are ahead: a slab filled before it was copied, or a buffer overwritten
// before it was read, gives another sum.
TEST_F(CudaInputsTest, ArriveWholeAndInOrder) {
  device::StepSpec spec = small_spec(device::Feed::streamed, "fp32", false, "library");
  spec.batch.size = {128, 128};
  constexpr int kBatches = 60;
  const auto ring = pipeline::SlabRing::make(spec.batch, 2, train::pinned_slabs());
  train::CudaInputs inputs(spec, at::kFloat, stream());
  const at::Tensor matrix = at::ones({4096, 4096}, at::TensorOptions(device())) / 4096;
  at::Tensor busy = matrix;
  std::vector<at::Tensor> sums;
  for (int i = 0; i < kBatches; ++i) {
    pipeline::BatchLease batch = ring->acquire();
    std::memset(batch->pixels, i, spec.batch.bytes());
    std::fill(batch->labels.begin(), batch->labels.end(), i % spec.classes);
    const std::size_t slot = inputs.next(std::move(batch));
    for (int k = 0; k < 3; ++k) busy = at::mm(busy, matrix);
    const train::TrainBatch ready = inputs.make(slot);
    sums.push_back(at::stack(
        {ready.input.select(1, 0).to(at::kDouble).mean(), ready.labels.to(at::kDouble).mean()}));
    inputs.done_reading(slot);
    inputs.release();
  }
  inputs.wait();
  EXPECT_TRUE(busy.isfinite().all().item<bool>());
  for (int i = 0; i < kBatches; ++i) {
    const at::Tensor got = sums[static_cast<std::size_t>(i)].cpu();
    EXPECT_NEAR(got[0].item<double>(), (i / 255.0 - codec::kMean[0]) / codec::kStd[0], 1e-5)
        << "batch " << i;
    EXPECT_EQ(got[1].item<double>(), i % spec.classes) << "batch " << i;
  }
}

// One level of a pixel is 1 / 255 / 0.22; jitter multiplies it by its factors, up to 1.4 each.
TEST_F(CudaInputsTest, AreAugmentedAsOnTheCpu) {
  constexpr float kLevel = 0.018f;
  for (const auto filter : {pipeline::ResizeFilter::antialias, pipeline::ResizeFilter::bilinear}) {
    for (const bool jitter : {false, true}) {
      device::StepSpec spec = small_spec(device::Feed::streamed, "fp32", false, "library");
      spec.augmentation = {{.output = {24, 24}, .filter = filter, .jitter = jitter}};
      const Inputs made = made_by_both(spec, {.crop_and_flip = true, .jitter = jitter});
      const at::Tensor difference = (made.on_gpu - made.on_cpu).abs();
      EXPECT_LT(difference.max().item<float>(), jitter ? 4 * kLevel : kLevel);
      EXPECT_LT(difference.mean().item<float>(), 0.3f * kLevel);
    }
  }
}

// Integers, and sums that no kernel contracts: the same bytes, then the same division.
TEST_F(CudaInputsTest, AreMaskedAsOnTheCpu) {
  for (const auto order : {pipeline::MaskColour::cropped, pipeline::MaskColour::whole}) {
    device::StepSpec spec = small_spec(device::Feed::streamed, "fp32", false, "library");
    spec.batch.normalisation = codec::Normalisation::unit;
    spec.augmentation = {{.output = {24, 24}, .mask_colour = order}};
    pipeline::AugmentPolicy policy;
    policy.mask_colour = order, policy.crop = {24, 24};
    const Inputs made = made_by_both(spec, policy);
    EXPECT_TRUE(at::equal(made.on_gpu, made.on_cpu))
        << (made.on_gpu - made.on_cpu).abs().max().item<float>();
  }
}

// The same pictures by the same table. Labels come from the device's own generator.
TEST_F(CudaInputsTest, ShowTheCeilingsPicturesAsOnTheCpu) {
  device::StepSpec spec = small_spec(device::Feed::synthetic, "fp32", false, "library");
  spec.draw = data_gen::draw_batch;
  train::SyntheticRing on_cpu(spec, at::kFloat, at::kCPU);
  train::CudaInputs inputs(spec, at::kFloat, stream());
  ASSERT_EQ(inputs.slots(), on_cpu.slots());
  for (std::size_t i = 0; i < on_cpu.slots(); ++i) {
    const at::Tensor on_gpu = inputs.make(inputs.next(nullptr)).input.cpu();
    EXPECT_TRUE(at::equal(on_gpu, on_cpu.next().input)) << i;
  }
}

}  // namespace
}  // namespace feedrate::tests
