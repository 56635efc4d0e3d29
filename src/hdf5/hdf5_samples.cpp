#include <algorithm>
#include <filesystem>
#include <system_error>
#include <thread>
#include <vector>

#include "base/file_remedy.h"
#include "hdf5/hdf5_file.h"
#include "hdf5/hdf5_samples.h"
#include "measure/clock.h"
#include "storage/gen_command.h"
#include "storage/hdf5_module.h"

namespace feedrate::hdf5 {
namespace {

// Reads samples through the library; its errors become Errors.
class Hdf5Samples : public storage::ReadsOnDemand {
 public:
  Hdf5Samples(const storage::DatasetVariant& variant, int depth)
      : ReadsOnDemand(depth),
        buffers_(static_cast<std::size_t>(depth)),
        path_((variant.folder / storage::kHdf5File).string()),
        command_(storage::gen_command(variant)),
        remedy_("`feedrate verify` lists what is damaged; remove the file and pack it again: " +
                command_),
        total_(variant.total_bytes),
        lock_(library_lock()),
        file_(open_file()),
        bytes_(open_bytes()) {
    check_offsets(variant);
    lock_.unlock();
  }
  ~Hdf5Samples() override { lock_.lock(); }  // the members' destructors call the library

 private:
  // Keeps the library from printing what becomes an Error here; the setting is per thread.
  void keep_quiet() {
    if (quiet_in_ == std::this_thread::get_id()) return;
    quiet_in_ = std::this_thread::get_id();
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }

  Handle open_file() {
    keep_quiet();
    std::error_code error;
    const bool is_there = std::filesystem::exists(path_, error);
    refuse_unreadable(path_, error);
    if (!is_there) throw Error(path_, "no such file", "make it: " + command_);
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_file_locking(access, false,
                        true);  // some network file systems have no locks; nobody writes to it
    // No chunk cache: it would read whole chunks, and a run measures the storage.
    H5Pset_cache(access, 0, 0, 0, 0);
    Handle file(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, access), H5Fclose);
    if (!file.good()) fail(path_, "cannot be opened", remedy_);
    return file;
  }

  Handle open_bytes() const {
    Handle bytes(H5Dopen2(file_, kBytes, H5P_DEFAULT), H5Dclose);
    if (!bytes.good()) fail(path_, "has no dataset \"bytes\"", remedy_);
    const Handle space(H5Dget_space(bytes), H5Sclose), type(H5Dget_type(bytes), H5Tclose);
    if (H5Sget_simple_extent_ndims(space) != 1 || H5Tequal(type, H5T_NATIVE_UINT8) <= 0) {
      fail(path_, "its \"bytes\" is not a one-dimensional array of bytes", remedy_);
    }
    const auto found = static_cast<std::uint64_t>(H5Sget_simple_extent_npoints(space));
    if (found != total_) {
      throw Error(path_,
                  "holds " + std::to_string(found) + " bytes of samples, the manifest says " +
                      std::to_string(total_),
                  remedy_);
    }
    return bytes;
  }

  // This program does not use the offsets, but others do (h5py).
  void check_offsets(const storage::DatasetVariant& variant) const {
    const Handle offsets(H5Dopen2(file_, kOffsets, H5P_DEFAULT), H5Dclose);
    if (!offsets.good()) fail(path_, "has no dataset \"offsets\"", remedy_);
    const Handle space(H5Dget_space(offsets), H5Sclose);
    std::vector<std::uint64_t> found(variant.samples.size() + 1);
    const bool right_size =
        H5Sget_simple_extent_ndims(space) == 1 &&
        H5Sget_simple_extent_npoints(space) == static_cast<hssize_t>(found.size());
    if (!right_size ||
        H5Dread(offsets, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, found.data()) < 0) {
      fail(path_, "its \"offsets\" cannot be read", remedy_);
    }
    for (std::size_t i = 0; i < variant.samples.size(); ++i) {
      if (found[i] != variant.samples[i].offset)
        throw Error(path_, "its \"offsets\" are not those of the manifest", remedy_);
    }
    if (found.back() != total_)
      throw Error(path_, "its \"offsets\" are not those of the manifest", remedy_);
  }

  void read_sample(const storage::ReadRequest& request, storage::ReadCompletion& done) override {
    const storage::SampleFile& sample = *request.sample;
    const std::size_t head = sample.bytes - request.tail.size();
    const std::span<std::byte> to(buffers_[request.tag].resize(head), head);
    const std::int64_t asked = measure::now_ns();
    std::unique_lock lock(library_lock());
    done.lock_ns = measure::now_ns() - asked;
    keep_quiet();
    read_range(sample, sample.offset, to);
    read_range(sample, sample.offset + head, request.tail);
    done.bytes = to;
  }

  void read_range(const storage::SampleFile& sample, std::uint64_t offset,
                  std::span<std::byte> to) {
    if (to.empty()) return;
    const Handle from = range_of(bytes_, offset, to.size()), memory = line_of(to.size());
    if (H5Dread(bytes_, H5T_NATIVE_UINT8, memory, from, H5P_DEFAULT, to.data()) < 0) {
      fail(path_ + ": " + sample.path, "cannot be read", remedy_);
    }
  }

  std::vector<storage::Buffer> buffers_;       // by tag
  const std::string path_, command_, remedy_;  // the command packs it again
  const std::uint64_t total_;
  std::unique_lock<std::mutex> lock_;  // declared before the handles: released after them
  std::thread::id quiet_in_;
  Handle file_, bytes_;
};

}  // namespace

std::unique_ptr<storage::Storage> open_samples(const storage::DatasetVariant& variant,
                                               const storage::Io& io) {
  return std::make_unique<Hdf5Samples>(variant, io.depth);
}

}  // namespace feedrate::hdf5
