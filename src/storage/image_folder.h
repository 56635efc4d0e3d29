#pragma once
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "storage/dataset.h"
#include "storage/listing.h"

namespace feedrate::storage {

// What is done with the listings of a folder that are kept (kept_listing.h).
struct ListKeeping {
  bool relist = false;  // the earlier one is not taken: all is listed anew
  // Names the run that lists. On FUSE, where the times of folders need not tell what came into them
  // (folder_times.h), a listing is taken by processes of the same run alone, as it is: they have
  // one dataset. Empty: by none.
  std::string run{};
  std::filesystem::path proc = "/proc";  // tests give another folder
};

// A folder holds files, and none of the kinds asked for: another --data may read them.
class OtherKinds : public Error {
 public:
  using Error::Error;
};

// A folder of pictures as torchvision's ImageFolder reads it: each folder below `folder` is a
// class, in name order; a class's pictures lie in it at any depth. Those whose names end in one of
// `suffixes` (".jpg", whatever the case) are its samples. Where no class folder holds any, the
// pictures of `folder` itself are one class. Links are followed. Left out, and counted in
// DatasetVariant::made: what is hidden (left_out.h), pictures beside class folders, other files,
// and class folders without pictures, which are no classes (ImageFolder refuses them). Nothing is
// read: names, sizes and times of the files make the manifest, so SampleFile::xxh3 is 0. `threads`
// list it, and only once: what was found is kept in the user's cache folder (kept_listing.h), and a
// folder is listed again when its state is another: see ListKeeping. `note` is
// told how long a list of many files took, and of when it is. Names may hold any bytes. Errors:
// feedrate::Error naming the folder or file (OtherKinds, no pictures, not readable, a link that
// leads nowhere or to where it came from, a pipe of a picture's name) and the remedy.
DatasetVariant list_image_folder(const std::filesystem::path& folder,
                                 std::span<const std::string_view> suffixes, int threads,
                                 const ListProgress& progress = {}, const ListNote& note = {},
                                 const ListKeeping& keeping = {});

// What of a folder is no sample: a file that ends otherwise, a link that leads nowhere, or what is
// hidden, relative to the folder.
struct LeftOut {
  enum class Why { name, dangling, hidden };
  std::function<void(const std::string& path, Why why)> tell;
  bool dangling_samples = false;  // links of a sample's name are left out too, else an Error
};

// The pictures below `folder` at any depth by the same rule, also those that lie in no class: their
// paths relative to it, in no order. There may be none. Errors: as there.
std::vector<std::string> list_pictures(const std::filesystem::path& folder,
                                       std::span<const std::string_view> suffixes,
                                       const ListProgress& progress = {},
                                       const LeftOut& left_out = {});

// Whether `data` is a folder of the user's own: one that `feedrate gen` has not made.
bool is_image_folder(const std::filesystem::path& data, const ListProgress& progress = {});
// Whether there is a sample in a class folder, by list_image_folder()'s terms. Errors: as there.
bool holds_class_pictures(const std::filesystem::path& folder,
                          std::span<const std::string_view> suffixes,
                          const ListProgress& progress = {});

// The first picture that is met in the folder or a class folder, relative to `folder`: "a/1.jpg".
// Empty if there is none among the first entries of each class. Cheap, whatever there is; what
// cannot be read is passed over. `passes`, which gets relative paths, says which folders are not
// looked into.
std::string find_picture(const std::filesystem::path& folder,
                         std::span<const std::string_view> suffixes,
                         const std::function<bool(const std::string&)>& passes,
                         const ListProgress& progress = {});

}  // namespace feedrate::storage
