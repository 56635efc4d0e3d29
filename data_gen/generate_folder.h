#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "data_gen/generate.h"
#include "data_gen/generate_source.h"

namespace feedrate::data_gen {

// How the pictures of a folder are looked at before they are used.
struct PictureCheck {
  int threads = 1;
  bool skip_bad = false;  // leave out what cannot be decoded
  // See GenerateOptions; may be empty, as may the others.
  std::function<void(const std::string&, std::int64_t)> on_skipped;
  std::function<void(const GenerateProgress&)> on_progress;
  std::function<bool()> stop;
  StorageNews news;
};

// Whether a folder's pictures of that format are read: jpeg, png, webp.
bool reads_format(std::string_view format);

// Every *.jpg, *.jpeg, *.png and *.webp below `folder` (storage::list_pictures()), sorted by path.
// The class is the first folder on the way (ImageFolder), "class_000" for all where none lies in a
// folder; a folder without pictures is no class. `count` above 0 takes so many of them, evenly
// spread, so that every class keeps its share. Each is decoded once. Pictures of other formats,
// those beside class folders, hidden ones and links that lead nowhere are left out, counted and
// told. Errors: feedrate::Error for a missing folder, one of tar shards (storage/own_folder.h), one
// without pictures, or a list of those that cannot be decoded.
std::unique_ptr<PictureSource> make_folder_source(const std::filesystem::path& folder,
                                                  std::int64_t count, const PictureCheck& check);

}  // namespace feedrate::data_gen
