#include "storage/packed_files.h"

#include <fcntl.h>

#include <algorithm>
#include <optional>
#include <system_error>

#include "base/file_remedy.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "storage/gen_command.h"
#include "storage/pack.h"
#include "storage/placed_files.h"

namespace feedrate::storage {
namespace {

// Throws the Error of a file that cannot be opened or has another length.
void check_length(const std::string& path, std::uint64_t expected, std::string_view remedy) {
  ReadOnlyFile{path};  // says why it cannot be opened
  std::error_code error;
  const std::uint64_t found = std::filesystem::file_size(path, error);
  if (error) refuse_reading(path, error.message(), error.value(), remedy);
  if (found == expected) return;
  throw Error(
      path,
      "has " + std::to_string(found) + " bytes, the manifest says " + std::to_string(expected),
      remedy);
}

// Writes the files under other names, one after the other; false: `progress` ended it.
bool write_files(const Container& container, WriteHeader write_header, const DatasetVariant& from,
                 const Paths& partial, const PackProgress& progress) {
  constexpr int kNew = O_WRONLY | O_CREAT | O_TRUNC;
  const PackedLayout& layout = container.layout;
  const std::vector<std::byte> zeros(std::max(layout.block, layout.end));
  std::optional<PosixFile> file(std::in_place, partial.front(), kNew);
  const auto write_zeros = [&](std::uint64_t bytes) { file->write(std::span(zeros).first(bytes)); };
  const auto end_file = [&] { write_zeros(layout.end), file->close(); };

  const auto storage = make_storage(from);
  Placing placing(layout);
  std::vector<std::byte> header;
  Buffer buffer;
  std::uint32_t shard = 0;
  std::size_t done = 0;
  for (const SampleFile& sample : from.samples) {
    const Placing::Place place = placing.next(sample.bytes);
    if (place.shard != shard) {
      end_file();
      file.emplace(partial[shard = place.shard], kNew);
    }
    read_for_packing(*storage, from, sample, buffer);
    header.assign(layout.header, std::byte{});
    write_header(sample, header);
    file->write(header);
    file->write(buffer.bytes());
    write_zeros((layout.block - sample.bytes % layout.block) % layout.block);
    if (!progress(++done)) return false;
  }
  end_file();
  return true;
}

}  // namespace

std::uint64_t Placing::end_of(std::uint64_t begin, std::uint64_t bytes) const {
  return (begin + layout_.header + bytes + layout_.block - 1) / layout_.block * layout_.block;
}

Placing::Place Placing::next(std::uint64_t bytes) {
  const bool begun = ends_.back() > 0;
  if (layout_.most > 0 && begun && end_of(ends_.back(), bytes) + layout_.end > layout_.most)
    ends_.push_back(0);
  const std::uint64_t begin = ends_.back();
  ends_.back() = end_of(begin, bytes);
  return {static_cast<std::uint32_t>(ends_.size() - 1), begin + layout_.header};
}

std::vector<std::uint64_t> Placing::lengths() const {
  std::vector<std::uint64_t> lengths = ends_;
  for (std::uint64_t& length : lengths) length += layout_.end;
  return lengths;
}

std::vector<std::string> packed_names(const Container& container, std::size_t count) {
  std::vector<std::string> names{std::string(container.packed)};
  const std::size_t first = container.packed.find('0'), last = container.packed.rfind('0');
  for (std::size_t i = 1; i < count; ++i) {
    names.push_back(std::string(container.packed.substr(0, first)) + format("%06zu", i) +
                    std::string(container.packed.substr(last + 1)));
  }
  return names;
}

std::unique_ptr<Storage> open_packed(const DatasetVariant& variant, const Io& io,
                                     std::string_view remedy) {
  Placement placement{.folder = variant.folder.string() + "/",
                      .remedy = std::string(remedy),
                      .largest = variant.largest_bytes};
  for (std::size_t i = 0; i < variant.packed.size(); ++i) {
    const std::string path = (variant.folder / variant.packed[i]).string();
    check_length(path, variant.packed_bytes[i], remedy);
    placement.packed.push_back(path);
  }
  return io.engine->open(std::move(placement), io.depth);
}

std::unique_ptr<Storage> open_packed(const DatasetVariant& variant, const Io& io) {
  return open_packed(variant, io, "remove it and pack it again: " + gen_command(variant));
}

bool pack_samples(const Container& container, WriteHeader write_header, const DatasetVariant& from,
                  const std::filesystem::path& folder, const PackProgress& progress) {
  Placing placing(container.layout);
  for (const SampleFile& sample : from.samples) placing.next(sample.bytes);
  Paths to;
  for (const std::string& name : packed_names(container, placing.lengths().size()))
    to.push_back(folder / name);
  return write_packed(to, [&](const Paths& partial) {
    return write_files(container, write_header, from, partial, progress);
  });
}

}  // namespace feedrate::storage
