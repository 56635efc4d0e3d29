// Mutates pictures of every kind and decodes what comes out, for a sanitizer to watch: a decoder
// may refuse a file with an Error, and nothing else. Common pictures are decoded by libjpeg or
// libspng as well: where both give pixels, they are the same.
//
//   fuzz_decoders [--seconds S] [--seed N] [--threads T] [--keep DIR] [NAME ...]
//
// NAMEs choose kinds ("jpeg", "png_rgba" ...). Each thread keeps its last mutant in
// DIR/last-THREAD, to be found there after a crash; with a file in place of a NAME that file is
// decoded by every format.
#include <isa-l/crc.h>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>

#include "codec/any_picture.h"
#include "codec/bytes.h"
#include "jpeg_files.h"
#include "npz_files.h"
#include "png_files.h"
#include "undecoded_files.h"
#include "webp_files.h"

namespace feedrate::tests {
namespace {

struct Kind {
  std::string name, format;
  Bytes file;
};

Bytes png_of(const PngKind& kind, codec::PixelSize size) {
  Bytes rows(row_bytes_of(kind, size.width) * static_cast<std::size_t>(size.height));
  std::minstd_rand random(5);
  for (auto& b : rows) b = static_cast<std::byte>(random() >> 8);
  return write_png(rows, size, kind);
}

std::vector<Kind> kinds() {
  const TestPicture picture = make_picture(67, 45);
  Pixels four = picture.pixels;
  four.insert(four.end(), picture.pixels.begin(), picture.pixels.end());
  const Pixels gray(picture.pixels.begin(), picture.pixels.begin() + 67 * 45);
  std::vector<Kind> all = {
      {"jpeg", "jpeg", write_jpeg(picture.pixels, picture.size, {})},
      {"jpeg_422", "jpeg",
       write_jpeg(picture.pixels, picture.size, {.horizontal = 2, .vertical = 1})},
      {"jpeg_444", "jpeg",
       write_jpeg(picture.pixels, picture.size, {.horizontal = 1, .vertical = 1})},
      {"jpeg_restarts", "jpeg", write_jpeg(picture.pixels, picture.size, {.restart_rows = 1})},
      {"jpeg_gray", "jpeg", write_jpeg(gray, picture.size, {.channels = 1})},
      {"jpeg_progressive", "jpeg", write_jpeg(picture.pixels, picture.size, {.progressive = true})},
      {"jpeg_cmyk", "jpeg", write_jpeg(four, picture.size, {.channels = 4})},
      {"png", "png", encode("png", picture)},
      {"png_gray", "png", png_of({.color_type = 0}, picture.size)},
      {"png_gray_alpha", "png", png_of({.color_type = 4}, picture.size)},
      {"png_rgba", "png", png_of({.color_type = 6}, picture.size)},
      {"png_palette", "png", png_of({.color_type = 3}, picture.size)},
      {"png_16", "png", png_of({.depth = 16}, picture.size)},
      {"png_interlaced", "png", png_of({.interlaced = true}, picture.size)},
      {"npz_deflated", "npz", write_npz(picture, {.deflated = true})},
      {"npz_streamed", "npz", write_npz(picture, {.streamed = true})},
      {"webp_lossless", "webp", lossless_webp(picture)},
      {"webp_alpha", "webp", webp_with_alpha(picture)},
      {"webp_animated", "webp",
       animated_webp(picture.size, lossless_webp(picture), lossless_webp(picture))},
      {"gif", "auto", write_gif(67, 45)},
      {"tiff", "auto", write_tiff(67, 45)}};
  for (const char* format : {"png0", "bmp", "webp", "npy", "npz", "raw"})
    all.push_back({format, format, encode(format, picture)});
  return all;
}

using Random = std::minstd_rand;
std::size_t below(Random& random, std::size_t n) { return n == 0 ? 0 : (random() >> 4) % n; }

// Flipped bits, other bytes, a piece cut out, doubled, or taken from elsewhere in the file; half of
// them in the headers, where they do most.
void mutate(Bytes& file, Random& random) {
  for (std::size_t rounds = 1 + below(random, 4); rounds > 0 && !file.empty(); --rounds) {
    const std::size_t range =
        random() % 2 == 0 ? file.size() : std::min<std::size_t>(file.size(), 700);
    const std::size_t at = below(random, range),
                      length = 1 + below(random, std::min<std::size_t>(file.size() - at, 64));
    const auto place = file.begin() + static_cast<std::ptrdiff_t>(at);
    switch (random() % 8) {
      case 0:
      case 1:
      case 2:
        *place ^= std::byte{1} << (random() % 8);
        break;
      case 3:
        *place = static_cast<std::byte>(random() >> 8);
        break;
      case 4:
        *place = random() % 2 == 0 ? std::byte{0xff} : std::byte{0};
        break;
      case 5:
        file.erase(place, place + static_cast<std::ptrdiff_t>(length));
        break;
      case 6: {
        const Bytes piece(place, place + static_cast<std::ptrdiff_t>(length));
        file.insert(file.begin() + static_cast<std::ptrdiff_t>(below(random, file.size())),
                    piece.begin(), piece.end());
        break;
      }
      case 7:
        file.resize(random() % 8 == 0 ? at : file.size());
        break;
    }
  }
}

// Gives the chunks of a PNG their right checksums, or none would get further than that.
void mend_checksums(Bytes& file) {
  for (std::size_t at = 8; at + 12 <= file.size();) {
    const std::size_t length = codec::load_be32(&file[at]);
    if (length > file.size() - at - 12) return;
    const std::uint32_t crc =
        crc32_gzip_refl(0, reinterpret_cast<const std::uint8_t*>(&file[at + 4]), length + 4);
    for (std::size_t i = 0; i < 4; ++i)
      file[at + 8 + length + i] = static_cast<std::byte>(crc >> (24 - 8 * i));
    at += length + 12;
  }
}

// Decodes a window of the file, and looks at every pixel. Nothing where the file is refused.
std::optional<Pixels> try_decode(codec::Decoder& decoder, const Bytes& file, Random& random,
                                 bool whole_picture) {
  try {
    // No spare capacity behind it, which would hide a read beyond the end.
    const Bytes exact(file);  // NOLINT(performance-unnecessary-copy-initialization)
    const codec::PixelSize size = decoder.open(exact, "mutant");
    if (std::int64_t{size.width} * size.height > 1 << 20)
      return std::nullopt;  // slow, and nothing new
    codec::Rect window = whole(size);
    if (!whole_picture) {
      window.x = static_cast<int>(below(random, static_cast<std::size_t>(size.width)));
      window.y = static_cast<int>(below(random, static_cast<std::size_t>(size.height)));
      window.width =
          1 + static_cast<int>(below(random, static_cast<std::size_t>(size.width - window.x)));
      window.height =
          1 + static_cast<int>(below(random, static_cast<std::size_t>(size.height - window.y)));
    }
    return packed(decoder.decode(window, 1).pixels);
  } catch (const Error&) {
    return std::nullopt;
  }
}

// Whether our pixels of a whole JPEG are libjpeg's. Only a file that both decode can differ: our
// decoder leaves some files to libjpeg.
bool agrees(const Kind& kind, const Bytes& file, const std::optional<Pixels>& ours) {
  if (!ours || kind.format != "jpeg" || kind.name == "jpeg_cmyk") return true;
  const std::optional<Pixels> theirs = try_reference_decode(file);
  return !theirs || *theirs == *ours;
}

struct Options {
  double seconds = 10;
  unsigned seed = 1;
  int threads = 1;
  std::filesystem::path keep = std::filesystem::temp_directory_path();
  std::vector<std::string> names;
};

bool is_chosen(const Options& options, const Kind& kind) {
  return options.names.empty() ||
         std::find(options.names.begin(), options.names.end(), kind.name) != options.names.end();
}

// One thread's share. Returns the number of mutants, negative where pixels differed.
long run(const Options& options, const std::vector<Kind>& all, int thread) {
  Random random(options.seed * 1000 + static_cast<unsigned>(thread));
  const auto last = options.keep / ("last-" + std::to_string(thread));
  std::vector<std::unique_ptr<codec::Decoder>> decoders;
  for (const Kind& kind : all)
    decoders.push_back(codec::find_format_of_data(kind.format)->make_decoder());
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(options.seconds);
  long mutants = 0;
  while (std::chrono::steady_clock::now() < end) {
    for (std::size_t k = 0; k < all.size(); ++k, ++mutants) {
      Bytes file = all[k].file;
      mutate(file, random);
      if (all[k].format.starts_with("png") && random() % 4 != 0) mend_checksums(file);
      std::ofstream(last, std::ios::binary)
          .write(reinterpret_cast<const char*>(file.data()),
                 static_cast<std::streamsize>(file.size()));
      const bool whole_picture = random() % 2 == 0;
      const auto pixels = try_decode(*decoders[k], file, random, whole_picture);
      if (whole_picture && !agrees(all[k], file, pixels)) {
        std::fprintf(stderr, "%s: other pixels than libjpeg's: %s\n", all[k].name.c_str(),
                     last.c_str());
        return -1;
      }
    }
  }
  std::filesystem::remove(last);
  return mutants;
}

int decode_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  const Bytes file(first, first + text.size());
  Random random(1);
  for (const codec::Format& format : codec::picture_formats()) {
    const auto decoder = format.make_decoder();
    for (int i = 0; i < 20; ++i) try_decode(*decoder, file, random, i == 0);
  }
  std::printf("%s: decoded or refused\n", path.c_str());
  return 0;
}

Options parse(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto value = [&] { return std::string(i + 1 < count ? words[++i] : ""); };
    if (word == "--seconds")
      options.seconds = std::atof(value().c_str());
    else if (word == "--seed")
      options.seed = static_cast<unsigned>(std::atoi(value().c_str()));
    else if (word == "--threads")
      options.threads = std::atoi(value().c_str());
    else if (word == "--keep")
      options.keep = value();
    else
      options.names.push_back(word);
  }
  return options;
}

int fuzz(const Options& options) {
  std::vector<Kind> chosen;
  for (Kind& kind : kinds()) {
    if (is_chosen(options, kind)) chosen.push_back(std::move(kind));
  }
  if (chosen.empty()) {
    std::fprintf(stderr, "fuzz_decoders: no such kind: %s\n", options.names.front().c_str());
    return 2;
  }
  std::atomic<long> mutants = 0;
  std::atomic<bool> differed = false;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < options.threads; ++t) {
      threads.emplace_back([&, t] {
        const long made = run(options, chosen, t);
        made < 0 ? void(differed = true) : void(mutants += made);
      });
    }
  }
  std::printf("%ld mutants of %zu kinds decoded or refused, seed %u\n", mutants.load(),
              chosen.size(), options.seed);
  return differed ? 1 : 0;
}

}  // namespace
}  // namespace feedrate::tests

int main(int count, char** words) {
  const feedrate::tests::Options options = feedrate::tests::parse(count, words);
  if (options.names.size() == 1 && std::filesystem::is_regular_file(options.names.front())) {
    return feedrate::tests::decode_file(options.names.front());
  }
  return feedrate::tests::fuzz(options);
}
