#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "storage/listing.h"

namespace feedrate::storage {

// What a folder of the user's own (is_image_folder()) is read as, by all commands that take the
// same for pictures: class folders where any holds one; else what lies in it directly, pictures or
// tar shards, whichever are more. As many of both are pictures.
struct OwnFolder {
  bool has_classes = false;
  std::uint64_t pictures = 0, shards = 0;  // that lie in it directly

  bool are_shards() const { return !has_classes && shards > pictures; }
  bool is_empty() const { return !has_classes && pictures == 0 && shards == 0; }
};

// A picture is a file whose name ends in one of `suffixes`. By the names that lie in the folder
// alone: where its pictures are not fewer than its shards, any folder in it is taken for a class,
// and only elsewhere looked into. What is hidden (left_out.h) is no part of it. Empty where the
// folder cannot be read. Errors: those of holds_class_pictures(). Thread-safe.
OwnFolder look_at_own_folder(const std::filesystem::path& folder,
                             std::span<const std::string_view> suffixes,
                             const ListProgress& progress = {});

}  // namespace feedrate::storage
