#include "codec/jpeg/baseline.h"

#include <algorithm>

#include "codec/jpeg/color.h"
#include "codec/jpeg/idct.h"
#include "codec/jpeg/idct_reduced.h"

namespace feedrate::codec {
namespace {

constexpr int kSpare = 64;  // samples that vector loops may touch before and behind a row

bool build(JpegHuffman& table, const JHUFF_TBL* from, bool dc) {
  return from != nullptr && table.build(from->bits, from->huffval, dc);
}

}  // namespace

bool BaselineJpeg::decode(const jpeg_decompress_struct& info, const Rect& window, int reduction) {
  if (!prepare(info) || !choose_blocks(reduction)) return false;
  const jpeg_source_mgr& source = *info.src;
  if (!scan_.gather({source.next_input_byte, source.bytes_in_buffer})) return false;
  lay_out(window);
  if (!read_units()) return false;
  for (int p = 1; p < planes_in_use_ && widened_ == 2; ++p) pad_edges(planes_[p]);
  for (int y = 0; y < window.height; ++y) {
    make_row(window.y + y, rgb_.data() + static_cast<std::size_t>(y) * window.width * 3);
  }
  return true;
}

PixelView BaselineJpeg::pixels() const {
  return {rgb_.data(), std::ptrdiff_t{3} * window_.width, window_.width, window_.height};
}

bool BaselineJpeg::prepare(const jpeg_decompress_struct& info) {
  const bool gray = info.num_components == 1 && info.jpeg_color_space == JCS_GRAYSCALE;
  const bool colour = info.num_components == 3 && info.jpeg_color_space == JCS_YCbCr;
  if (!(gray || colour) || info.data_precision != 8 || info.progressive_mode || info.arith_code ||
      info.comps_in_scan != info.num_components || info.Ss != 0 || info.Se != 63 || info.Ah != 0 ||
      info.Al != 0) {
    return false;
  }
  size_ = {static_cast<int>(info.image_width), static_cast<int>(info.image_height)};
  if (size_.width < 16 || size_.height < 16)
    return false;  // libjpeg has rules of its own for narrow ones
  planes_in_use_ = info.num_components;
  restart_interval_ = static_cast<int>(info.restart_interval);
  for (int p = 0; p < planes_in_use_; ++p) {
    const jpeg_component_info& component = *info.cur_comp_info[p];
    Plane& plane = planes_[p];
    plane.across = component.h_samp_factor;
    plane.down = component.v_samp_factor;
    const bool known = p == 0 && colour ? (plane.across == 1 && plane.down == 1) ||
                                              (plane.across == 2 && plane.down <= 2)
                                        : plane.across == 1 && plane.down == 1;
    if (!known || component.component_index != p || component.quant_tbl_no < 0 ||
        component.quant_tbl_no > 3 || component.dc_tbl_no > 3 || component.ac_tbl_no > 3) {
      return false;
    }
    const JQUANT_TBL* quantisation = info.quant_tbl_ptrs[component.quant_tbl_no];
    if (quantisation == nullptr ||
        !build(plane.tables.dc, info.dc_huff_tbl_ptrs[component.dc_tbl_no], true) ||
        !build(plane.tables.ac, info.ac_huff_tbl_ptrs[component.ac_tbl_no], false)) {
      return false;
    }
    for (int k = 0; k < 64; ++k)
      plane.tables.quantisation[k] = quantisation->quantval[kJpegPlaces[k]];
  }
  return true;
}

// How many samples a block gives. As in libjpeg a reduced picture's subsampled chroma is reduced
// less, so that it needs no upsampling. False where libjpeg has a rule of its own.
bool BaselineJpeg::choose_blocks(int reduction) {
  const int across = planes_[0].across, down = planes_[0].down;
  if (reduction > 1 && across != down) return false;
  for (Plane& plane : planes_) plane.block = 8 / reduction;
  if (reduction > 1) planes_[1].block = planes_[2].block = 8 / reduction * across;
  widened_ = reduction > 1 ? 1 : across;
  heightened_ = reduction > 1 ? 1 : down;
  units_across_ = divided_up(size_.width, 8 * across);
  units_down_ = divided_up(size_.height, 8 * down);
  size_ = {divided_up(size_.width, reduction), divided_up(size_.height, reduction)};
  return true;
}

// Which units the window needs, with the chroma samples next to it that the upsampling looks at.
void BaselineJpeg::lay_out(const Rect& window) {
  window_ = window;
  const int across = planes_[0].across, down = planes_[0].down;
  const int unit_width = planes_[0].block * across, unit_height = planes_[0].block * down;
  const int beside = widened_ == 2 ? 2 : 0, above = heightened_ == 2 ? 2 : 0;
  const int left = std::max(0, window.x - beside) / unit_width;
  const int top = std::max(0, window.y - above) / unit_height;
  const int right = std::min(size_.width - 1, window.x + window.width - 1 + beside) / unit_width;
  const int bottom = std::min(size_.height - 1, window.y + window.height - 1 + above) / unit_height;
  units_ = {left, top, right - left + 1, bottom - top + 1};
  for (int p = 0; p < planes_in_use_; ++p) {
    Plane& plane = planes_[p];
    plane.width = divided_up(size_.width, p == 0 ? 1 : widened_);
    plane.height = divided_up(size_.height, p == 0 ? 1 : heightened_);
    plane.stride = units_.width * plane.block * plane.across + 2 * kSpare;
    const std::size_t bytes =
        static_cast<std::size_t>(plane.stride) * units_.height * plane.block * plane.down +
        2 * kSpare;
    plane.samples = grow(plane.memory, bytes) + kSpare;
  }
  for (Scratch& wide : wide_) grow(wide, static_cast<std::size_t>(window.width) + 2 * kSpare);
  grow(rgb_, static_cast<std::size_t>(window.width) * window.height * 3 + 2 * kSpare);
}

bool BaselineJpeg::read_units() {
  const int from = units_.y * units_across_;  // the first unit that is needed
  const int to = (units_.y + units_.height - 1) * units_across_ + units_.x + units_.width;
  const int all = units_across_ * units_down_;
  const int interval = restart_interval_ > 0 ? restart_interval_ : all;
  stray_before_marker_ = false;
  // With restart markers, segments that end above the window are not read.
  for (int unit = from / interval * interval; unit < to;) {
    const auto segment = static_cast<std::size_t>(unit / interval);
    if (segment >= scan_.segments()) return false;
    JpegBits bits(scan_.begin(segment));
    for (Plane& plane : planes_) plane.last_dc = 0;
    for (const int stop = std::min(unit + interval, to); unit < stop; ++unit) {
      const int x = unit % units_across_ - units_.x, y = unit / units_across_ - units_.y;
      if (!read_unit(bits, y >= 0 && x >= 0 && x < units_.width, x, y)) return false;
      if (bits.position() > scan_.end(segment)) return false;
    }
    // Of a segment that was read to its last unit.
    if (unit % interval == 0 || unit == all)
      stray_before_marker_ |= bits.position() < scan_.end(segment);
  }
  return true;
}

bool BaselineJpeg::read_unit(JpegBits& bits, bool wanted, int unit_x, int unit_y) {
  for (int p = 0; p < planes_in_use_; ++p) {
    Plane& plane = planes_[p];
    if (!wanted) {
      for (int b = 0; b < plane.across * plane.down; ++b) {
        if (read_jpeg_block<false>(bits, plane.tables, plane.last_dc, block_) == 0) return false;
      }
      continue;
    }
    std::uint8_t* row =
        plane.samples + plane.block * (unit_y * plane.down * plane.stride + unit_x * plane.across);
    for (int y = 0; y < plane.down; ++y, row += plane.block * plane.stride) {
      for (int x = 0; x < plane.across; ++x) {
        block_.at = {};
        const int used = read_jpeg_block<true>(bits, plane.tables, plane.last_dc, block_);
        if (used == 0) return false;
        std::uint8_t* const out = row + plane.block * x;
        if (plane.block == 8) {
          jpeg_idct(block_.at.data(), used, out, plane.stride);
        } else {
          jpeg_idct_reduced(block_.at.data(), used, plane.block, out, plane.stride);
        }
      }
    }
  }
  return true;
}

// Repeats the outermost chroma samples beyond the picture's edges; the units' own samples there
// mean nothing.
void BaselineJpeg::pad_edges(Plane& plane) {
  const int first = 8 * units_.x * plane.across;
  const int behind = plane.width - first;  // the sample after the picture's last one
  for (int y = 0; y < 8 * units_.height * plane.down; ++y) {
    std::uint8_t* row = plane.samples + y * plane.stride;
    if (first == 0) row[-1] = row[0];
    if (behind <= 8 * units_.width * plane.across) row[behind] = row[behind - 1];
  }
}

void BaselineJpeg::make_row(int y, std::uint8_t* rgb) {
  const Plane& light = planes_[0];
  const std::uint8_t* row = light.samples +
                            (y - light.block * units_.y * light.down) * light.stride +
                            (window_.x - light.block * units_.x * light.across);
  if (planes_in_use_ == 1) {
    for (int x = 0; x < window_.width; ++x) std::fill_n(rgb + 3 * x, 3, row[x]);
    return;
  }
  const std::uint8_t* blue = chroma_row(planes_[1], y, wide_[0]);
  jpeg_ycc_to_rgb(row, blue, chroma_row(planes_[2], y, wide_[1]), window_.width, rgb);
}

// The window's chroma of picture row y, as wide as the window.
const std::uint8_t* BaselineJpeg::chroma_row(const Plane& plane, int y, Scratch& wide) {
  const auto row = [&](int i) {
    return plane.samples +
           (std::clamp(i, 0, plane.height - 1) - plane.block * units_.y) * plane.stride -
           plane.block * units_.x;
  };
  if (widened_ == 1) return row(y) + window_.x;
  const int from = window_.x / 2, count = (window_.x + window_.width + 1) / 2 - from;
  if (heightened_ == 1) {
    jpeg_widen(row(y) + from, count, wide.data());
  } else {
    jpeg_widen_blended(row(y / 2) + from, row(y % 2 == 0 ? y / 2 - 1 : y / 2 + 1) + from, count,
                       wide.data());
  }
  return wide.data() + window_.x % 2;
}

}  // namespace feedrate::codec
