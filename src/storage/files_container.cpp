// The container "files": each sample is a file in its class folder.
#include "storage/container.h"

namespace feedrate::storage {
namespace {

std::unique_ptr<Storage> open(const DatasetVariant& variant, const Io& io) {
  return io.engine->open(
      {.folder = variant.folder.string() + "/",
       .remedy = "the file changed since it was made: run `feedrate verify`, then `feedrate gen` "
                 "again",
       .largest = variant.largest_bytes},
      io.depth);
}

}  // namespace

Container files_container() {
  return {.name = "files", .help = "each sample is a file in its class folder", .open = open};
}

}  // namespace feedrate::storage
