#include "base/whole_file.h"

#include <cerrno>
#include <random>

#include "base/file_remedy.h"
#include "base/xxh3.h"

namespace feedrate {
void sync_folder(const std::filesystem::path& folder) {
  try {
    PosixFile(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY).sync();
  } catch (const std::system_error& error) {
    if (error.code().value() != EINVAL && error.code().value() != ENOTSUP) throw;
  }
}

void make_folder(const std::filesystem::path& folder, std::string_view elsewhere) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return;
  throw Error(folder.string(), "cannot make the folder: " + error.message(),
              remedy_of_writing(error.value(), elsewhere));
}

std::string unique_name() {
  std::random_device chance;
  return to_hex((std::uint64_t{chance()} << 32) | chance());
}

std::filesystem::path own_name_beside(const std::filesystem::path& path) {
  return path.string() + "." + unique_name() + ".partial";
}

void write_whole_file(const std::filesystem::path& path, std::span<const std::byte> bytes,
                      bool durable) {
  const std::filesystem::path partial = path.string() + ".partial";
  try {
    PosixFile file(partial, O_WRONLY | O_CREAT | O_TRUNC);
    file.write(bytes);
    if (durable) file.sync();
    file.close();
    std::filesystem::rename(partial, path);
    if (durable) sync_folder(path.parent_path());
  } catch (const std::system_error& error) {
    std::error_code ignored;
    std::filesystem::remove(partial, ignored);
    throw Error(path.string(), "cannot write it: " + error.code().message(),
                remedy_of_writing(error.code().value(), "choose another folder"));
  }
}

void write_whole_file(const std::filesystem::path& path, std::string_view text, bool durable) {
  write_whole_file(path, std::as_bytes(std::span(text)), durable);
}

void check_replaceable(const std::filesystem::path& path) {
  constexpr const char* kElsewhere = "name a file in a folder that can be written";
  const auto refuse = [&](int error) {
    throw Error(path.string(), "cannot be written: " + std::generic_category().message(error),
                remedy_of_writing(error, kElsewhere));
  };
  std::error_code ignored;
  const auto type = std::filesystem::status(path, ignored).type();
  if (type == std::filesystem::file_type::directory) refuse(EISDIR);
  if (type != std::filesystem::file_type::not_found && type != std::filesystem::file_type::regular)
    throw Error(path.string(), "is no file that can be replaced", "name another file");
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  if (std::filesystem::exists(folder, ignored) && !std::filesystem::is_directory(folder, ignored))
    refuse(ENOTDIR);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) refuse(errno);
}

void read_whole_file(const std::filesystem::path& path, std::vector<std::byte>& out) {
  const PosixFile file = PosixFile::open_regular(path);
  struct stat status{};
  ::fstat(file.get(), &status);
  out.resize(static_cast<std::size_t>(status.st_size) + 1);  // a byte more shows that it has grown
  out.resize(file.read(out));
}

std::string read_whole_text(const std::filesystem::path& path) {
  std::vector<std::byte> bytes;
  read_whole_file(path, bytes);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace feedrate
