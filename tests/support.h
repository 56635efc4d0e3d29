#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "data_gen/generate.h"

namespace feedrate::tests {

// A folder of its own for one test, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "feedrate-test-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// A small dataset at `data`, made by the real generator.
inline void make_dataset(const std::filesystem::path& data, std::vector<std::string> formats,
                         codec::PixelSize size, std::int64_t count) {
  data_gen::GenerateOptions options{.data = data,
                                    .formats = std::move(formats),
                                    .image_sizes = {size},
                                    .input_sizes = {size},
                                    .count = count,
                                    .classes = 4,
                                    .threads = 2};
  data_gen::generate_dataset(options, [](const data_gen::GenerateProgress&) {}, {});
}

}  // namespace feedrate::tests
