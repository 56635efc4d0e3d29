// The container "tar": one POSIX tar file (ustar) for all samples, in the manifest's order, as `tar
// -xf` unpacks it. Nothing of the archive is parsed while it is read: where a sample lies follows
// from the manifest.
#include "storage/container.h"
#include "storage/packed_files.h"
#include "storage/tar_header.h"

namespace feedrate::storage {
namespace {

void write_header(const SampleFile& sample, std::span<std::byte> header) {
  write_tar_header(sample.path, sample.bytes, header);
}

std::unique_ptr<Storage> tar_storage(const DatasetVariant& variant, const Io& io) {
  return open_packed(variant, io);
}

bool write_tar(const DatasetVariant& from, const std::filesystem::path& folder,
               const PackProgress& progress) {
  return pack_samples(tar_container(), write_header, from, folder, progress);
}

}  // namespace

Container tar_container() {
  return {.name = "tar",
          .help = "one tar file, read at the offsets that the manifest gives",
          .packed = "samples.tar",
          .layout = {.header = kTarBlock, .block = kTarBlock, .end = 2 * kTarBlock},
          .open = tar_storage,
          .pack = write_tar};
}

}  // namespace feedrate::storage
