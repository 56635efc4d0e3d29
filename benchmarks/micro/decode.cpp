#include <string>
#include <vector>

#include "benchmarks/micro/micro.h"
#include "codec/codec.h"
#include "codec/tensor.h"
#include "pipeline/augment.h"

namespace feedrate::micro {
namespace {

// The header, then the window's pixels. `crop`: the random-resized-crop's window, another one each
// time, as in training; else the whole picture. Bytes are those of the encoded file.
void decode(benchmark::State& state, const codec::Format& format, codec::PixelSize stored,
            bool crop, Material& material) {
  std::vector<std::byte> file;
  format.encode(material.picture(stored).view(), {}, file);
  const auto decoder = format.make_decoder();
  std::uint64_t seed = 0;
  for (auto _ : state) {
    const codec::PixelSize size = decoder->open(file, format.name);
    const codec::Rect window = crop ? pipeline::random_resized_crop(size, seed++).window
                                    : codec::Rect{0, 0, size.width, size.height};
    benchmark::DoNotOptimize(decoder->decode(window, 1).pixels.data);
  }
  set_rates(state, 1, static_cast<std::int64_t>(file.size()));
}

// Looks at the header only: the payload is copied by the collation.
void parse(benchmark::State& state, codec::Dtype dtype) {
  const data_gen::Picture picture = data_gen::synthesise_picture(1, kInput);
  std::vector<std::byte> file;
  codec::encode_tensor(picture.view(), dtype, file);
  for (auto _ : state) benchmark::DoNotOptimize(codec::parse_tensor(file, "tensor").payload.data());
  set_rates(state, 1, 0);
}

}  // namespace

void register_decode(Material& material) {
  for (const codec::Format& format : codec::picture_formats()) {
    for (const codec::PixelSize stored : kStoredSizes) {
      for (const bool crop : {false, true}) {
        const std::string name = "decode/" + std::string(format.name) + "/" +
                                 codec::to_string(stored) + (crop ? "/crop" : "/whole");
        benchmark::RegisterBenchmark(name.c_str(), [&format, stored, crop,
                                                    &material](benchmark::State& state) {
          decode(state, format, stored, crop, material);
        })->Unit(benchmark::kMicrosecond);
      }
    }
  }
  for (const codec::Dtype dtype : {codec::Dtype::uint8, codec::Dtype::fp16, codec::Dtype::fp32}) {
    const std::string name = "parse/tensor-" + std::string(codec::name_of(dtype));
    benchmark::RegisterBenchmark(name.c_str(), parse, dtype);
  }
}

}  // namespace feedrate::micro
