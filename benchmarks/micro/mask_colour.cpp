#include "pipeline/mask_colour.h"

#include <string>
#include <vector>

#include "benchmarks/micro/micro.h"

namespace feedrate::micro {
namespace {

using codec::PixelSize;

constexpr PixelSize kWhole{1024, 1024};  // the article's stored pictures

std::int64_t bytes_of(PixelSize size) { return 3LL * size.width * size.height; }

// A picture of that size and its mask. Bytes are those of its pixels.
struct Masked {
  Masked(Material& material, PixelSize of)
      : size(of),
        view(material.picture(of).view()),
        drawn(pipeline::mask_words(of)),
        spread(drawn.size()),
        out(static_cast<std::size_t>(bytes_of(of))) {
    pipeline::draw_mask(size, 1, drawn.data());
    pipeline::dilate(size, drawn.data(), spread.data());
  }
  PixelSize size;
  codec::PixelView view;
  std::vector<std::uint64_t> drawn, spread;
  std::vector<std::uint8_t> out;
  pipeline::MaskColourer colourer;
};

template <typename Work>
void measure(benchmark::State& state, PixelSize size, Material& material, const Work& work) {
  Masked picture(material, size);
  std::uint64_t seed = 0;
  for (auto _ : state) {
    work(picture, seed++);
    benchmark::ClobberMemory();
  }
  set_rates(state, 1, bytes_of(size));
}

template <typename Work>
void add(const char* what, PixelSize size, Material& material, const Work& work) {
  const std::string name = std::string("mask_colour/") + what + "/" + codec::to_string(size);
  benchmark::RegisterBenchmark(name.c_str(), [=, &material](benchmark::State& state) {
    measure(state, size, material, work);
  })->Unit(benchmark::kMicrosecond);
}

}  // namespace

// Its parts, and all of it: of a crop (mask-color), of a whole picture (mask-color-crop-last).
void register_mask_colour(Material& material) {
  for (const PixelSize size : {kInput, kWhole}) {
    add("draw", size, material, [](Masked& picture, std::uint64_t seed) {
      pipeline::draw_mask(picture.size, seed, picture.drawn.data());
    });
    add("dilate", size, material, [](Masked& picture, std::uint64_t) {
      pipeline::dilate(picture.size, picture.drawn.data(), picture.spread.data());
    });
    add("colour", size, material, [](Masked& picture, std::uint64_t) {
      pipeline::mask_and_colour(picture.view, picture.spread.data(), picture.out.data());
    });
    add("all", size, material, [](Masked& picture, std::uint64_t seed) {
      picture.colourer.apply(picture.view, seed, picture.out.data());
    });
  }
}

}  // namespace feedrate::micro
