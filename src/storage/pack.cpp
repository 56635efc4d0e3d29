#include "storage/pack.h"

#include <fcntl.h>

#include <system_error>

#include "base/error.h"
#include "base/whole_file.h"
#include "base/xxh3.h"
#include "storage/manifest.h"

namespace feedrate::storage {

void read_for_packing(Storage& storage, const DatasetVariant& from, const SampleFile& sample,
                      Buffer& into) {
  storage.read(sample, into);
  if (xxh3_of(into.bytes()) == sample.xxh3) return;
  throw Error((from.folder / sample.path).string(),
              "is damaged: its checksum is not the manifest's",
              "remove it and run `feedrate gen` again");
}

bool write_packed(const std::filesystem::path& to,
                  const std::function<bool(const std::filesystem::path& partial)>& write) {
  const std::filesystem::path partial = to.string() + ".partial";
  std::error_code ignored;
  bool whole = false;
  try {
    whole = write(partial);
    if (whole) {
      PosixFile(partial, O_RDONLY).sync();
      std::filesystem::rename(partial, to);
      sync_folder(to.parent_path());
    }
  } catch (const std::system_error& error) {
    std::filesystem::remove(partial, ignored);
    throw Error(to.string(), "cannot be written: " + error.code().message(),
                "choose a disk with room, and run the same command again");
  } catch (...) {
    std::filesystem::remove(partial, ignored);
    throw;
  }
  if (!whole) std::filesystem::remove(partial, ignored);
  return whole;
}

}  // namespace feedrate::storage
