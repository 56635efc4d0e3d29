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
void decode(benchmark::State& state, const Format& format, PixelSize stored, bool crop, Material& material) {
  std::vector<std::byte> file;
  format.encode(material.picture(stored).view(), {}, file);
  const auto decoder = format.make_decoder();
  std::uint64_t seed = 0;
  for (auto _ : state) {
    const PixelSize size = decoder->open(file, format.name);
    const Rect window =
        crop ? random_resized_crop(size, seed++).window : Rect{0, 0, size.width, size.height};
    benchmark::DoNotOptimize(decoder->decode(window).data);
  }
  set_rates(state, 1, static_cast<std::int64_t>(file.size()));
}

// Looks at the header only: the payload is copied by the collation.
void parse(benchmark::State& state, Dtype dtype) {
  const Picture picture = synthesise_picture(1, kInput);
  std::vector<std::byte> file;
  encode_tensor(picture.view(), dtype, file);
  for (auto _ : state) benchmark::DoNotOptimize(parse_tensor(file, "tensor").payload.data());
  set_rates(state, 1, 0);
}

}  // namespace

void register_decode(Material& material) {
  for (const Format& format : picture_formats()) {
    for (const PixelSize stored : kStoredSizes) {
      for (const bool crop : {false, true}) {
        const std::string name = "decode/" + std::string(format.name) + "/" + to_string(stored) + (crop ? "/crop" : "/whole");
        benchmark::RegisterBenchmark(name.c_str(), [&format, stored, crop, &material](benchmark::State& state) {
          decode(state, format, stored, crop, material);
        })->Unit(benchmark::kMicrosecond);
      }
    }
  }
  for (const Dtype dtype : {Dtype::uint8, Dtype::fp16, Dtype::fp32}) {
    const std::string name = "parse/tensor-" + std::string(name_of(dtype));
    benchmark::RegisterBenchmark(name.c_str(), parse, dtype);
  }
}

}  // namespace feedrate::micro
