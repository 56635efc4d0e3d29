#include "base/closest.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/temporary_folder.h"

namespace feedrate::tests {
namespace {

const std::vector<std::string> kNames = {"workers", "image-size", "input-size", "jpeg",
                                         "png",     "png0",       "tensor",     "emulated"};

TEST(Closest, FindsWhatWasMistyped) {
  for (const auto& [typed, meant] :
       std::vector<std::pair<std::string, std::string>>{{"worker", "workers"},
                                                        {"wrokers", "workers"},
                                                        {"imagesize", "image-size"},
                                                        {"jpg", "jpeg"},
                                                        {"jepg", "jpeg"},
                                                        {"tensr", "tensor"},
                                                        {"emu", "emulated"}})
    EXPECT_EQ(closest(typed, kNames), meant) << typed;
}

TEST(Closest, GuessesNothingThatIsFar) {
  for (const char* typed : {"", "x", "gpus", "synthetic", "size", "webp"})
    EXPECT_EQ(closest(typed, kNames), std::nullopt) << typed;
  EXPECT_EQ(closest(std::string(10000, 'a'), kNames), std::nullopt);
}

TEST(Closest, GuessesNothingBetweenTwo) {
  EXPECT_EQ(closest("pnx", {"png", "pnm"}), std::nullopt);
  EXPECT_EQ(closest("png", {"png0", "png1"}), std::nullopt);
  EXPECT_EQ(closest("pnx", {"png", "png"}), "png");
  EXPECT_EQ(closest("pn", {}), std::nullopt);
}

TEST(Closest, LooksAtTheFoldersBesideOneThatIsMissing) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "photos");
  std::ofstream(folder.path() / "phots") << "a file is no folder";
  const std::string meant = "did you mean " + (folder.path() / "photos").string() + "?";
  EXPECT_EQ(did_you_mean_folder(folder.path() / "photo"), meant);
  EXPECT_EQ(did_you_mean_folder(folder.path() / "potos/"), meant) << "with a slash behind it";
  EXPECT_EQ(did_you_mean_folder(folder.path() / "results"), "");
  EXPECT_EQ(did_you_mean_folder(folder.path() / "nowhere" / "photo"), "");
  EXPECT_EQ(did_you_mean_folder(""), "");
}

TEST(Closest, SaysItAsAQuestion) {
  EXPECT_EQ(did_you_mean("jpg", kNames), "did you mean jpeg?");
  EXPECT_EQ(did_you_mean("nothing", kNames), "");
}

}  // namespace
}  // namespace feedrate::tests
