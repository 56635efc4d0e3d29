#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "data_gen/generate.h"
#include "tests/temporary_folder.h"

namespace feedrate::tests {

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
