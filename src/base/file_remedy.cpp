#include "base/file_remedy.h"

#include <cerrno>

namespace feedrate {
namespace {

std::string_view cure_of_writing(int error) {
  switch (error) {
    case ENOSPC:
      return "free some space";
    case EDQUOT:
      return "raise this user's quota or free some of it";
    case EFBIG:
      return "allow this process longer files (`ulimit -f`)";
    case EROFS:
      return "mount it writable";
    case EACCES:
    case EPERM:
      return "let this user write there";
    case EEXIST:
    case ENOTDIR:
      return "take the file out of its path";
    default:
      return cure_of_reading(error);  // a broken disk is the same for both
  }
}

}  // namespace

std::string_view cure_of_reading(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return "make it readable for this user";
    case EMFILE:
    case ENFILE:
      return "allow this process more open files (`ulimit -n`)";
    case ESTALE:
    case ENOTCONN:
    case EHOSTDOWN:
      return "mount its file system again";
    // What Linux says of block devices and of file systems whose own checksums do not match.
    case EIO:
    case EREMOTEIO:
    case ENODATA:
    case EBADMSG:
    case EUCLEAN:
    case EILSEQ:
    case ENOLINK:
    case ETIMEDOUT:
      return "the storage fails: see the kernel's log (dmesg)";
    default:
      return {};
  }
}

std::string remedy_of_writing(int error, std::string_view more, std::string_view joint) {
  const std::string_view cure = cure_of_writing(error);
  if (cure.empty()) return std::string(more);
  return std::string(cure).append(joint).append(more);
}

void refuse_reading(std::string_view thing, std::string_view reason, int error,
                    std::string_view otherwise) {
  const std::string_view cure = cure_of_reading(error);
  if (cure.empty()) throw Error(thing, reason, otherwise);
  throw UnreadableError(thing, reason, cure);
}

void refuse_unreadable(std::string_view thing, const std::error_code& error) {
  const std::string_view cure = cure_of_reading(error.value());
  if (!cure.empty()) throw UnreadableError(thing, error.message(), cure);
}

}  // namespace feedrate
