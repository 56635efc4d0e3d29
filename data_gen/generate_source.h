#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "data_gen/generate.h"
#include "data_gen/picture.h"

namespace feedrate::data_gen {

// Where the pictures of a dataset come from: synthesised, or a folder of the user's. Immutable and
// thread-safe; sample i is the same picture whoever asks and however often.
class PictureSource {
 public:
  virtual ~PictureSource() = default;
  virtual std::int64_t count() const = 0;
  virtual std::int32_t classes() const = 0;
  virtual std::int32_t label(std::int64_t index) const = 0;
  virtual std::string class_folder(std::int32_t label) const = 0;  // in name order of the labels
  // Errors: feedrate::Error naming the file, for a picture that cannot be decoded.
  virtual Picture make(std::int64_t index, codec::PixelSize size) const = 0;
  // For dataset.json: "generated" or the folder; and what else tells two sources apart.
  virtual std::string name() const = 0;
  virtual std::string fingerprint() const = 0;
};

// `count` pictures of synthesise_picture() in at most `classes` class folders, dealt out in turn.
std::unique_ptr<PictureSource> make_synthetic_source(std::uint64_t seed, std::int64_t count,
                                                     std::int32_t classes);

// Centre crop to the aspect of `size`, then area-averaged to it.
Picture crop_and_resize(const codec::PixelView& pixels, codec::PixelSize size);

}  // namespace feedrate::data_gen
