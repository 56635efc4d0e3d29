// The format "npz": a zip file of arrays as numpy.savez() writes it (stored) and
// numpy.savez_compressed() (deflated). The picture is the array image, else arr_0, else the only
// one that can be a picture; a file of our own has arr_0 alone.
// https://numpy.org/doc/stable/reference/generated/numpy.savez The zip file's directory at its end
// says where the array lies: what stands before the array may leave sizes and checksum to what
// follows it.
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "codec/bytes.h"
#include "codec/formats.h"
#include "codec/npy.h"
#include "codec/scratch.h"

namespace feedrate::codec {
namespace {

constexpr std::string_view kArray = "arr_0.npy", kImage = "image.npy";
constexpr std::uint32_t kLocalMagic = 0x04034b50, kEntryMagic = 0x02014b50, kEndMagic = 0x06054b50;
constexpr std::size_t kLocalBytes = 30, kEntryBytes = 46, kEndBytes = 22;
constexpr std::uint16_t kStored = 0, kDeflated = 8, kEncrypted = 1;
// Enough for the .npy header that numpy writes, whose 128 bytes it fills up.
constexpr std::size_t kHeaderAtMost = 1024;

// An array, as it lies in the file.
struct ZipMember {
  std::span<const std::byte> stored{};
  std::size_t bytes = 0;  // inflated
  std::uint32_t crc32 = 0;
  bool deflated = false;
  std::string problem{};  // why it cannot be read; empty: it can
};
ZipMember unreadable_member(std::string problem) { return {.problem = std::move(problem)}; }

std::uint32_t crc32_of(std::span<const std::byte> bytes) {
  return crc32_gzip_refl(0, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A file in the zip, by its entry in the directory.
struct ZipEntry {
  std::span<const std::byte> bytes;
  std::string_view name;
};

// The directory, and where it lies in the file.
struct ZipDirectory {
  static constexpr std::size_t kMost = 32;
  std::array<ZipEntry, kMost> entries;
  std::size_t count = 0;
  std::uint64_t begin = 0;
};

ZipDirectory read_directory(std::span<const std::byte> file, std::string_view name) {
  if (file.size() < kEndBytes) refuse_picture(name, "not a .npz file");
  const std::byte* const end = &file[file.size() - kEndBytes];
  if (load_le<std::uint32_t>(end) != kEndMagic)
    refuse_picture(name, "not a .npz file, or cut off: no zip directory ends it");
  ZipDirectory directory{.entries = {}, .count = load_le<std::uint16_t>(end + 10)};
  if (directory.count == 0) refuse_picture(name, "holds no array");
  if (directory.count > ZipDirectory::kMost)
    refuse_picture(name, "holds " + std::to_string(directory.count) + " arrays, more than " +
                             std::to_string(ZipDirectory::kMost));
  const std::uint64_t bytes = load_le<std::uint32_t>(end + 12);
  directory.begin = load_le<std::uint32_t>(end + 16);
  if (directory.begin + bytes + kEndBytes != file.size())
    refuse_picture(name, "its zip directory is damaged");
  auto rest = file.subspan(directory.begin, bytes);
  for (ZipEntry& entry : std::span(directory.entries).first(directory.count)) {
    if (rest.size() < kEntryBytes || load_le<std::uint32_t>(&rest[0]) != kEntryMagic)
      refuse_picture(name, "its zip directory is damaged");
    const std::size_t named = load_le<std::uint16_t>(&rest[28]);
    const std::size_t length = kEntryBytes + named + load_le<std::uint16_t>(&rest[30]) +
                               load_le<std::uint16_t>(&rest[32]);  // and what is beside the name
    if (length > rest.size()) refuse_picture(name, "its zip directory is damaged");
    entry = {rest.first(length), text_of(rest.subspan(kEntryBytes, named))};
    rest = rest.subspan(length);
  }
  return directory;
}

ZipMember find_array(std::span<const std::byte> file, const ZipEntry& entry,
                     std::uint64_t directory) {
  const std::byte* const at = entry.bytes.data();
  const auto flags = load_le<std::uint16_t>(at + 8), method = load_le<std::uint16_t>(at + 10);
  if ((flags & kEncrypted) != 0) return unreadable_member("is encrypted");
  if (method != kStored && method != kDeflated)
    return unreadable_member("is compressed by method " + std::to_string(method) +
                             " of zip; numpy stores (0) or deflates (8)");
  const std::uint64_t stored = load_le<std::uint32_t>(at + 20),
                      bytes = load_le<std::uint32_t>(at + 24),
                      header = load_le<std::uint32_t>(at + 42);
  if (header + kLocalBytes > directory) return unreadable_member("its zip directory is damaged");
  // It begins behind a header that is as the directory says.
  const std::byte* const local = &file[header];
  const std::size_t named = load_le<std::uint16_t>(local + 26);
  const std::uint64_t begin = header + kLocalBytes + named + load_le<std::uint16_t>(local + 28);
  if (load_le<std::uint32_t>(local) != kLocalMagic || load_le<std::uint16_t>(local + 8) != method ||
      begin > directory || text_of(file.subspan(header + kLocalBytes, named)) != entry.name)
    return unreadable_member("its array is not where the zip directory says");
  if (stored > directory - begin || (method == kStored && stored != bytes))
    return unreadable_member("its array is not as long as the zip directory says");
  return {file.subspan(begin, stored), bytes, load_le<std::uint32_t>(at + 16), method == kDeflated};
}

class NpzDecoder : public Decoder {
 public:
  PixelSize open(std::span<const std::byte> encoded, std::string_view name) override {
    name_ = name;
    header_ = {};
    const ZipDirectory directory = read_directory(encoded, name);
    member_ = find_array(encoded, choose(encoded, directory), directory.begin);
    if (!member_.problem.empty()) refuse_picture(name, member_.problem);
    const NpyHeader header = parse_npy_header(first(header_at_most()), name);
    check_payload(member_.bytes - header.bytes, packed_bytes(header.size), name);
    header_ = header;
    return header_.size;
  }

  DecodedWindow decode(const Rect& window, int /*reduction*/) override {
    check_window(window, header_.size, name_);
    const NpyHeader header = std::exchange(header_, {});  // once per open()
    const std::size_t stride = static_cast<std::size_t>(header.size.width) * 3;
    const auto rows = static_cast<std::size_t>(window.y) + static_cast<std::size_t>(window.height);
    // Nothing below the window is inflated; what is stored costs little to look at.
    const auto array = first(member_.deflated ? header.bytes + rows * stride : member_.bytes);
    if (array.size() == member_.bytes && crc32_of(array) != member_.crc32)
      refuse_picture(name_, "its checksum is wrong");
    return DecodedWindow(copy_window({header.size, array.data() + header.bytes}, window, pixels_));
  }

 private:
  std::size_t header_at_most() const { return std::min(member_.bytes, kHeaderAtMost); }

  // The array that is the picture: by its name, else the only one that can be.
  const ZipEntry& choose(std::span<const std::byte> file, const ZipDirectory& directory) {
    const auto entries = std::span(directory.entries).first(directory.count);
    for (const std::string_view name : {kImage, kArray}) {
      const auto named = std::ranges::find(entries, name, &ZipEntry::name);
      if (named != entries.end()) return *named;
    }
    const ZipEntry* found = nullptr;
    int pictures = 0;
    for (const ZipEntry& entry : entries) {
      if (!is_picture(file, entry, directory.begin)) continue;
      found = &entry;
      ++pictures;
    }
    if (pictures == 1) return *found;
    const auto array_name = [](const ZipEntry& entry) {
      return printable(entry.name.substr(0, entry.name.rfind(".npy")), 20);
    };
    constexpr std::size_t kMostNamed = 8;
    const std::size_t named = std::min(entries.size(), kMostNamed);
    std::string arrays = listed(entries.first(named), array_name);
    if (named < entries.size())
      arrays += " and " + std::to_string(entries.size() - named) + " more";
    refuse_picture(name_, "holds " + arrays + ": none is image or arr_0, and " +
                              (pictures == 0 ? "none" : "more than one") +
                              " is uint8 of shape (height, width, 3)");
  }

  // Other arrays are no errors: nothing is thrown for them.
  bool is_picture(std::span<const std::byte> file, const ZipEntry& entry, std::uint64_t directory) {
    member_ = find_array(file, entry, directory);
    if (!member_.problem.empty()) return false;
    const auto start = try_first(header_at_most());
    return start && read_npy_header(*start).is_picture();
  }

  // The first bytes of the array, not more than it has.
  std::span<const std::byte> first(std::size_t bytes) {
    const auto found = try_first(bytes);
    if (!found) refuse_picture(name_, "its compressed array is damaged");
    return *found;
  }
  // Nothing: they are damaged.
  std::optional<std::span<const std::byte>> try_first(std::size_t bytes) {
    if (!member_.deflated || bytes == 0) return member_.stored.first(bytes);
    std::uint8_t* const to = grow(inflated_, bytes);
    isal_inflate_init(&state_);
    state_.crc_flag = ISAL_DEFLATE;
    // it is only read
    state_.next_in =
        const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(member_.stored.data()));
    state_.avail_in = static_cast<std::uint32_t>(member_.stored.size());
    state_.next_out = to;
    state_.avail_out = static_cast<std::uint32_t>(bytes);
    const int result = isal_inflate_stateless(&state_);
    const bool stopped = result == ISAL_OUT_OVERFLOW && bytes < member_.bytes;
    if (state_.avail_out != 0 || (result != ISAL_DECOMP_OK && !stopped)) return std::nullopt;
    return std::as_bytes(std::span(inflated_).first(bytes));
  }

  std::string name_;
  ZipMember member_;
  NpyHeader header_;  // without a size when none is open
  inflate_state state_;
  Scratch inflated_;
  std::vector<std::uint8_t> pixels_;
};

template <std::unsigned_integral Int>
void put(std::byte*& to, Int value) {
  store_le(to, value);
  to += sizeof(Int);
}
void put(std::byte*& to, std::string_view text) {
  std::memcpy(to, text.data(), text.size());
  to += text.size();
}
// One after the other, little endian.
template <typename... Values>
void put_all(std::byte* to, Values... values) {
  (put(to, values), ...);
}

// What numpy writes: by zip's fourth version, with 64-bit sizes before the array in any case, made
// on Unix on the first day that zip knows, readable by its owner.
void encode_npz(const PixelView& pixels, const EncodeOptions&, std::vector<std::byte>& out) {
  using U16 = std::uint16_t;
  using U32 = std::uint32_t;
  constexpr U16 kVersion = 45, kUnix = 3 << 8, kNone = 0, kFirstDay = 1 << 5 | 1;
  constexpr U16 kZip64 = 1, kZip64Bytes = 16, kNameBytes = kArray.size();
  constexpr U32 kOwner = 0600U << 16, kElsewhere = 0xffffffff;
  constexpr std::size_t kBegin = kLocalBytes + kNameBytes + 4 + kZip64Bytes;

  out.assign(kBegin, std::byte{});
  append_npy(pixels, out);
  const auto array = std::span<const std::byte>(out).subspan(kBegin);
  const auto bytes = static_cast<U32>(array.size());
  const U32 crc32 = crc32_of(array);
  const std::size_t directory = out.size();
  out.resize(directory + kEntryBytes + kNameBytes + kEndBytes);

  put_all(out.data(), kLocalMagic, kVersion, kNone, kStored, kNone, kFirstDay, crc32, kElsewhere,
          kElsewhere, kNameBytes, U16{4 + kZip64Bytes}, kArray, kZip64, kZip64Bytes,
          std::uint64_t{bytes}, std::uint64_t{bytes});
  put_all(&out[directory], kEntryMagic, U16{kUnix | kVersion}, kVersion, kNone, kStored, kNone,
          kFirstDay, crc32, bytes, bytes, kNameBytes, kNone, kNone, kNone, kNone, kOwner, U32{0},
          kArray, kEndMagic, kNone, kNone, U16{1}, U16{1}, U32{kEntryBytes + kNameBytes},
          static_cast<U32>(directory), kNone);
}

}  // namespace

Format npz_format() {
  return {"npz",
          ".npz",
          "one NumPy array in a zip file, stored; deflated ones are read, too",
          true,
          [] { return std::unique_ptr<Decoder>(std::make_unique<NpzDecoder>()); },
          encode_npz};
}

}  // namespace feedrate::codec
