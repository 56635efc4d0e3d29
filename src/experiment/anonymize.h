#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace feedrate {

// Takes host names, user names, process ids and paths out of records, wherever they stand in a text. What is left says as
// much of the measurement: "DATASET/jpeg/500x375/class_000/000001.jpg"; the axes and what else names no one stay as they are.
class Anonymizer {
 public:
  // The folders as typed; empty ones are none.
  Anonymizer(const std::filesystem::path& dataset, const std::filesystem::path& output, const std::filesystem::path& config);
  void apply(nlohmann::ordered_json& record) const;

  struct Replacement {
    std::string what, by;
    bool leads = false;  // only where a '/' follows: a bare word may be something else
  };

 private:
  void add(std::string what, const std::string& by, bool is_path = true);
  std::vector<Replacement> replacements_;  // the longest first
};

}  // namespace feedrate
