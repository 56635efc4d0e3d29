#include "pipeline/augment.h"
#include "pipeline/resize.h"

#include <string>
#include <vector>

#include "benchmarks/micro/micro.h"

namespace feedrate::micro {
namespace {

codec::PixelView cut(const codec::PixelView& picture, const codec::Rect& window) {
  return {picture.data + window.y * picture.stride + window.x * 3, picture.stride, window.width,
          window.height};
}

// A window resized to the network's input and flipped. `crop`: the random-resized-crop's windows
// one after the other; else the whole picture. Bytes are those of the window's pixels.
void resize(benchmark::State& state, pipeline::ResizeFilter filter, codec::PixelSize stored,
            bool crop, bool flip, Material& material) {
  const codec::PixelView picture = material.picture(stored).view();
  pipeline::Resizer resizer;
  std::vector<std::uint8_t> out(static_cast<std::size_t>(kInput.width) * kInput.height * 3);
  std::uint64_t seed = 0;
  std::int64_t bytes = 0;
  for (auto _ : state) {
    const codec::Rect window = crop ? pipeline::random_resized_crop(stored, seed++).window
                                    : codec::Rect{0, 0, stored.width, stored.height};
    resizer.resize(codec::DecodedWindow(cut(picture, window)), kInput, flip, filter, out.data());
    benchmark::ClobberMemory();
    bytes += static_cast<std::int64_t>(window.width) * window.height * 3;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
  state.SetBytesProcessed(bytes);
}

}  // namespace

void register_augment(Material& material) {
  for (const char* const filter_name : {"bilinear", "antialias", "area"}) {
    const pipeline::ResizeFilter filter = pipeline::resize_filter_from(filter_name);
    for (const codec::PixelSize stored : kStoredSizes) {
      const std::string name =
          std::string("augment/") + filter_name + "/" + codec::to_string(stored);
      const auto add = [&](const char* what, bool crop, bool flip) {
        benchmark::RegisterBenchmark((name + what).c_str(), [=,
                                                             &material](benchmark::State& state) {
          resize(state, filter, stored, crop, flip, material);
        })->Unit(benchmark::kMicrosecond);
      };
      add("/whole", false, false);
      add("/crop/flip", true, true);
    }
  }
}

}  // namespace feedrate::micro
