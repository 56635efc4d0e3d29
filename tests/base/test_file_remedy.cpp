#include "base/file_remedy.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/whole_file.h"
#include "tests/message_of.h"
#include "tests/temporary_folder.h"

namespace feedrate::tests {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

TEST(FileRemedy, OfWritingFollowsTheReason) {
  EXPECT_EQ(remedy_of_writing(ENOSPC, "choose another folder"),
            "free some space, or choose another folder");
  EXPECT_EQ(remedy_of_writing(ENOSPC, "go on with --resume", " and "),
            "free some space and go on with --resume");
  EXPECT_THAT(remedy_of_writing(EROFS, "x"), HasSubstr("mount it writable"));
  EXPECT_THAT(remedy_of_writing(EIO, "x"), HasSubstr("dmesg"));
  EXPECT_THAT(remedy_of_writing(ENOTDIR, "x"), HasSubstr("take the file out of its path"));
  EXPECT_THAT(remedy_of_writing(EACCES, "x"), HasSubstr("let this user write"));
  EXPECT_EQ(remedy_of_writing(ENAMETOOLONG, "choose another folder"), "choose another folder");
}

TEST(FileRemedy, OfReadingIsTheStoragesOrTheFiles) {
  const auto refusal = [](int error) {
    return message_of([=] { refuse_reading("a", "b", error, "make it again"); });
  };
  EXPECT_EQ(refusal(ENOENT), "a: b; make it again");
  EXPECT_EQ(refusal(EISDIR), "a: b; make it again");
  EXPECT_THAT(refusal(EIO), HasSubstr("dmesg"));
  EXPECT_EQ(refusal(EACCES), "a: b; make it readable for this user");
  EXPECT_THROW(refuse_reading("a", "b", EIO, ""), UnreadableError);
}

TEST(FileRemedy, AMissingFileIsNoUnreadableOne) {
  const auto refusal = [](int error) {
    return message_of([=] { refuse_unreadable("a", {error, std::generic_category()}); });
  };
  EXPECT_THAT(refusal(EIO), HasSubstr("a: Input/output error; the storage fails"));
  EXPECT_THAT(refusal(ESTALE), HasSubstr("mount its file system again"));
  EXPECT_NO_THROW(refuse_unreadable("a", {}));
  EXPECT_NO_THROW(refuse_unreadable("a", {ENOENT, std::generic_category()}));
}

TEST(FileRemedy, IsThatOfWholeFilesAndFolders) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "file";
  write_whole_file(file, "text", false);
  EXPECT_THAT(message_of([&] { write_whole_file(file / "below", "text", false); }),
              EndsWith("cannot write it: Not a directory; take the file out of its path, or "
                       "choose another folder"));
  EXPECT_THAT(message_of([&] { make_folder(file / "below"); }),
              EndsWith("cannot make the folder: Not a directory; take the file out of its path, "
                       "or choose another folder"));
}

// A bare name lies in the current folder.
TEST(WholeFile, IsDurableWithoutAFoldersName) {
  const TemporaryFolder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  EXPECT_EQ(message_of([&] { write_whole_file("bare", "text", /*durable=*/true); }), "no error");
  std::filesystem::current_path(before);
  EXPECT_EQ(read_whole_text(folder.path() / "bare"), "text");
}

TEST(CheckReplaceable, RefusesWhatCouldNotOrMustNotBeReplaced) {
  const TemporaryFolder folder;
  const auto refusal = [](const std::filesystem::path& file) {
    return message_of([&] { check_replaceable(file); });
  };
  const auto file = folder.path() / "file";
  EXPECT_EQ(refusal(file), "no error");
  EXPECT_FALSE(std::filesystem::exists(file)) << "nothing is left behind";
  std::ofstream(file) << "x";
  EXPECT_EQ(refusal(file), "no error");
  EXPECT_THAT(refusal(folder.path() / "nowhere" / "file"),
              HasSubstr("nowhere/file: cannot be written: No such file"));
  EXPECT_THAT(refusal(folder.path()), HasSubstr("Is a directory"));
  EXPECT_THAT(refusal(file / "below"), HasSubstr("cannot be written: Not a directory"));
  const auto pipe = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(refusal(pipe), HasSubstr("is no file that can be replaced"));
  EXPECT_THAT(refusal("/dev/null"), HasSubstr("is no file that can be replaced"));
}

}  // namespace
}  // namespace feedrate::tests
