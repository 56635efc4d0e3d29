#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "codec/codec.h"
#include "pipeline/encoded_slot.h"
#include "support_cuda.h"
#include "train/copy_engine_cuda.h"
#include "train/jpeg_decoder.h"
#include "train/pinned_slabs_cuda.h"

namespace feedrate::tests {
namespace {

class CudaJpeg : public OnGpu {
 protected:
  // Pictures with gradients and a moving edge, each another one; `subsampling` as EncodeOptions has
  // it.
  static std::vector<std::vector<std::byte>> pictures(int count, codec::PixelSize size,
                                                      const char* subsampling) {
    std::vector<std::vector<std::byte>> all;
    for (int i = 0; i < count; ++i) {
      std::vector<std::uint8_t> pixels;
      for (int y = 0; y < size.height; ++y) {
        for (int x = 0; x < size.width; ++x) {
          const int edge = x + y > 8 * i ? 60 : 0;
          for (const int value : {x / 2 + edge, y / 2 + edge, 2 * i + (x + y) / 4})
            pixels.push_back(static_cast<std::uint8_t>(std::min(value, 255)));
        }
      }
      codec::find_picture_format("jpeg")->encode(
          {pixels.data(), 3 * size.width, size.width, size.height}, {.subsampling = subsampling},
          all.emplace_back());
    }
    return all;
  }
  static at::Tensor by_host(const std::vector<std::vector<std::byte>>& files,
                            codec::PixelSize size) {
    const auto decoder = codec::find_picture_format("jpeg")->make_decoder();
    std::vector<at::Tensor> all;
    for (const auto& file : files) {
      decoder->open(file, "a picture");
      const codec::PixelView view = decoder->decode({0, 0, size.width, size.height}, 1).pixels;
      all.push_back(at::from_blob(const_cast<std::uint8_t*>(view.data),
                                  {size.height, size.width, 3}, {view.stride, 3, 1}, at::kByte)
                        .clone());
    }
    return at::stack(all);
  }
};

// In two rounds, so that both slots and their states come again. nvJPEG may upsample chroma and
// round otherwise than libjpeg: a mean of one level, and more at edges only.
TEST_F(CudaJpeg, GivesThePixelsThatTheHostDecodes) {
  const codec::PixelSize size{160, 120};
  for (const char* subsampling : {"444", "420"}) {
    for (const int share : {100, 50, 0}) {
      const auto files = pictures(24, size, subsampling);
      device::StepSpec spec = small_spec(device::Feed::streamed, "fp32", false, "library");
      std::size_t largest = 0;
      for (const auto& file : files) largest = std::max(largest, file.size());
      spec.batch = {.batch_size = static_cast<int>(files.size()),
                    .size = size,
                    .encoded_slot = pipeline::encoded_slot_for(largest)};
      spec.engine_share = share;
      train::CopyEngine engine(spec.batch, stream(), train::nvjpeg_decoder(spec, 0));
      const auto ring = pipeline::SlabRing::make(spec.batch, 2, train::pinned_slabs());
      const at::Tensor expected = by_host(files, size).to(at::kFloat);
      for (int round = 0; round < 4; ++round) {
        pipeline::BatchLease batch = ring->acquire();
        for (std::size_t i = 0; i < files.size(); ++i) {
          std::copy(files[i].begin(), files[i].end(),
                    pipeline::open_encoded_slot(batch->pixels + i * spec.batch.encoded_slot,
                                                files[i].size())
                        .begin());
        }
        const std::size_t slot = engine.schedule().copy(std::move(batch));
        const at::Tensor away = (engine[slot].pixels.cpu().to(at::kFloat) - expected).abs();
        EXPECT_LT(away.mean().item<float>(), 1.0f)
            << subsampling << ", engine " << share << ", round " << round;
        EXPECT_LT((away > 24).to(at::kFloat).mean().item<float>(), 0.01f)
            << subsampling << ", engine " << share << ", round " << round;
        engine.schedule().done_reading();
      }
      engine.schedule().wait();
      const device::DecodedBy by = engine.schedule().arrivals().decoded;
      EXPECT_EQ(by.engine + by.processors + by.host, 4 * std::ssize(files));
      EXPECT_EQ(by.host, 0) << "ordinary JPEGs are not for the host";
      EXPECT_GT(engine.schedule().arrivals().busy_ns, 0);
    }
  }
}

}  // namespace
}  // namespace feedrate::tests
