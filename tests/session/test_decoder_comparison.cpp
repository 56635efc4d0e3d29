#include "session/decoder_comparison.h"

#include <gtest/gtest.h>

#include "plan/expand.h"

namespace feedrate::tests {
namespace {

std::optional<session::DecoderCells> compared(plan::AxisValues values) {
  values.insert({"data", {"jpeg"}});
  values.insert({"device", {"emulated:a100"}});
  return session::decoders_to_compare(plan::expand(values).front());
}

TEST(DecoderComparison, IsOfTheLoaderAloneWithEachDecoder) {
  for (const char* data : {"jpeg", "png", "png0", "auto"}) {
    const auto cells = compared({{"data", {data}},
                                 {"image-size", {std::string(data) == "auto" ? "mixed" : "224"}},
                                 {"workers", {"3"}},
                                 {"decode-scale", {"on"}}});
    ASSERT_TRUE(cells) << data;
    EXPECT_EQ(cells->own["decoder"], "auto");
    EXPECT_EQ(cells->library["decoder"], "library");
    for (const plan::Cell& cell : {cells->own, cells->library}) {
      EXPECT_EQ(cell["device"], "emulated:inf");
      EXPECT_EQ(cell["data"], data);
      EXPECT_EQ(cell["workers"], "3");
    }
  }
  EXPECT_TRUE(compared({{"device", {"cuda"}}})) << "no GPU takes part";
  EXPECT_TRUE(compared({{"cache", {"encoded"}}}));
  EXPECT_TRUE(compared({{"page-cache", {"warm"}}}));
}

TEST(DecoderComparison, IsOnlyOfWhatOurDecodersDoAtEachStep) {
  EXPECT_FALSE(compared({{"data", {"synthetic"}}}));
  for (const auto& [axis, value] : {std::pair{"data", "tensor"},
                                    {"data", "npy"},
                                    {"data", "bmp"},
                                    {"data", "webp"},
                                    {"decoder", "library"},
                                    {"decoder", "raw-read"},
                                    {"loader", "dali"},
                                    {"cache", "decoded"},
                                    {"cache", "host"},
                                    {"cache", "discard"},
                                    {"page-cache", "cold"},
                                    {"page-cache", "as-is"},
                                    {"io", "direct"}})
    EXPECT_FALSE(compared({{axis, {value}}})) << axis << " " << value;
  EXPECT_FALSE(compared({{"device", {"cuda"}}, {"augment-on", {"device"}}}))
      << "no emulated device augments";
}

}  // namespace
}  // namespace feedrate::tests
