#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "storage/storage.h"
#include "tests/support.h"

namespace feedrate::tests {
namespace {

class BufferedFiles : public testing::Test {
 protected:
  BufferedFiles() {
    std::ofstream(folder_.path() / "abc", std::ios::binary) << "abcdefghij";
    std::ofstream(folder_.path() / "empty", std::ios::binary);
  }
  static std::string text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  TemporaryFolder folder_;
  std::unique_ptr<storage::Storage> storage_ = storage::make_buffered_files(folder_.path());
  storage::Buffer buffer_;
};

TEST_F(BufferedFiles, ReadsAFile) {
  storage_->read({"abc", 0, 10}, buffer_);
  EXPECT_EQ(text(buffer_.bytes()), "abcdefghij");
  storage_->read({"empty", 0, 0}, buffer_);
  EXPECT_EQ(buffer_.bytes().size(), 0U);
}

TEST_F(BufferedFiles, ReadsTheLastBytesToAnotherPlaceAndNoFurther) {
  for (const std::size_t head : {0U, 1U, 4U, 10U}) {
    std::string tail(12 - head, '.');
    storage_->read({"abc", 0, 10}, buffer_,
                   std::as_writable_bytes(std::span(tail)).first(10 - head));
    EXPECT_EQ(text(buffer_.bytes()), std::string("abcdefghij").substr(0, head));
    EXPECT_EQ(tail, std::string("abcdefghij").substr(head) + "..");
  }
}

TEST_F(BufferedFiles, AFileOfAnotherLengthIsAnErrorWithBothLengths) {
  std::string tail(4, '.');
  const auto message = [&](std::uint64_t bytes, std::span<std::byte> to) -> std::string {
    try {
      storage_->read({"abc", 0, bytes}, buffer_, to);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  for (const auto to : {std::span<std::byte>{}, std::as_writable_bytes(std::span(tail))}) {
    EXPECT_THAT(message(11, to), testing::HasSubstr("abc: has 10 bytes, the manifest says 11"));
    EXPECT_THAT(message(4, to), testing::HasSubstr("abc: has 10 bytes, the manifest says 4"));
    EXPECT_THAT(message(9, to), testing::HasSubstr("abc: has 10 bytes, the manifest says 9"));
  }
}

TEST_F(BufferedFiles, AnAbsentFileIsAnErrorNamingIt) {
  EXPECT_THAT([&] { storage_->read({"none", 0, 1}, buffer_); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("none: No such file")));
}

TEST_F(BufferedFiles, ExpectingAFileNeverFails) {
  storage_->expect({"abc", 0, 10});
  storage_->expect({"none", 0, 10});
  storage_->read({"abc", 0, 10}, buffer_);
  EXPECT_EQ(text(buffer_.bytes()), "abcdefghij");
}

TEST_F(BufferedFiles, CompletionsCarryTheirTagsAndErrors) {
  storage::Buffer other;
  const storage::SampleFile abc{"abc", 0, 10}, none{"none", 0, 1};
  const std::vector<storage::ReadRequest> requests{{7, &abc, &buffer_}, {8, &none, &other}};
  storage_->submit(requests);
  std::vector<storage::ReadCompletion> done(4);
  ASSERT_EQ(storage_->poll(done, true), 2U);
  EXPECT_EQ(done[0].tag, 7U);
  EXPECT_EQ(done[0].error, nullptr);
  EXPECT_EQ(done[1].tag, 8U);
  EXPECT_NE(done[1].error, nullptr);
  EXPECT_EQ(storage_->poll(done, true), 0U);
}

}  // namespace
}  // namespace feedrate::tests
