// What people give for a folder of pictures.
#include "storage/no_folder.h"

#include <gmock/gmock.h>

#include <fstream>
#include <string>

#include "base/error.h"
#include "tests/temporary_folder.h"

namespace feedrate::tests {
namespace {

using testing::EndsWith;
using testing::ThrowsMessage;

TEST(NoFolder, AUrlIsTold) {
  for (const char* url : {"s3://bucket/x", "https://host/x.tar", "gs://b", "hf+x.1-y://z"})
    EXPECT_TRUE(storage::is_url(url)) << url;
  for (const char* path :
       {"", "photos", "s3:/x", "://x", "/a/s3://x", "a b://x", "3d://x", "C:\\x"})
    EXPECT_FALSE(storage::is_url(path)) << path;
  EXPECT_THAT([] { storage::refuse_no_folder("s3://bucket/x"); },
              ThrowsMessage<Error>(testing::StrEq(
                  "s3://bucket/x: is a URL; feedrate reads folders: mount it, or copy it")));
}

TEST(NoFolder, AFileHasARemedyByItsKind) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& name, const std::string& words) {
    const std::filesystem::path file = folder.path() / name;
    std::ofstream(file) << "x";
    EXPECT_THAT([&] { storage::refuse_no_folder(file); },
                ThrowsMessage<Error>(EndsWith(name + ": " + words)));
  };
  refused("a.ZIP", "is an archive, no folder; unpack first, and give the folder of the pictures");
  refused("a.tar.gz",
          "is a compressed tar file, no folder; unpack first, and give the folder of the "
          "pictures");
  refused("a.tar",
          "is a tar file, no folder; give the folder that it lies in, with --container "
          "webdataset, or unpack it");
  refused("a.parquet",
          "is a table, no folder; write the pictures to files or tar shards, and give "
          "their folder");
  refused("a.jpg", "is a picture, no folder; give the folder that it lies in");
  refused("notes",
          "is a file, no folder; give the folder of a dataset, of pictures or of tar "
          "shards");
}

TEST(NoFolder, WhatIsAFolderOrNothingIsLeftToOthers) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "a.jpg");
  EXPECT_NO_THROW(storage::refuse_no_folder(folder.path() / "a.jpg"));
  EXPECT_NO_THROW(storage::refuse_no_folder(folder.path() / "missing"));
}

}  // namespace
}  // namespace feedrate::tests
