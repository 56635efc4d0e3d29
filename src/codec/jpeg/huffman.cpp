#include "codec/jpeg/huffman.h"

#include <algorithm>

namespace feedrate::codec {

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
  const int most = dc ? 11 : 255;  // a baseline picture has no difference of more bits
  if (std::any_of(symbols, symbols + used, [&](int symbol) { return symbol > most; })) return false;
  for (std::uint64_t look = 0; look < lookup_.size(); ++look) {
    lookup_[look] = entry_at(look);
  }
  for (std::uint64_t look = 0; !dc && look < strides_.size(); ++look) {
    Pair& pair = pairs_[look];
    strides_[look] = walk(look, kLook, pair);
    const Stride two = walk(look, 2, pair);
    pair.length = two.length;
    pair.step = two.step;
  }
  built_ = true;
  return true;
}

JpegHuffman::Stride JpegHuffman::walk(std::uint64_t look, int most, Pair& pair) const {
  Stride all{};
  pair.place = {kEndOfBlock, kEndOfBlock};
  pair.value = {};
  std::uint64_t bits = look << (64 - kLook);
  for (int symbol = 0; symbol < most && all.step < 64; ++symbol) {
    const Entry entry = this->look(bits);
    // The lookup cannot decode a symbol that does not fit: behind its own bits it sees zeros.
    if (entry.length == 0 || all.length + entry.length > kLook) return all;
    all.length = static_cast<std::uint8_t>(all.length + entry.length);
    if (entry.run == kEndOfBlock)
      return {all.length, static_cast<std::uint8_t>((all.step + 1) | 128)};
    if (symbol < 2) {
      pair.place[symbol] = static_cast<std::uint8_t>(all.step + entry.run);
      pair.value[symbol] = entry.value;
    }
    all.step = static_cast<std::uint8_t>(all.step + entry.run + 1);
    bits <<= entry.length;
  }
  return all;
}

JpegHuffman::Entry JpegHuffman::entry_at(std::uint64_t look) const {
  const auto [symbol, length] = code_at(look << (64 - kLook));
  if (length > kLook) return {};
  const Entry entry = entry_of(symbol, length, look << (64 - kLook));
  if (entry.length <= kLook) return entry;
  return {0, static_cast<std::uint8_t>(symbol), static_cast<std::int16_t>(length)};
}

JpegHuffman::Code JpegHuffman::code_at(std::uint64_t bits) const {
  const auto top = static_cast<std::uint32_t>(bits >> 48);
  int length = 1;
  while (top >= limit_[length]) ++length;
  if (length > 16) return {0, length};
  return {symbols_[(top >> (16 - length)) + offset_[length]], length};
}

JpegHuffman::Entry JpegHuffman::search(std::uint64_t bits) const {
  const auto [symbol, length] = code_at(bits);
  return length > 16 ? Entry{} : entry_of(symbol, length, bits);
}

}  // namespace feedrate::codec
