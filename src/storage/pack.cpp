#include "storage/pack.h"

#include <fcntl.h>

#include <system_error>

#include "base/file_remedy.h"
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

bool write_packed(const Paths& to, const std::function<bool(const Paths& partial)>& write) {
  Paths partial;
  for (const std::filesystem::path& path : to) partial.emplace_back(path.string() + ".partial");
  const auto remove_all = [&] {
    std::error_code ignored;
    for (const std::filesystem::path& path : partial) std::filesystem::remove(path, ignored);
  };
  bool whole = false;
  try {
    whole = write(partial);
    if (whole) {
      for (const std::filesystem::path& path : partial) PosixFile(path, O_RDONLY).sync();
      for (std::size_t i = 0; i < to.size(); ++i) std::filesystem::rename(partial[i], to[i]);
      sync_folder(to.front().parent_path());
    }
  } catch (const std::system_error& error) {
    remove_all();
    throw Error(to.front().string(), "cannot be written: " + error.code().message(),
                remedy_of_writing(error.code().value(), "run the same command again", ", and "));
  } catch (...) {
    remove_all();
    throw;
  }
  if (!whole) remove_all();
  return whole;
}

}  // namespace feedrate::storage
