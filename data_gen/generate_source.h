#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "data_gen/generate.h"
#include "data_gen/picture.h"

namespace feedrate {

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
  virtual Picture make(std::int64_t index, PixelSize size) const = 0;
  // For dataset.json: "generated" or the folder; and what else tells two sources apart.
  virtual std::string name() const = 0;
  virtual std::string fingerprint() const = 0;
};

// `count` pictures of synthesise_picture() in at most `classes` class folders, dealt out in turn.
std::unique_ptr<PictureSource> make_synthetic_source(std::uint64_t seed, std::int64_t count,
                                                     std::int32_t classes);

// How the pictures of a folder are looked at before they are used.
struct PictureCheck {
  int threads = 1;
  bool skip_bad = false;                               // leave out what cannot be decoded
  std::function<void(const std::string&)> on_skipped;  // is told each; may be empty, as may the others
  std::function<void(const GenerateProgress&)> on_progress;
  std::function<bool()> stop;
};

// Every *.jpg, *.jpeg and *.png below `folder`, sorted by path; the class is the first folder on
// the way (ImageFolder), "class_000" for pictures that lie in `folder` itself. `count` above 0
// takes so many of them, evenly spread, so that every class keeps its share. Each is decoded once. Errors:
// feedrate::Error for a missing folder, one without pictures, or a list of those that cannot be decoded.
std::unique_ptr<PictureSource> make_folder_source(const std::filesystem::path& folder,
                                                  std::int64_t count, const PictureCheck& check);

// Centre crop to the aspect of `size`, then area-averaged to it.
Picture crop_and_resize(const PixelView& pixels, PixelSize size);

}  // namespace feedrate
