#include "support_cuda.h"

#include "train/devices_cuda.h"
#include "train/pinned_slabs_cuda.h"

namespace feedrate::tests {

void OnGpu::SetUp() {
  if (train::cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU";
  at::globalContext().setAllowTF32CuDNN(false);  // LibTorch's default, which rounds fp32
  stream_.emplace(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, /*device=*/0));
}

device::StepSpec small_spec(device::Feed feed, const char* precision, bool graph,
                            const char* batch_norm) {
  device::StepSpec spec{.batch = {.batch_size = 64, .size = {32, 32}},
                        .model = "resnet18",
                        .classes = 8,
                        .precision = precision,
                        .pin_memory = true,
                        .seed = 3,
                        .feed = feed};
  spec.step.cuda_graph = graph;
  spec.step.batch_norm = batch_norm;
  spec.step.master_weights = true;
  return spec;
}

pipeline::BatchLease some_host_batch(const device::StepSpec& spec, int seed) {
  const auto ring = pipeline::SlabRing::make(spec.batch, 1, train::pinned_slabs());
  pipeline::BatchLease batch = ring->acquire();
  unsigned noise = 2463534242u + static_cast<unsigned>(seed);
  const auto next = [&] {
    noise ^= noise << 13, noise ^= noise >> 17, noise ^= noise << 5;
    return static_cast<std::uint8_t>(noise >> 8);
  };
  // Of random bytes, some floats would be no numbers.
  const bool are_floats = spec.batch.dtype == codec::Dtype::fp32;
  auto* const floats = reinterpret_cast<float*>(batch->pixels);
  auto* const bytes = reinterpret_cast<std::uint8_t*>(batch->pixels);
  const std::size_t count = spec.batch.bytes() / (are_floats ? sizeof(float) : 1);
  for (std::size_t i = 0; i < count; ++i) {
    if (are_floats)
      floats[i] = static_cast<float>(next()) / 64 - 2;
    else
      bytes[i] = next();
  }
  for (std::size_t i = 0; i < batch->labels.size(); ++i)
    batch->labels[i] = (static_cast<std::int64_t>(i) + seed) % spec.classes;
  return batch;
}

}  // namespace feedrate::tests
