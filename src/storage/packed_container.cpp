// The container "packed": the samples' bytes one after the other in one file, in the manifest's
// order, and nothing else.
#include "storage/container.h"
#include "storage/packed_files.h"

namespace feedrate::storage {
namespace {

std::unique_ptr<Storage> packed_storage(const DatasetVariant& variant, const Io& io) {
  return open_packed(variant, io);
}

bool write_one_file(const DatasetVariant& from, const std::filesystem::path& folder,
                    const PackProgress& progress) {
  const auto no_header = [](const SampleFile&, std::span<std::byte>) {};
  return pack_samples(packed_container(), no_header, from, folder, progress);
}

}  // namespace

Container packed_container() {
  return {.name = "packed",
          .help = "one file of all samples back to back, without headers",
          .packed = "samples.bin",
          .open = packed_storage,
          .pack = write_one_file};
}

}  // namespace feedrate::storage
