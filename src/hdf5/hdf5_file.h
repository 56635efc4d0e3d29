#pragma once
#include <hdf5.h>

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace feedrate::hdf5 {

// The library serves one thread at a time: a thread-safe build has a lock of its own, any other
// build has none. This lock is taken before the library's, so that the waiting can be measured. The
// callers of all functions below hold it.
std::mutex& library_lock();

// Why the library's last call failed: `what` with the library's reason, and the errno if a system
// call was at fault (else 0).
struct Failure {
  std::string reason;
  int error;
};
Failure last_failure(const std::string& what);

// Throws an Error with the library's reason why `path` could not be read.
[[noreturn]] void fail(const std::string& path, const std::string& what, std::string_view remedy);

// A handle of the library, closed by `close`.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }
  bool good() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

// The file's layout: all samples one after the other in the manifest's order, and where each
// begins, so that h5py reads sample i as file["bytes"][offsets[i]:offsets[i + 1]].
inline constexpr const char* kBytes =
    "bytes";  // uint8, chunks of kChunk, or of a sample where all have one size
inline constexpr const char* kOffsets = "offsets";  // uint64, one more than there are samples
inline constexpr hsize_t kChunk = 1 << 20;

// A range of a one-dimensional dataset in the file.
Handle range_of(const Handle& dataset, std::uint64_t first, std::uint64_t count);
Handle line_of(std::uint64_t count);  // a one-dimensional space

}  // namespace feedrate::hdf5
