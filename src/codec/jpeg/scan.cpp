#include "codec/jpeg/scan.h"

#include <algorithm>
#include <cstring>

namespace feedrate::codec {
namespace {

// One unit of up to six blocks of 64 coefficients of at most 31 bits is read before anybody checks.
constexpr std::size_t kOverrun = 6 * 64 * 4 + 64;

}  // namespace

bool JpegScan::gather(std::span<const std::uint8_t> bytes) {
  starts_.assign(1, 0);
  std::uint8_t* out = grow(bytes_, bytes.size() + kOverrun);
  const std::uint8_t *at = bytes.data(), *const end = at + bytes.size();
  for (;;) {
    const auto* marker =
        static_cast<const std::uint8_t*>(std::memchr(at, 0xff, static_cast<std::size_t>(end - at)));
    if (marker == nullptr || marker + 1 == end) return false;
    const auto plain = static_cast<std::size_t>(marker - at);
    std::memcpy(out, at, plain);
    out += plain;
    at = marker + 2;
    if (marker[1] == 0) {
      *out++ = 0xff;
      continue;
    }
    const std::size_t restarts = starts_.size() - 1;
    starts_.push_back(static_cast<std::size_t>(out - bytes_.data()));
    if (marker[1] == 0xd9) {
      std::memset(out, 0, kOverrun);
      has_bytes_behind_ = at != end;
      return true;
    }
    if (marker[1] != 0xd0 + restarts % 8) return false;
  }
}

template <bool kStore>
int read_jpeg_block(JpegBits& reader, const JpegComponentTables& tables, int& last_dc,
                    JpegBlock& block) {
  JpegBits bits = reader;  // a copy of our own stays in registers
  const auto next = [&](const JpegHuffman& table) {
    // A symbol and its value take at most 31 bits.
    if (bits.valid() < 32) bits.refill();
    JpegHuffman::Entry entry = table.look(bits.top());
    if (entry.length == 0) [[unlikely]]
      entry = table.decode_long(entry, bits.top());
    bits.consume(entry.length);
    return entry;
  };
  const auto put = [&](int k, int value) {
    const auto place = static_cast<std::size_t>(k);
    block.at[kJpegPlaces[place]] =
        static_cast<std::int16_t>(value * tables.quantisation[place & 63]);
  };
  const JpegHuffman::Entry dc = next(tables.dc);
  if (dc.length == 0) return 0;
  last_dc += dc.value;
  if (kStore) block.at[0] = static_cast<std::int16_t>(last_dc * tables.quantisation[0]);
  int k = 1;
  do {
    if (bits.valid() < 32) bits.refill();
    if (kStore) {
      const JpegHuffman::Pair& pair = tables.ac.pair(bits.top());
      if (pair.length != 0 && k + JpegHuffman::reach(pair.step) <= 64) [[likely]] {
        bits.consume(pair.length);
        put(k + pair.place[0], pair.value[0]);
        put(k + pair.place[1], pair.value[1]);
        k += pair.step;
        continue;
      }
    } else {
      const JpegHuffman::Stride stride = tables.ac.stride(bits.top());
      if (stride.length != 0 && k + JpegHuffman::reach(stride.step) <= 64) [[likely]] {
        bits.consume(stride.length);
        k += stride.step;
        continue;
      }
    }
    const JpegHuffman::Entry ac = next(tables.ac);
    if (ac.length == 0) [[unlikely]]
      return 0;
    k += ac.run;
    if (kStore) put(k, ac.value);
    ++k;
  } while (k < 64);
  reader = bits;
  if (k > 64) k -= JpegHuffman::kEndOfBlock + 1;
  return std::max(k, 0);
}

template int read_jpeg_block<true>(JpegBits&, const JpegComponentTables&, int&, JpegBlock&);
template int read_jpeg_block<false>(JpegBits&, const JpegComponentTables&, int&, JpegBlock&);

}  // namespace feedrate::codec
