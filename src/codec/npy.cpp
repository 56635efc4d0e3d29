// The format "npy": numpy.save() of a uint8 array of shape (height, width, 3), version 1.0.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#include "codec/npy.h"

#include <charconv>
#include <cstring>

#include "codec/bytes.h"
#include "codec/formats.h"

namespace feedrate::codec {
namespace {

constexpr char kNpyMagic[] = "\x93NUMPY\x01\x00";  // with the version, 1.0
constexpr std::size_t kFixedBytes = 10;            // magic, version, u16 length of the header text

// The header is the text of a Python dictionary. Only what numpy writes for our arrays is taken:
// three known keys, each once, in any order.
class HeaderText {
 public:
  explicit HeaderText(std::string_view text) : rest_(text) {}

  // False: it is no such text, or of another array.
  bool parse() {
    if (!accept("{")) return false;
    while (!accept("}")) {
      if (!parse_item()) return false;
      if (accept(",")) continue;
      if (!accept("}")) return false;
      break;
    }
    skip_spaces();
    return rest_.empty() && descr_ && order_ && shape_;
  }
  std::int64_t width() const { return width_; }
  std::int64_t height() const { return height_; }

 private:
  bool parse_item() {
    if (!descr_ && accept("'descr'")) return descr_ = accept(":") && accept("'|u1'");
    if (!order_ && accept("'fortran_order'")) return order_ = accept(":") && accept("False");
    if (!shape_ && accept("'shape'")) return shape_ = accept(":") && parse_shape();
    return false;
  }

  bool parse_shape() {
    std::int64_t channels = 0;
    if (!accept("(") || !number(height_) || !accept(",") || !number(width_) || !accept(",") ||
        !number(channels) || channels != 3)
      return false;
    accept(",");
    return accept(")");
  }

  bool number(std::int64_t& to) {
    skip_spaces();
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) return false;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    to = value;
    return true;
  }

  bool accept(std::string_view token) {
    skip_spaces();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void skip_spaces() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n')) rest_.remove_prefix(1);
  }

  std::string_view rest_;
  std::int64_t height_ = 0, width_ = 0;
  bool descr_ = false, order_ = false, shape_ = false;
};

PlainPixels parse_npy(std::span<const std::byte> file, std::string_view name) {
  const NpyHeader header = parse_npy_header(file, name);
  check_payload(file.size() - header.bytes, packed_bytes(header.size), name);
  return {header.size, file.data() + header.bytes};
}

void encode_npy(const PixelView& pixels, const EncodeOptions&, std::vector<std::byte>& out) {
  out.clear();
  append_npy(pixels, out);
}

}  // namespace

NpyClaim read_npy_header(std::span<const std::byte> start) {
  if (start.size() < kFixedBytes || std::memcmp(start.data(), kNpyMagic, 8) != 0)
    return {.problem = "not a .npy file of version 1.0"};
  const std::size_t length = load_le<std::uint16_t>(&start[8]);
  if (length > start.size() - kFixedBytes) return {.problem = "its .npy header is cut off"};
  const auto* const first = reinterpret_cast<const char*>(start.data());
  HeaderText header(std::string_view(first + kFixedBytes, length));
  if (!header.parse())
    return {.problem = "not a C-ordered uint8 .npy array of shape (height, width, 3)"};
  return {header.width(), header.height(), kFixedBytes + length};
}

NpyHeader parse_npy_header(std::span<const std::byte> start, std::string_view name) {
  const NpyClaim claim = read_npy_header(start);
  if (!claim.problem.empty()) refuse_picture(name, claim.problem);
  return {checked_size(claim.width, claim.height, name), claim.bytes};
}

void append_npy(const PixelView& pixels, std::vector<std::byte>& out) {
  std::string text = "{'descr': '|u1', 'fortran_order': False, 'shape': (" +
                     std::to_string(pixels.height) + ", " + std::to_string(pixels.width) +
                     ", 3), }";
  // Padded so that the pixels start at a multiple of 64 bytes, the last byte a newline.
  text.append(63 - (kFixedBytes + text.size()) % 64, ' ').push_back('\n');
  const std::size_t begin = out.size();
  out.resize(begin + kFixedBytes);
  std::memcpy(&out[begin], kNpyMagic, 8);
  store_le(&out[begin + 8], static_cast<std::uint16_t>(text.size()));
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  out.insert(out.end(), bytes, bytes + text.size());
  append_packed(pixels, out);
}

Format npy_format() {
  return {"npy",
          ".npy",
          "NumPy array, uint8, (height, width, 3)",
          true,
          [] { return make_plain_decoder(parse_npy); },
          encode_npy};
}

}  // namespace feedrate::codec
