#include "storage/no_folder.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <system_error>

#include "base/error.h"
#include "storage/left_out.h"
#include "storage/listing.h"

namespace feedrate::storage {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUnpack = "unpack first, and give the folder of the pictures",
                           kWriteFiles =
                               "write the pictures to files or tar shards, and give their folder",
                           kItsFolder = "give the folder that it lies in";

struct KindOfEnding {
  std::string_view ending;
  FileKind kind;
};
constexpr KindOfEnding kFileKinds[] = {
    {".zip", {"an archive", kUnpack}},
    {".7z", {"an archive", kUnpack}},
    {".rar", {"an archive", kUnpack}},
    {".tgz", {"a compressed tar file", kUnpack}},
    {".tar.gz", {"a compressed tar file", kUnpack}},
    {".tar.bz2", {"a compressed tar file", kUnpack}},
    {".tar.xz", {"a compressed tar file", kUnpack}},
    {".tar.zst", {"a compressed tar file", kUnpack}},
    {".gz", {"a compressed file", kUnpack}},
    {".tar",
     {"a tar file", "give the folder that it lies in, with --container webdataset, or unpack it"}},
    {".parquet", {"a table", kWriteFiles}},
    {".arrow", {"a table", kWriteFiles}},
    {".csv", {"a table", "give the folder of the pictures that it names"}},
    {".tfrecord", {"a file of records", kWriteFiles}},
    {".rec", {"a file of records", kWriteFiles}},
    {".mdb", {"a database", kWriteFiles}},
    {".h5", {"an HDF5 file", kWriteFiles}},
    {".hdf5", {"an HDF5 file", kWriteFiles}}};

}  // namespace

// RFC 3986: a scheme is a letter and what follows of letters, digits, '+', '-' and '.'.
bool is_url(std::string_view text) {
  const std::size_t end = text.find("://");
  if (end == 0 || end == std::string_view::npos) return false;
  return std::isalpha(static_cast<unsigned char>(text.front())) != 0 &&
         std::ranges::all_of(text.substr(0, end), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' || c == '-' ||
                  c == '.';
         });
}

FileKind file_kind(std::string_view name) {
  if (!picture_ending(name).empty()) return {"a picture", kItsFolder};
  for (const auto& [ending, kind] : kFileKinds) {
    if (name.size() >= ending.size() &&
        is_in_any_case(name.substr(name.size() - ending.size()), ending))
      return kind;
  }
  return {};
}

void refuse_no_folder(const fs::path& data) {
  std::error_code error;
  const fs::file_status status = fs::status(data, error);
  if (fs::is_directory(status)) return;
  const std::string name = data.string();
  if (is_url(name)) throw Error(name, "is a URL", "feedrate reads folders: mount it, or copy it");
  if (!fs::exists(status)) return;
  const FileKind kind = file_kind(data.filename().string());
  throw Error(name, "is " + std::string(kind.what.empty() ? "a file" : kind.what) + ", no folder",
              kind.remedy.empty() ? "give the folder of a dataset, of pictures or of tar shards"
                                  : kind.remedy);
}

}  // namespace feedrate::storage
