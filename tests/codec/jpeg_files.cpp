#include "jpeg_files.h"

#include <cstdio>

#include <jpeglib.h>

#include "codec/jpeg/errors.h"

namespace feedrate::tests {
namespace {

template <typename Prepare>
Bytes compress(const Pixels& values, codec::PixelSize size, int channels, J_COLOR_SPACE space,
               const Prepare& prepare) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* buffer = nullptr;
  unsigned long bytes = 0;
  jpeg_mem_dest(&info, &buffer, &bytes);
  info.image_width = static_cast<JDIMENSION>(size.width);
  info.image_height = static_cast<JDIMENSION>(size.height);
  info.input_components = channels;
  info.in_color_space = space;
  jpeg_set_defaults(&info);
  prepare(info);
  jpeg_start_compress(&info, TRUE);
  for (int y = 0; y < size.height; ++y) {
    auto* row = const_cast<JSAMPROW>(values.data() + y * size.width * channels);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  const auto* first = reinterpret_cast<std::byte*>(buffer);
  Bytes file(first, first + bytes);
  std::free(buffer);
  return file;
}

}  // namespace

Bytes write_jpeg(const Pixels& values, codec::PixelSize size, const JpegKind& kind) {
  const J_COLOR_SPACE space = kind.channels == 1   ? JCS_GRAYSCALE
                              : kind.channels == 3 ? JCS_RGB
                                                   : JCS_CMYK;
  return compress(values, size, kind.channels, space, [&](jpeg_compress_struct& info) {
    if (kind.ycck) jpeg_set_colorspace(&info, JCS_YCCK);
    jpeg_set_quality(&info, 85, TRUE);
    if (kind.channels == 3 || kind.ycck) {
      info.comp_info[0].h_samp_factor = kind.horizontal;
      info.comp_info[0].v_samp_factor = kind.vertical;
    }
    if (kind.ycck) {
      info.comp_info[3].h_samp_factor = kind.horizontal;
      info.comp_info[3].v_samp_factor = kind.vertical;
    }
    if (kind.progressive) jpeg_simple_progression(&info);
    info.arith_code = kind.arithmetic ? TRUE : FALSE;
    info.restart_in_rows = kind.restart_rows;
  });
}

namespace {

// Resizes `pixels` and reads all rows into it.
void read_all(jpeg_decompress_struct& info, const Bytes& file, bool cmyk, int reduction,
              Pixels& pixels) {
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(file.data()), file.size());
  jpeg_read_header(&info, TRUE);
  info.out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
  info.scale_num = 1;
  info.scale_denom = static_cast<unsigned>(reduction);
  jpeg_start_decompress(&info);
  const std::size_t stride = info.output_width * static_cast<std::size_t>(cmyk ? 4 : 3);
  pixels.resize(stride * info.output_height);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = pixels.data() + stride * info.output_scanline;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
}

}  // namespace

Pixels reference_decode(const Bytes& file, bool cmyk, int reduction) {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  Pixels pixels;
  read_all(info, file, cmyk, reduction, pixels);
  jpeg_destroy_decompress(&info);
  return pixels;
}

std::optional<Pixels> try_reference_decode(const Bytes& file) {
  jpeg_decompress_struct info{};
  codec::JpegErrors errors;
  info.err = errors.manager();
  jpeg_create_decompress(&info);
  std::optional<Pixels> pixels(std::in_place);
  try {
    errors.guarded("reference", [&] { read_all(info, file, false, 1, *pixels); });
  } catch (const Error&) {
    pixels.reset();
  }
  jpeg_destroy_decompress(&info);
  return pixels;
}

Bytes write_many_scans(codec::PixelSize size) {
  std::vector<jpeg_scan_info> scans = {{1, {0, 0, 0, 0}, 0, 0, 0, 0}};
  for (int k = 1; k < 64; ++k) {
    scans.push_back({1, {0, 0, 0, 0}, k, k, 0, 9});
    for (int bit = 9; bit > 0; --bit) scans.push_back({1, {0, 0, 0, 0}, k, k, bit, bit - 1});
  }
  const Pixels gray(static_cast<std::size_t>(size.width * size.height), 77);
  return compress(gray, size, 1, JCS_GRAYSCALE, [&](jpeg_compress_struct& info) {
    info.scan_info = scans.data();
    info.num_scans = static_cast<int>(scans.size());
  });
}

void patch_jpeg_size(Bytes& file, int width, int height) {
  for (std::size_t i = 2; i + 9 < file.size(); ++i) {
    const auto marker = std::to_integer<int>(file[i + 1]);
    if (file[i] != std::byte{0xff} || marker < 0xc0 || marker > 0xc2) continue;
    file[i + 5] = static_cast<std::byte>(height >> 8);
    file[i + 6] = static_cast<std::byte>(height);
    file[i + 7] = static_cast<std::byte>(width >> 8);
    file[i + 8] = static_cast<std::byte>(width);
    return;
  }
  FAIL() << "no frame header";
}

}  // namespace feedrate::tests
