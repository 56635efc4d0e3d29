#pragma once
#include <cstdint>

#include "models/blocks.h"

// Kernels of models/blocks.h that crop, resize, flip and jitter whole batches of pictures, to what
// a worker makes of each sample (pipeline/resize.h, pipeline/jitter.h). A block works on one
// picture.
namespace feedrate::train {

// What was drawn for a picture.
struct Drawn {
  float x, y, width, height;  // its window, in stored pixels
  float flip;                 // 1: mirrored left to right
  float brightness, contrast, saturation;
};

C10_HOST_DEVICE inline float cut_to_bytes_range(float value) {
  return value < 0 ? 0.0f : value > 255 ? 255.0f : value;
}
C10_HOST_DEVICE inline std::uint8_t rounded_to_byte(float value) {
  return static_cast<std::uint8_t>(cut_to_bytes_range(value) + 0.5f);
}

// The pixels of a window that make an output pixel along one direction, and their weights: those of
// ResizeTaps, before they become fixed-point numbers.
struct Triangle {
  float centre, steepness;
  int first, end;

  C10_HOST_DEVICE Triangle(int output, int outputs, int length, bool antialias) {
    const float scale = static_cast<float>(length) / static_cast<float>(outputs);
    const float reach = antialias && scale > 1 ? scale : 1;  // half the triangle's base
    centre = (static_cast<float>(output) + 0.5f) * scale;
    steepness = 1 / reach;
    first = between(static_cast<int>(centre - reach + 0.5f), 0, length - 1);
    end = between(static_cast<int>(centre + reach + 0.5f), first + 1, length);
  }
  C10_HOST_DEVICE float weight(int pixel) const {
    const float away = static_cast<float>(pixel) + 0.5f - centre;
    const float left = 1 - (away < 0 ? -away : away) * steepness;
    return left < 0 ? 0 : left;
  }

 private:
  C10_HOST_DEVICE static int between(int value, int least, int most) {
    return value < least ? least : value > most ? most : value;
  }
};

// Windows of (N, stored_height, stored_width, 3) to (N, height, width, 3), an output pixel a
// thread.
struct ResizeBytes {
  static constexpr int kThreads = 256, kPhases = 1, kResident = 1024;
  struct Shared {};
  const std::uint8_t* in = nullptr;
  const Drawn* drawn = nullptr;
  std::uint8_t* out = nullptr;
  int stored_height = 0, stored_width = 0, height = 0, width = 0, blocks_of_picture = 0;
  bool antialias = false;

  template <int kPhase>
  C10_HOST_DEVICE void phase(models::Place place, Shared&) const {
    const int picture = place.block_x / blocks_of_picture;
    const int at = place.block_x % blocks_of_picture * kThreads + place.thread;
    if (at >= height * width) return;
    const Drawn& by = drawn[picture];
    const int column = by.flip > 0 ? width - 1 - at % width : at % width;
    const Triangle across(column, width, static_cast<int>(by.width), antialias);
    const Triangle down(at / width, height, static_cast<int>(by.height), antialias);
    const std::int64_t pixel = static_cast<std::int64_t>(picture) * height * width + at;
    blend(window(picture), across, down, out + 3 * pixel);
  }

 private:
  C10_HOST_DEVICE const std::uint8_t* window(int picture) const {
    const Drawn& by = drawn[picture];
    const std::int64_t row =
        static_cast<std::int64_t>(picture) * stored_height + static_cast<int>(by.y);
    return in + 3 * (row * stored_width + static_cast<int>(by.x));
  }
  C10_HOST_DEVICE void blend(const std::uint8_t* from, const Triangle& across, const Triangle& down,
                             std::uint8_t* rgb) const {
    float sums[3] = {0, 0, 0}, weights = 0;
    for (int y = down.first; y < down.end; ++y) {
      const std::uint8_t* const row = from + 3 * static_cast<std::int64_t>(y) * stored_width;
      for (int x = across.first; x < across.end; ++x) {
        const float weight = down.weight(y) * across.weight(x);
        weights += weight;
        for (int c = 0; c < 3; ++c) sums[c] += weight * static_cast<float>(row[3 * x + c]);
      }
    }
    for (int c = 0; c < 3; ++c) rgb[c] = rounded_to_byte(sums[c] / weights);
  }
};

// Brightness, contrast and saturation of (N, pixels, 3), in place: contrast needs a mean over the
// picture first, which is one block's work.
struct JitterBytes {
  static constexpr int kThreads = 512, kPhases = 3, kResident = 1024, kFolded = 32;
  struct Shared {
    float gray[kThreads], folded[kThreads / kFolded];
  };
  const Drawn* drawn = nullptr;
  std::uint8_t* bytes = nullptr;
  int pixels = 0;                // of a picture
  float of_gray[3] = {0, 0, 0};  // what red, green and blue weigh in it

  template <int kPhase>
  C10_HOST_DEVICE void phase(models::Place place, Shared& shared) const {
    const Drawn& by = drawn[place.block_x];
    std::uint8_t* const picture = bytes + 3 * static_cast<std::int64_t>(place.block_x) * pixels;
    if constexpr (kPhase == 0) {
      float sum = 0;
      for (int i = place.thread; i < pixels; i += kThreads) sum += gray(Pixel(picture + 3 * i, by));
      shared.gray[place.thread] = sum;
    } else if constexpr (kPhase == 1) {
      if (place.thread >= kThreads / kFolded) return;
      float sum = 0;
      for (int i = 0; i < kFolded; ++i) sum += shared.gray[kFolded * place.thread + i];
      shared.folded[place.thread] = sum;
    } else {
      float sum = 0;
      for (const float folded : shared.folded) sum += folded;
      const float towards = (1 - by.contrast) * (sum / static_cast<float>(pixels));
      for (int i = place.thread; i < pixels; i += kThreads) change(picture + 3 * i, by, towards);
    }
  }

 private:
  struct Pixel {  // brightened
    float rgb[3];
    C10_HOST_DEVICE Pixel(const std::uint8_t* from, const Drawn& by) {
      for (int c = 0; c < 3; ++c)
        rgb[c] = cut_to_bytes_range(by.brightness * static_cast<float>(from[c]));
    }
  };
  C10_HOST_DEVICE float gray(const Pixel& pixel) const {
    return of_gray[0] * pixel.rgb[0] + of_gray[1] * pixel.rgb[1] + of_gray[2] * pixel.rgb[2];
  }
  C10_HOST_DEVICE void change(std::uint8_t* at, const Drawn& by, float towards) const {
    Pixel pixel(at, by);
    for (float& value : pixel.rgb) value = cut_to_bytes_range(by.contrast * value + towards);
    const float pale = (1 - by.saturation) * gray(pixel);
    for (int c = 0; c < 3; ++c) at[c] = rounded_to_byte(by.saturation * pixel.rgb[c] + pale);
  }
};

}  // namespace feedrate::train
