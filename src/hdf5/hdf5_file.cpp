#include "hdf5/hdf5_file.h"

#include <cstdlib>
#include <string>
#include <string_view>

#include "base/file_remedy.h"

namespace feedrate::hdf5 {
namespace {

// The innermost entry of the library's error stack says what went wrong.
herr_t keep_innermost(unsigned, const H5E_error2_t* entry, void* text) {
  *static_cast<std::string*>(text) = entry->desc == nullptr ? "" : entry->desc;
  return 0;
}

// Of a failed system call the library tells all arguments, in several lines.
std::string in_short(const std::string& reason) {
  constexpr std::string_view kSystem = "error message = '";
  const std::size_t at = reason.find(kSystem);
  if (at == std::string::npos) return reason.substr(0, reason.find('\n'));
  const std::size_t begin = at + kSystem.size();
  return reason.substr(begin, reason.find('\'', begin) - begin);
}

// Of a failed system call; 0: of something else.
int errno_in(const std::string& reason) {
  constexpr std::string_view kErrno = "errno = ";
  const std::size_t at = reason.find(kErrno);
  return at == std::string::npos ? 0 : std::atoi(reason.c_str() + at + kErrno.size());
}

}  // namespace

std::mutex& library_lock() {
  static std::mutex lock;
  return lock;
}

Failure last_failure(const std::string& what) {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_innermost, &reason);
  const std::string shortened = in_short(reason);
  return {shortened.empty() ? what : what + ": " + shortened, errno_in(reason)};
}

void fail(const std::string& path, const std::string& what, std::string_view remedy) {
  const Failure failure = last_failure(what);
  refuse_reading(path, failure.reason, failure.error, remedy);
}

Handle line_of(std::uint64_t count) {
  const hsize_t size = count;
  return {H5Screate_simple(1, &size, nullptr), H5Sclose};
}

Handle range_of(const Handle& dataset, std::uint64_t first, std::uint64_t count) {
  Handle space(H5Dget_space(dataset), H5Sclose);
  const hsize_t start = first, length = count;
  if (space.good()) H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &length, nullptr);
  return space;
}

}  // namespace feedrate::hdf5
