// Headers of WebP, GIF and TIFF with what files from anywhere may hold. The build with sanitizers
// runs this, too: whatever is refused is refused by an Error.
#include <gmock/gmock.h>

#include <algorithm>
#include <memory>

#include "codec/any_picture.h"
#include "codec/sniff.h"
#include "tests/mutated.h"
#include "undecoded_files.h"
#include "webp_files.h"

namespace feedrate::tests {
namespace {

constexpr int kMutants = 2000;

// Changed in its first bytes, where sizes, kinds and lengths stand.
Bytes mutant_header_of(const Bytes& file, Random& random) {
  constexpr std::size_t kHeader = 64;
  const auto* text = reinterpret_cast<const char*>(file.data());
  const std::size_t header = std::min(kHeader, file.size());
  std::string changed = mutated(std::string(text, header), random);
  changed.append(text + header, file.size() - header);
  Bytes mutant;
  append_text(mutant, changed);
  return mutant;
}

// Every pixel is looked at. Those of a large picture, which a mutant may claim, are not decoded:
// they take time and show nothing else.
std::string refusal_of_mutant(codec::Decoder& decoder, const Bytes& file) {
  return error_of([&] {
    const codec::PixelSize size = decoder.open(file, "mutant");
    if (std::int64_t{size.width} * size.height <= 1 << 20)
      packed(decoder.decode(whole(size), 1).pixels);
  });
}

TEST(Mutants, HeadersOfWebpAreRefusedOrDecoded) {
  const TestPicture picture = make_picture(37, 29);
  const Bytes lossless = lossless_webp(picture);
  const std::vector<Bytes> files = {
      encode("webp", picture), lossless, webp_with_alpha(picture),
      animated_webp(picture.size, lossless, lossless_webp(make_picture(37, 29, 2)))};
  const auto own = codec::find_picture_format("webp")->make_decoder();
  const auto any = codec::any_picture_format().make_decoder();
  Random random(21);
  int refused = 0;
  for (int i = 0; i < kMutants; ++i) {
    const Bytes mutant =
        mutant_header_of(files[static_cast<std::size_t>(i) % files.size()], random);
    refused += !refusal_of_mutant(*own, mutant).empty();
    refusal_of_mutant(*any, mutant);
    if (i % 50 == 0) {
      EXPECT_EQ(decode_whole(*own, lossless).pixels, picture.pixels);
    }
  }
  EXPECT_GT(refused, kMutants / 4);
  EXPECT_LT(refused, kMutants) << "some change nothing that matters";
}

// No decoder takes one, whatever its name says; the one that goes by contents names what it knows.
void expect_mutants_refused(const Bytes& file, const std::string& kind, std::uint64_t seed) {
  const auto any = codec::any_picture_format().make_decoder();
  std::vector<std::unique_ptr<codec::Decoder>> decoders;
  for (const codec::Format& format : codec::picture_formats())
    decoders.push_back(format.make_decoder());
  Random random(seed);
  int named = 0;
  for (int i = 0; i < kMutants; ++i) {
    const Bytes mutant = mutant_header_of(file, random);
    const std::string refusal = refusal_of_mutant(*any, mutant);
    EXPECT_THAT(refusal, testing::StartsWith("mutant: is ")) << i;
    if (codec::sniff(mutant).name == kind) {
      ++named;
      EXPECT_THAT(refusal, testing::HasSubstr("is " + kind + ", which feedrate does not decode"));
    }
    for (const auto& decoder : decoders) EXPECT_NE(refusal_of_mutant(*decoder, mutant), "") << i;
  }
  EXPECT_GT(named, kMutants / 4);
}

TEST(Mutants, HeadersOfGifAreRefused) { expect_mutants_refused(write_gif(37, 29), "a GIF", 22); }

TEST(Mutants, HeadersOfTiffAreRefused) { expect_mutants_refused(write_tiff(37, 29), "a TIFF", 23); }

}  // namespace
}  // namespace feedrate::tests
