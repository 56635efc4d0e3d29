// The container "files": each sample is a file in its class folder.
#include "storage/container.h"

namespace feedrate::storage {
namespace {

std::unique_ptr<Storage> open_as(const DatasetVariant& variant, const Io& io,
                                 std::string_view remedy) {
  return io.engine->open({.folder = variant.folder.string() + "/",
                          .remedy = std::string(remedy),
                          .largest = variant.largest_bytes},
                         io.depth);
}

std::unique_ptr<Storage> files_storage(const DatasetVariant& variant, const Io& io) {
  return open_as(variant, io,
                 "the file changed since it was made: run `feedrate verify`, then `feedrate "
                 "gen` again");
}

// No `gen` made these: what changed is only listed anew. A file that is written again leaves its
// folder as it was, so that a kept listing does not show it.
std::unique_ptr<Storage> open_own(const DatasetVariant& variant, const Io& io) {
  return open_as(
      variant, io,
      "the file has changed since it was listed: list the folder anew with --relist, and "
      "leave it alone while it is read");
}

}  // namespace

Container files_container() {
  return {
      .name = "files", .help = "each sample is a file in its class folder", .open = files_storage};
}

const Container& own_files() {
  static constexpr Container kOwn{.name = "files", .help = "", .open = open_own};
  return kOwn;
}

}  // namespace feedrate::storage
