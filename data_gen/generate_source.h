#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "codec/codec.h"
#include "data_gen/generate.h"
#include "data_gen/picture.h"
#include "storage/dataset.h"

namespace feedrate::data_gen {

// Which pictures a variant holds.
struct PictureKind {
  codec::PixelSize size = kMixedSize;  // as stored
  std::string detail = "medium";       // see storage::kDetails
  bool operator==(const PictureKind&) const = default;
};
// "500x375", "500x375-high", "mixed"; and back. Throws a UsageError naming the text.
std::string to_string(const PictureKind& kind);
PictureKind picture_kind_from(std::string_view text);
// What `detail`, one of storage::kDetails, is for synthesise_picture().
float factor_of(std::string_view detail);

// Where the pictures of a dataset come from: synthesised, or a folder of the user's. Immutable and
// thread-safe; sample i is the same picture whoever asks and however often.
class PictureSource {
 public:
  virtual ~PictureSource() = default;
  virtual std::int64_t count() const = 0;
  virtual std::int32_t classes() const = 0;
  virtual std::int32_t label(std::int64_t index) const = 0;
  virtual std::string class_folder(std::int32_t label) const = 0;  // in name order of the labels
  // The picture's own size, for variants of mixed sizes.
  virtual codec::PixelSize size(std::int64_t index) const = 0;
  // How its JPEG is encoded where `asked` leaves that to the source.
  virtual codec::EncodeOptions encoding(std::int64_t index,
                                        const codec::EncodeOptions& asked) const = 0;
  // The picture at `size`. `detail`: see synthesise_picture(); photographs have their own. Errors:
  // feedrate::Error naming the file, for a picture that cannot be decoded.
  virtual Picture make(std::int64_t index, codec::PixelSize size, float detail) const = 0;
  // For dataset.json: "generated ..." or the folder; and what else tells two sources apart.
  virtual std::string name() const = 0;
  virtual std::string fingerprint() const = 0;
};

// `count` pictures of synthesise_picture() in at most `classes` class folders, dealt out in turn.
// Their own size is 500x375.
std::unique_ptr<PictureSource> make_synthetic_source(std::uint64_t seed, std::int64_t count,
                                                     std::int32_t classes);
// The same with sizes and encodings drawn as draw_like_imagenet() does.
std::unique_ptr<PictureSource> make_imagenet_like_source(std::uint64_t seed, std::int64_t count,
                                                         std::int32_t classes);

// Centre crop to the aspect of `size`, then area-averaged to it.
Picture crop_and_resize(const codec::PixelView& pixels, codec::PixelSize size);

}  // namespace feedrate::data_gen
