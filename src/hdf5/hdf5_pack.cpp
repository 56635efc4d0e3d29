#include <fcntl.h>

#include <filesystem>
#include <system_error>
#include <vector>

#include "hdf5/hdf5.h"
#include "hdf5/hdf5_file.h"
#include "measure/error.h"
#include "storage/manifest.h"
#include "storage/whole_file.h"

namespace feedrate::hdf5 {
namespace {

constexpr std::string_view kRemedy = "choose a disk with room, and run the same command again";

// The file in the making.
class Writer {
 public:
  Writer(const std::filesystem::path& path, std::uint64_t total) : path_(path.string()), file_(create()), bytes_(create_bytes(total)) {}

  void append(std::span<const std::byte> sample) {
    if (!sample.empty()) write(bytes_, offset_, sample.size(), H5T_NATIVE_UINT8, sample.data());
    offsets_.push_back(offset_ += sample.size());
  }

  void finish() {
    const Handle space = line_of(offsets_.size());
    const Handle offsets(H5Dcreate2(file_, kOffsets, H5T_STD_U64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
    if (!offsets.good()) fail(path_, "cannot be written", kRemedy);
    write(offsets, 0, offsets_.size(), H5T_NATIVE_UINT64, offsets_.data());
    if (H5Fflush(file_, H5F_SCOPE_GLOBAL) < 0) fail(path_, "cannot be written", kRemedy);
  }

 private:
  Handle create() const {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);  // chunks are found by an array, not a tree
    H5Pset_cache(access, 0, 521, 4 * kChunk, 0.75);
    Handle file(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
    if (!file.good()) fail(path_, "cannot be made", kRemedy);
    return file;
  }

  Handle create_bytes(std::uint64_t total) const {
    const Handle layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    const hsize_t chunk = std::min<std::uint64_t>(kChunk, std::max<std::uint64_t>(total, 1));
    H5Pset_chunk(layout, 1, &chunk);
    H5Pset_obj_track_times(layout, false);  // the same samples give the same file
    const Handle space = line_of(total);
    Handle bytes(H5Dcreate2(file_, kBytes, H5T_STD_U8LE, space, H5P_DEFAULT, layout, H5P_DEFAULT), H5Dclose);
    if (!bytes.good()) fail(path_, "cannot be written", kRemedy);
    return bytes;
  }

  void write(const Handle& dataset, std::uint64_t first, std::uint64_t count, hid_t type, const void* values) const {
    const Handle to = range_of(dataset, first, count), memory = line_of(count);
    if (H5Dwrite(dataset, type, memory, to, H5P_DEFAULT, values) < 0) fail(path_, "cannot be written", kRemedy);
  }

  const std::string path_;
  Handle file_, bytes_;
  std::uint64_t offset_ = 0;
  std::vector<std::uint64_t> offsets_{0};
};

bool write_samples(const DatasetVariant& from, const std::filesystem::path& to, const PackProgress& progress) {
  const auto storage = make_storage(from);
  const std::scoped_lock lock(library_lock());
  Writer writer(to, from.total_bytes);
  Buffer buffer;
  std::size_t done = 0;
  for (const SampleFile& sample : from.samples) {
    storage->read(sample, buffer);
    if (xxh3_of(buffer.bytes()) != sample.xxh3) {
      throw Error((from.folder / sample.path).string(), "is damaged: its checksum is not the manifest's",
                  "remove it and run `feedrate gen` again");
    }
    writer.append(buffer.bytes());
    if (!progress(++done)) return false;
  }
  writer.finish();
  return true;
}

}  // namespace

bool pack_samples(const DatasetVariant& from, const std::filesystem::path& to, const PackProgress& progress) {
  const std::filesystem::path partial = to.string() + ".partial";
  std::error_code ignored;
  bool whole = false;
  try {
    whole = write_samples(from, partial, progress);
    if (whole) {
      PosixFile(partial, O_RDONLY).sync();
      std::filesystem::rename(partial, to);
      PosixFile(to.parent_path(), O_RDONLY | O_DIRECTORY).sync();
    }
  } catch (const std::system_error& error) {
    std::filesystem::remove(partial, ignored);
    throw Error(to.string(), error.code().message(), kRemedy);
  } catch (...) {
    std::filesystem::remove(partial, ignored);
    throw;
  }
  if (!whole) std::filesystem::remove(partial, ignored);
  return whole;
}

}  // namespace feedrate::hdf5
