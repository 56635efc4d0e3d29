#include "codec/jpeg_huffman.h"

#include <algorithm>

namespace feedrate {

bool JpegHuffman::build(const std::uint8_t counts[17], const std::uint8_t symbols[256], bool dc) {
  // Most files of a dataset come from one encoder and have the same tables.
  if (built_ && dc == dc_ && std::equal(counts_.begin(), counts_.end(), counts) &&
      std::equal(symbols_.begin(), symbols_.end(), symbols)) {
    return true;
  }
  built_ = false;
  dc_ = dc;
  std::copy_n(counts, counts_.size(), counts_.begin());
  std::copy_n(symbols, symbols_.size(), symbols_.begin());
  int code = 0, used = 0;
  for (int length = 1; length <= 16; ++length, code <<= 1) {
    offset_[length] = used - code;
    used += counts[length];
    code += counts[length];
    // No code of a JPEG file is all ones.
    if ((counts[length] > 0 && code >= 1 << length) || used > 256) return false;
    limit_[length] = static_cast<std::uint32_t>(code) << (16 - length);
  }
  limit_[17] = ~0u;
  const int most = dc ? 11 : 255;  // a difference of more bits is no baseline picture's
  if (std::any_of(symbols, symbols + used, [&](int symbol) { return symbol > most; })) return false;
  for (std::uint64_t look = 0; look < lookup_.size(); ++look) {
    const Entry entry = decode_long(look << (64 - kLook));
    lookup_[look] = entry.length <= kLook ? entry : Entry{};
  }
  built_ = true;
  return true;
}

JpegHuffman::Entry JpegHuffman::decode_long(std::uint64_t bits) const {
  const auto top = static_cast<std::uint32_t>(bits >> 48);
  int length = 1;
  while (top >= limit_[length]) ++length;
  if (length > 16) return {};
  return entry_of(symbols_[(top >> (16 - length)) + offset_[length]], length, bits);
}

JpegHuffman::Entry JpegHuffman::entry_of(int symbol, int length, std::uint64_t bits) const {
  const int run = dc_ ? 0 : symbol >> 4, size = symbol & 15;
  if (size == 0) {
    const bool end = !dc_ && run != 15;  // 15: sixteen zeros
    return {static_cast<std::uint8_t>(length), static_cast<std::uint8_t>(end ? kEndOfBlock : run), 0};
  }
  const auto raw = static_cast<int>((bits << length) >> (64 - size));
  const int value = raw < 1 << (size - 1) ? raw - (1 << size) + 1 : raw;
  return {static_cast<std::uint8_t>(length + size), static_cast<std::uint8_t>(run), static_cast<std::int16_t>(value)};
}

}  // namespace feedrate
