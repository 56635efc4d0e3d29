#include "data_gen/generate_source.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <opencv2/imgproc.hpp>

#include "base/error.h"
#include "base/text.h"
#include "data_gen/imagenet_like.h"
#include "data_gen/picture_random.h"
#include "storage/dataset_record.h"

namespace feedrate::data_gen {
namespace {

// splitmix64's finaliser (Steele, Lea and Flood 2014): neighbouring indices give unrelated seeds.
std::uint64_t mixed(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

class SyntheticSource : public PictureSource {
 public:
  SyntheticSource(std::uint64_t seed, std::int64_t count, std::int32_t classes)
      : seed_(seed),
        count_(count),
        classes_(static_cast<std::int32_t>(std::min<std::int64_t>(classes, count))) {}

  std::int64_t count() const override { return count_; }
  std::int32_t classes() const override { return classes_; }
  std::int32_t label(std::int64_t index) const override {
    return static_cast<std::int32_t>(index % classes_);
  }
  std::string class_folder(std::int32_t label) const override {
    // Zero-padded to one width, so that name order is label order.
    const int width = std::max<int>(3, static_cast<int>(std::to_string(classes_ - 1).size()));
    char name[32];
    std::snprintf(name, sizeof name, "class_%0*d", width, label);
    return name;
  }
  codec::PixelSize size(std::int64_t) const override { return {500, 375}; }
  codec::EncodeOptions encoding(std::int64_t, const codec::EncodeOptions& asked) const override {
    return asked;
  }
  Picture make(std::int64_t index, codec::PixelSize size, float detail) const override {
    return synthesise_picture(seed_of(index), size, detail);
  }
  std::string name() const override { return "generated"; }
  std::string fingerprint() const override { return "-"; }

 protected:
  std::uint64_t seed_of(std::int64_t index) const {
    return mixed(seed_, static_cast<std::uint64_t>(index));
  }

 private:
  std::uint64_t seed_;
  std::int64_t count_;
  std::int32_t classes_;
};

class ImageNetLikeSource : public SyntheticSource {
 public:
  using SyntheticSource::SyntheticSource;

  codec::PixelSize size(std::int64_t index) const override { return stored(index).size; }
  codec::EncodeOptions encoding(std::int64_t index,
                                const codec::EncodeOptions& asked) const override {
    codec::EncodeOptions encode = asked;
    encode.jpeg_quality = stored(index).jpeg_quality;
    encode.subsampling = stored(index).subsampling;
    return encode;
  }
  Picture make(std::int64_t index, codec::PixelSize size, float detail) const override {
    return SyntheticSource::make(index, size, kDetail * detail);
  }
  std::string name() const override { return std::string(storage::kLikeImagenet); }

 private:
  // ImageNet's pictures, scaled down mostly, have more to see in a pixel than those that the
  // synthesis was fitted to. With this factor their mean is MLPerf Storage's 114,660 bytes.
  static constexpr float kDetail = 1.86f;

  StoredLike stored(std::int64_t index) const {
    Random random(seed_of(index) ^ 0x73746f726564u);  // apart from those of the picture
    return draw_like_imagenet(random);
  }
};

}  // namespace

std::string to_string(const PictureKind& kind) {
  return storage::with_detail(
      kind.size == kMixedSize ? std::string(storage::kMixedSizes) : codec::to_string(kind.size),
      kind.detail);
}

PictureKind picture_kind_from(std::string_view text) {
  const std::size_t dash = text.find('-');
  const std::string_view size = text.substr(0, dash);
  PictureKind kind;
  if (size != storage::kMixedSizes) kind.size = codec::pixel_size_from(size);
  if (dash == std::string_view::npos) return kind;
  kind.detail = text.substr(dash + 1);
  if (std::ranges::find(storage::kDetails, kind.detail) == storage::kDetails.end()) {
    throw UsageError(text, "no pictures of that name", "use WxH or WxH-high");
  }
  return kind;
}

float factor_of(std::string_view detail) {
  // Found by trying: each step makes a JPEG of 500x375 1.3 to 1.5 times as large.
  constexpr float kFactors[] = {0.15f, 0.45f, 1, 2, 4};
  static_assert(std::size(kFactors) == storage::kDetails.size());
  const auto found = std::ranges::find(storage::kDetails, detail);
  return kFactors[found - storage::kDetails.begin()];
}

std::unique_ptr<PictureSource> make_imagenet_like_source(std::uint64_t seed, std::int64_t count,
                                                         std::int32_t classes) {
  return std::make_unique<ImageNetLikeSource>(seed, count, classes);
}

std::unique_ptr<PictureSource> make_synthetic_source(std::uint64_t seed, std::int64_t count,
                                                     std::int32_t classes) {
  return std::make_unique<SyntheticSource>(seed, count, classes);
}

Picture crop_and_resize(const codec::PixelView& pixels, codec::PixelSize size) {
  Picture picture{size, {}};
  picture.pixels.resize(static_cast<std::size_t>(size.width) * size.height * 3);
  // The largest rectangle of the target's aspect, rounded to whole pixels, at least one.
  const std::int64_t w = pixels.width, h = pixels.height, to_w = size.width, to_h = size.height;
  const auto rounded = [](std::int64_t a, std::int64_t b) {
    return std::max<std::int64_t>(1, (2 * a + b) / (2 * b));
  };
  const auto crop_w = static_cast<int>(std::min(w, rounded(h * to_w, to_h)));
  const auto crop_h = static_cast<int>(std::min(h, rounded(w * to_h, to_w)));
  const std::uint8_t* corner = pixels.data + (pixels.height - crop_h) / 2 * pixels.stride +
                               static_cast<std::ptrdiff_t>((pixels.width - crop_w) / 2) * 3;
  const cv::Mat from(crop_h, crop_w, CV_8UC3, const_cast<std::uint8_t*>(corner),
                     static_cast<std::size_t>(pixels.stride));
  cv::Mat to(size.height, size.width, CV_8UC3, picture.pixels.data());
  cv::resize(from, to, to.size(), 0, 0, cv::INTER_AREA);
  return picture;
}

}  // namespace feedrate::data_gen
