#pragma once
#include <filesystem>
#include <string_view>

namespace feedrate::storage {

// What people give for a folder of pictures, or fill one with. By names alone: nothing is read.

// "s3://bucket/x", "https://host/x.tar".
bool is_url(std::string_view text);

// What a file is, by its ending, and what makes a folder of pictures of it.
struct FileKind {
  std::string_view what;    // "an archive"; empty: nothing that is known
  std::string_view remedy;  // "unpack first, and give the folder of the pictures"
};
FileKind file_kind(std::string_view name);

// Throws the Error of what was given for a folder of data and is a URL or a file: its own reason
// and remedy. Does nothing otherwise, also where there is nothing at all.
void refuse_no_folder(const std::filesystem::path& data);

}  // namespace feedrate::storage
