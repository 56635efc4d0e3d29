#include "data_gen/disk_space.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "base/error.h"

namespace feedrate::data_gen {
namespace {

// Upper bounds for photographs: a JPEG of quality 90 takes about 0.3, of 96 twice that, PNG 1.5 to
// 2.2, noise the 3 that it has.
double bytes_per_pixel(const GeneratePlan& plan, const PlannedVariant& variant) {
  const bool detailed = factor_of(variant.made_from.detail) > 1;
  if (variant.format == nullptr) return 3.0 * static_cast<double>(codec::size_of(variant.dtype));
  if (variant.format->name == "jpeg" || variant.format->name == "webp") {  // which takes less
    const int quality = plan.source->encoding(0, plan.encode).jpeg_quality;
    return (detailed || quality > 90 ? 2 : 1) * 0.6;
  }
  if (variant.format->name == "png") return detailed ? 3.02 : 2.4;
  return 3.02;
}

// Of a sample, on average; of many, by some of them.
double mean_pixels(const GeneratePlan& plan, const PlannedVariant& variant) {
  const std::int64_t count = plan.source->count(), stride = count / 1000 + 1;
  double sum = 0, samples = 0;
  for (std::int64_t i = 0; i < count; i += stride, ++samples) {
    const codec::PixelSize size = sample_size(*plan.source, i, variant.size);
    sum += static_cast<double>(size.width) * size.height;
  }
  return sum / std::max(samples, 1.0);
}

std::string readable(double bytes) {
  static constexpr const char* kUnits[] = {"kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  for (bytes /= 1e3; bytes >= 1000 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1e3;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s", bytes, kUnits[unit]);
  return text;
}

}  // namespace

std::int64_t estimated_bytes(const GeneratePlan& plan, const PlannedVariant& variant) {
  constexpr double kFileOverhead = 4096;  // header, directory entry, the last block's unused half
  const bool sized =
      plan.bytes_per_sample > 0 && variant.format != nullptr && variant.format->name == "jpeg";
  const double bytes = sized ? static_cast<double>(plan.bytes_per_sample)
                             : mean_pixels(plan, variant) * bytes_per_pixel(plan, variant);
  return std::llround(bytes + kFileOverhead);
}

void check_disk_space(const GeneratePlan& plan) {
  double needed = 0;
  for (const PlannedVariant& variant : plan.variants) {
    const auto each = static_cast<double>(estimated_bytes(plan, variant));
    needed += each * static_cast<double>(variant.missing);
    for (const PlannedPack& pack : plan.packs) {
      if (pack.missing && pack.from == variant.name)
        needed += each * static_cast<double>(plan.source->count());
    }
  }
  std::error_code error;
  const auto space = std::filesystem::space(plan.data, error);
  if (error) throw Error(plan.data.string(), error.message(), "choose a folder that can be used");
  if (needed > static_cast<double>(space.available)) {
    throw Error(plan.data.string(),
                "needs about " + readable(needed) + ", the disk has " +
                    readable(static_cast<double>(space.available)) + " free",
                "free some, choose another disk, or a smaller --count");
  }
}

}  // namespace feedrate::data_gen
