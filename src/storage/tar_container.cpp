// The container "tar": one POSIX tar file (ustar) for all samples, in the manifest's order, as `tar
// -xf` unpacks it. Nothing of the archive is parsed while it is read: where a sample lies follows
// from the manifest.
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/whole_file.h"
#include "storage/container.h"
#include "storage/manifest.h"
#include "storage/pack.h"
#include "storage/placed_files.h"

namespace feedrate::storage {
namespace {

constexpr const char* kTarFile = "samples.tar";
constexpr std::uint64_t kBlock = 512;
constexpr std::string_view kRemedy =
    "remove it and pack it again by `feedrate gen --container tar`";
using Block = std::array<char, kBlock>;

std::unique_ptr<Storage> open(const DatasetVariant& variant, const Io& io) {
  const std::string path = (variant.folder / kTarFile).string();
  ReadOnlyFile{path};  // says why it cannot be opened
  std::error_code error;
  const std::uint64_t found = std::filesystem::file_size(path, error);
  const std::uint64_t expected = packed_bytes(variant) + 2 * kBlock;
  if (error || found != expected) {
    throw Error(path,
                error ? error.message()
                      : "has " + std::to_string(found) + " bytes, the manifest says " +
                            std::to_string(expected),
                kRemedy);
  }
  return io.engine->open({.folder = variant.folder.string() + "/",
                          .packed = {path},
                          .remedy = kRemedy,
                          .largest = largest_sample(variant)},
                         io.depth);
}

// POSIX.1-1988's header; numbers are octal digits. A name of more than 100 bytes is split at a
// slash.
Block header_of(const SampleFile& sample) {
  Block block{};
  const auto put = [&](std::size_t at, std::string_view text) {
    std::copy(text.begin(), text.end(), &block[at]);
  };
  const auto octal = [&](std::size_t at, int digits, std::uint64_t value) {
    char text[24];
    put(at,
        {text, static_cast<std::size_t>(std::snprintf(text, sizeof text, "%0*llo", digits,
                                                      static_cast<unsigned long long>(value)))});
  };
  std::string_view name = sample.path, prefix;
  if (name.size() > 100) {
    const std::size_t slash = name.find('/', name.size() - 101);
    prefix = name.substr(0, std::min(slash, name.size()));
    name = slash == std::string_view::npos ? std::string_view{} : name.substr(slash + 1);
  }
  if (name.empty() || prefix.size() > 155 || sample.bytes >> 33 != 0) {
    throw Error(sample.path, "has a name or a size that a tar file cannot hold",
                "use --container files");
  }
  put(0, name);
  octal(100, 7, 0644), octal(108, 7, 0), octal(116, 7, 0), octal(124, 11, sample.bytes),
      octal(136, 11, 0);
  put(148, "        "), put(156, "0"), put(257, "ustar"), put(263, "00"), put(345, prefix);
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  octal(148, 6, sum), block[154] = '\0';
  return block;
}

bool write_samples(const DatasetVariant& from, const PosixFile& to, const PackProgress& progress) {
  const auto storage = make_storage(from);
  constexpr Block kZeros{};
  const auto write_zeros = [&](std::uint64_t bytes) {
    to.write(std::as_bytes(std::span(kZeros)).first(bytes));
  };
  Buffer buffer;
  std::size_t done = 0;
  for (const SampleFile& sample : from.samples) {
    read_for_packing(*storage, from, sample, buffer);
    const Block header = header_of(sample);
    to.write(std::as_bytes(std::span(header)));
    to.write(buffer.bytes());
    write_zeros((kBlock - sample.bytes % kBlock) % kBlock);
    if (!progress(++done)) return false;
  }
  write_zeros(kBlock), write_zeros(kBlock);
  return true;
}

bool pack(const DatasetVariant& from, const std::filesystem::path& to,
          const PackProgress& progress) {
  return write_packed(to, [&](const std::filesystem::path& partial) {
    PosixFile file(partial, O_WRONLY | O_CREAT | O_TRUNC);
    const bool whole = write_samples(from, file, progress);
    file.close();
    return whole;
  });
}

}  // namespace

Container tar_container() {
  return {.name = "tar",
          .help = "one tar file, read at the offsets that the manifest gives",
          .packed = kTarFile,
          .layout = {.header = kBlock, .block = kBlock},
          .open = open,
          .pack = pack};
}

}  // namespace feedrate::storage
