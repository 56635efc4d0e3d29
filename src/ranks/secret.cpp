#include "ranks/secret.h"

#include <array>
#include <system_error>

#include "base/error.h"
#include "base/whole_file.h"

namespace feedrate::ranks {
namespace {

constexpr const char* kVariable = "FEEDRATE_SECRET";
constexpr const char* kFileVariable = "FEEDRATE_SECRET_FILE";
constexpr const char* kMakeOne = "make one: (umask 077; openssl rand -hex 32 > FILE)";
constexpr std::size_t kLongestSecret = 4096;

[[noreturn]] void refuse(const std::string& path, const std::string& reason,
                         const std::string& remedy) {
  throw UsageError(std::string(kFileVariable) + "=" + path, reason, remedy);
}

// The file that is open, not its name, is what is looked at: the name may be given to another file.
void check_owner(const PosixFile& file, const std::string& path) {
  struct stat status{};
  if (fstat(file.get(), &status) != 0 || status.st_uid != geteuid())
    refuse(path, "belongs to another user", "use a file of your own");
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    refuse(path, "can be read or changed by other users", "chmod 600 " + path);
}

std::string contents_of(const std::string& path) {
  try {
    const PosixFile file = PosixFile::open_regular(path);
    check_owner(file, path);
    std::array<std::byte, kLongestSecret + 1> buffer;
    const std::size_t size = file.read(buffer);
    if (size > kLongestSecret)
      refuse(path, "holds more than " + std::to_string(kLongestSecret) + " bytes", kMakeOne);
    return {reinterpret_cast<const char*>(buffer.data()), size};
  } catch (const std::system_error& error) {
    const bool is_no_file = error.code() == std::errc::invalid_argument;
    refuse(path, is_no_file ? "is no regular file" : "cannot be read: " + error.code().message(),
           kMakeOne);
  }
}

}  // namespace

Secret secret_of(const GetVariable& variable) {
  const char* const file = variable(kFileVariable);
  const char* const value = variable(kVariable);
  if (!file && !value) return {};
  if (file && value)
    throw UsageError(kVariable, std::string("is set, and ") + kFileVariable + " as well",
                     "unset one of them");
  const std::string path = file ? file : "";
  if (file && path.empty()) refuse(path, "names no file", "unset it, or name one");
  std::string bytes = file ? contents_of(path) : value;
  const auto end = bytes.find_last_not_of(" \t\r\n");
  bytes.erase(end == std::string::npos ? 0 : end + 1);
  if (bytes.find('\0') != std::string::npos)  // HMAC pads with them: only zeros would be no secret
    throw UsageError(kFileVariable, "holds zero bytes", kMakeOne);
  if (bytes.size() < kShortestSecret) {
    throw UsageError(path.empty() ? kVariable : std::string(kFileVariable) + "=" + path,
                     "has " + std::to_string(bytes.size()) + " characters, fewer than " +
                         std::to_string(kShortestSecret),
                     kMakeOne);
  }
  return {std::move(bytes)};
}

}  // namespace feedrate::ranks
