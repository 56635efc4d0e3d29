#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file_remedy.h"
#include "hdf5/hdf5_file.h"
#include "hdf5/hdf5_pack.h"
#include "storage/hdf5_module.h"
#include "storage/pack.h"

namespace feedrate::hdf5 {
namespace {

constexpr std::uint64_t kMostChunk = std::uint64_t{1} << 30;

[[noreturn]] void refuse_writing(const std::string& path, const std::string& what) {
  const Failure failure = last_failure(what);
  throw Error(path, failure.reason,
              remedy_of_writing(failure.error, "run the same command again", ", and "));
}

// The file in the making.
class Writer {
 public:
  Writer(const std::filesystem::path& path, std::uint64_t total, std::uint64_t chunk)
      : path_(path.string()), file_(create(chunk)), bytes_(create_bytes(total, chunk)) {}

  void append(std::span<const std::byte> sample) {
    if (!sample.empty()) write(bytes_, offset_, sample.size(), H5T_NATIVE_UINT8, sample.data());
    offsets_.push_back(offset_ += sample.size());
  }

  void finish() {
    const Handle space = line_of(offsets_.size()), layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_obj_track_times(layout, false);
    const Handle offsets(
        H5Dcreate2(file_, kOffsets, H5T_STD_U64LE, space, H5P_DEFAULT, layout, H5P_DEFAULT),
        H5Dclose);
    if (!offsets.good()) refuse_writing(path_, "cannot be written");
    write(offsets, 0, offsets_.size(), H5T_NATIVE_UINT64, offsets_.data());
    if (H5Fflush(file_, H5F_SCOPE_GLOBAL) < 0) refuse_writing(path_, "cannot be written");
  }

 private:
  Handle create(std::uint64_t chunk) const {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_libver_bounds(access, H5F_LIBVER_V110,
                         H5F_LIBVER_V110);  // chunks are found by an array, not a tree
    H5Pset_cache(access, 0, 521, 4 * chunk, 0.75);
    const Handle root(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    H5Pset_obj_track_times(root, false);  // the same samples give the same file
    Handle file(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, root, access), H5Fclose);
    if (!file.good()) refuse_writing(path_, "cannot be made");
    return file;
  }

  Handle create_bytes(std::uint64_t total, std::uint64_t wanted) const {
    const Handle layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    const hsize_t chunk = std::min<std::uint64_t>(wanted, std::max<std::uint64_t>(total, 1));
    H5Pset_chunk(layout, 1, &chunk);
    H5Pset_obj_track_times(layout, false);
    const Handle space = line_of(total);
    Handle bytes(H5Dcreate2(file_, kBytes, H5T_STD_U8LE, space, H5P_DEFAULT, layout, H5P_DEFAULT),
                 H5Dclose);
    if (!bytes.good()) refuse_writing(path_, "cannot be written");
    return bytes;
  }

  void write(const Handle& dataset, std::uint64_t first, std::uint64_t count, hid_t type,
             const void* values) const {
    const Handle to = range_of(dataset, first, count), memory = line_of(count);
    if (H5Dwrite(dataset, type, memory, to, H5P_DEFAULT, values) < 0)
      refuse_writing(path_, "cannot be written");
  }

  const std::string path_;
  Handle file_, bytes_;
  std::uint64_t offset_ = 0;
  std::vector<std::uint64_t> offsets_{0};
};

// Samples of one size get a chunk each: one look-up and one read.
std::uint64_t chunk_of(const storage::DatasetVariant& from) {
  const std::uint64_t first = from.samples.empty() ? 0 : from.samples.front().bytes;
  const bool alike = std::ranges::all_of(
      from.samples, [&](const storage::SampleFile& s) { return s.bytes == first; });
  return alike && first > 0 && first < kMostChunk ? first : kChunk;
}

bool write_samples(const storage::DatasetVariant& from, const std::filesystem::path& to,
                   const storage::PackProgress& progress) {
  const auto storage = storage::make_storage(from);
  const std::scoped_lock lock(library_lock());
  Writer writer(to, from.total_bytes, chunk_of(from));
  storage::Buffer buffer;
  std::size_t done = 0;
  for (const storage::SampleFile& sample : from.samples) {
    storage::read_for_packing(*storage, from, sample, buffer);
    writer.append(buffer.bytes());
    if (!progress(++done)) return false;
  }
  writer.finish();
  return true;
}

}  // namespace

bool pack_samples(const storage::DatasetVariant& from, const std::filesystem::path& folder,
                  const storage::PackProgress& progress) {
  return storage::write_packed({folder / storage::kHdf5File}, [&](const storage::Paths& partial) {
    return write_samples(from, partial.front(), progress);
  });
}

}  // namespace feedrate::hdf5
