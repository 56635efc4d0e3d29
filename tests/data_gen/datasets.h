#pragma once
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "base/error.h"
#include "data_gen/generate.h"
#include "data_gen/picture.h"
#include "storage/dataset.h"
#include "storage/verify.h"

namespace feedrate::tests {

namespace fs = std::filesystem;

inline std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_text(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

inline std::vector<std::byte> read_bytes(const fs::path& path) {
  const std::string text = read_text(path);
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

// Every file below `folder`: relative path to contents.
inline std::map<std::string, std::string> files_of(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    files[entry.path().lexically_relative(folder).generic_string()] = read_text(entry.path());
  }
  return files;
}

// How many variants a dataset of these options has, if it is not packed as well.
inline std::size_t variants_of(const data_gen::GenerateOptions& options) {
  const bool has_tensors = std::ranges::count(options.formats, "tensor") > 0;
  const std::size_t tensors =
      has_tensors ? options.tensor_dtypes.size() * options.input_sizes.size() : 0;
  return (options.formats.size() - (has_tensors ? 1 : 0)) * options.image_sizes.size() + tensors;
}

// Names what differs instead of printing pictures.
inline void expect_same(const std::map<std::string, std::string>& found,
                        const std::map<std::string, std::string>& expected) {
  for (const auto& [name, text] : expected) {
    ASSERT_TRUE(found.contains(name)) << name << " is missing";
    ASSERT_TRUE(found.at(name) == text) << name << " differs";
  }
  for (const auto& [name, text] : found) ASSERT_TRUE(expected.contains(name)) << name << " is new";
}

// A test with a folder of its own, gone afterwards; in memory where that can be had, because a
// dataset is synced to its disk, which on a busy machine takes seconds.
class DatasetTest : public testing::Test {
 protected:
  DatasetTest() {
    const fs::path memory = "/dev/shm";
    const fs::path parent = access(memory.c_str(), W_OK) == 0 ? memory : fs::temp_directory_path();
    std::string pattern = (parent / "feedrate-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = pattern;
  }
  ~DatasetTest() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  // Small, and every format, with a tensor size that there is no picture of.
  data_gen::GenerateOptions options(const std::string& name = "data") const {
    data_gen::GenerateOptions options;
    options.data = folder_ / name;
    options.formats = {"jpeg", "png", "png0", "bmp", "npy", "npz", "raw", "tensor"};
    options.image_sizes = {{48, 36}, {32, 32}};
    options.input_sizes = {{32, 32}, {16, 16}};
    options.tensor_dtypes = {codec::Dtype::uint8, codec::Dtype::fp16, codec::Dtype::fp32};
    options.count = 6;
    options.classes = 4;
    options.seed = 7;
    options.threads = 2;
    options.encode.png_level = 1;
    return options;
  }

  fs::path folder_;
};

inline std::vector<data_gen::VariantSummary> generate(const data_gen::GenerateOptions& options) {
  return data_gen::generate_dataset(options, {}, {});
}

inline std::string error_of(const data_gen::GenerateOptions& options) {
  try {
    generate(options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline void expect_verifies(const fs::path& data) {
  const storage::VerifyResult result = storage::verify_dataset(data, 2, {});
  EXPECT_TRUE(result.damaged.empty()) << result.damaged.front();
  EXPECT_GT(result.files, 0u);
}

// The pixels of an encoded picture.
inline data_gen::Picture picture_of(const std::string& format, const fs::path& path) {
  const auto file = read_bytes(path);
  const auto decoder = codec::find_picture_format(format)->make_decoder();
  data_gen::Picture picture;
  picture.size = decoder->open(file, path.string());
  const codec::PixelView view =
      decoder->decode({0, 0, picture.size.width, picture.size.height}, 1).pixels;
  for (int y = 0; y < view.height; ++y) {
    const std::uint8_t* row = view.data + y * view.stride;
    picture.pixels.insert(picture.pixels.end(), row, row + view.width * 3);
  }
  return picture;
}

}  // namespace feedrate::tests
