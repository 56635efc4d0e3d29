#include <vector>

#include "benchmarks/micro/micro.h"
#include "codec/tensor.h"

namespace feedrate::micro {
namespace {

// One picture's pixels into the type that crosses the bus. Bytes are those written.
void normalise_picture(benchmark::State& state, codec::Dtype to, Material& material) {
  const auto pixels = static_cast<std::size_t>(kInput.width) * kInput.height;
  std::vector<std::byte> out(pixels * 3 * codec::size_of(to));
  for (auto _ : state) {
    codec::normalise(material.picture().pixels.data(), pixels, to, out.data());
    benchmark::ClobberMemory();
  }
  set_rates(state, 1, static_cast<std::int64_t>(out.size()));
}

}  // namespace

void register_normalise(Material& material) {
  for (const codec::Dtype to : {codec::Dtype::fp16, codec::Dtype::fp32}) {
    benchmark::RegisterBenchmark(
        ("normalise/" + std::string(codec::name_of(to))).c_str(),
        [to, &material](benchmark::State& state) { normalise_picture(state, to, material); })
        ->Unit(benchmark::kMicrosecond);
  }
}

}  // namespace feedrate::micro
