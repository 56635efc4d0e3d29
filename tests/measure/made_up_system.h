#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace feedrate::tests {

// Folders "proc" and "cgroup" with what a test writes into them, in place of a machine's own.
class MadeUpSystem : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }

  std::filesystem::path root_ =
      std::filesystem::temp_directory_path() / ("feedrate-system-" + std::to_string(getpid()));
};

}  // namespace feedrate::tests
