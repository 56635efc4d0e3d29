#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace feedrate::ledger {

// Takes host names, user names, process ids and paths out of records, wherever they stand in a
// text. The rest says as much about the measurement: "DATASET/jpeg/500x375/class_000/000001.jpg".
// Axes and other fields that name no one stay as they are.
class Anonymizer {
 public:
  // The folders as typed; empty ones are ignored. `traces`: files of recorded steps.
  Anonymizer(const std::filesystem::path& dataset, const std::filesystem::path& output,
             const std::filesystem::path& config,
             const std::vector<std::filesystem::path>& traces = {});
  void apply(nlohmann::ordered_json& record) const;
  std::string cleaned(std::string text) const;

  struct Replacement {
    std::string what, by;
    bool leads = false;  // only where a '/' follows: a bare word may be something else
  };

 private:
  void add(std::string what, const std::string& by, bool is_path = true);
  std::vector<Replacement> replacements_;  // the longest first
};

}  // namespace feedrate::ledger
