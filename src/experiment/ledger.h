#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

namespace feedrate {

// DIR/ledger.jsonl: append-only, one JSON object a line, the only truth about a sweep. Each record is
// one write followed by fsync, so that a crash loses at most the record that was being written.
class Ledger {
 public:
  // Opens or makes it, before anything is measured. A ledger that already has records is refused
  // unless `resume`; then a torn last line is cut off. Throws an Error naming the path and the reason.
  Ledger(const std::filesystem::path& folder, bool resume);
  ~Ledger();
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  void append(const nlohmann::ordered_json& record);
  const std::vector<nlohmann::ordered_json>& records() const { return records_; }  // read at the start
  const std::filesystem::path& path() const { return path_; }
  bool was_torn() const { return torn_; }

 private:
  void load(bool resume);

  std::filesystem::path path_;
  int fd_ = -1;
  bool torn_ = false;
  std::vector<nlohmann::ordered_json> records_;
};

}  // namespace feedrate
