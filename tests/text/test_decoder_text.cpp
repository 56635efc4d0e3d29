#include "text/decoder_text.h"

#include <gtest/gtest.h>

#include "plan/expand.h"

namespace feedrate::tests {
namespace {

std::string decoder_of(plan::AxisValues values) {
  values.insert({"data", {"jpeg"}});
  values.insert({"device", {"emulated:1000"}});
  return text::decoder_text(plan::settings_of(plan::expand(values).front()));
}

TEST(DecoderText, SaysWhichOneDecodes) {
  const std::string own = "feedrate's own for common files",
                    crop = ", skipping what lies outside the crop";
  EXPECT_EQ(decoder_of({}), own + crop);
  EXPECT_EQ(decoder_of({{"data", {"png"}}}), own + crop);
  EXPECT_EQ(decoder_of({{"augment", {"none"}}}), own);
  EXPECT_EQ(decoder_of({{"device", {"cpu"}}, {"augment-on", {"device"}}}), own);
  EXPECT_EQ(decoder_of({{"decoder", {"library"}}}), "libjpeg-turbo, whole pictures");
  EXPECT_EQ(decoder_of({{"data", {"png0"}}, {"decoder", {"library"}}}), "libspng, whole pictures");
  EXPECT_EQ(decoder_of({{"decoder", {"opencv"}}}), "OpenCV's imdecode, whole pictures");
  EXPECT_EQ(decoder_of({{"device", {"cuda"}}, {"decoder", {"nvjpeg"}}}), "nvJPEG, on the GPU");
  EXPECT_EQ(decoder_of({{"loader", {"dali"}}}), "NVIDIA DALI");
  EXPECT_EQ(decoder_of({{"data", {"webp"}}}), "libwebp");
  const plan::AxisValues mixed = {{"data", {"auto"}}, {"image-size", {"mixed"}}};
  EXPECT_EQ(decoder_of(mixed), own + crop);
  plan::AxisValues by_library = mixed;
  by_library["decoder"] = {"library"};
  EXPECT_EQ(decoder_of(by_library), "libjpeg-turbo or libspng, whole pictures");
}

TEST(DecoderText, SaysNothingWhereNothingIsDecodedAtEachStep) {
  for (const char* data : {"synthetic", "tensor", "npy", "raw"})
    EXPECT_EQ(decoder_of({{"data", {data}}}), "") << data;
  for (const char* cache : {"decoded", "sample", "host", "device"})
    EXPECT_EQ(decoder_of({{"cache", {cache}}}), "") << cache;
  EXPECT_EQ(decoder_of({{"decoder", {"raw-read"}}}), "");
}

TEST(DecoderText, RatesAreSaidToBeOfTheLoaderAlone) {
  const plan::Cell cell = plan::expand({{"device", {"emulated:1000"}}, {"data", {"jpeg"}}}).front();
  EXPECT_EQ(text::decoder_lines(cell, session::DecoderRates{.own = 1903, .library = 812}),
            "  decoder    feedrate's own for common files, skipping what lies outside the crop\n"
            "  loader     alone on this machine, 2 s each: 812 img/s with libjpeg-turbo and a "
            "whole decode; 1,903 img/s with --decoder auto\n");
  EXPECT_EQ(text::decoder_lines(cell, {}),
            "  decoder    feedrate's own for common files, skipping what lies outside the crop\n");
  EXPECT_EQ(text::decoder_lines(plan::expand({}).front(), {}), "");
}

}  // namespace
}  // namespace feedrate::tests
