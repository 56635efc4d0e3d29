#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace feedrate::ledger {

// What a ledger's file holds.
struct LedgerText {
  std::vector<nlohmann::ordered_json> records;
  std::string last_xxh3;               // checksum of the last whole line; "" without any
  std::optional<std::size_t> torn_at;  // byte at which a last line begins that a crash has cut off
  bool open_ended = false;  // the last line is a whole record and lacks its newline alone
};
// Whether lists and objects are nested more deeply than in any record: parsing such a line could
// crash the program.
bool nests_too_deep(std::string_view line);

// `file`: DIR/ledger.jsonl. Throws an Error that names the line that is no record.
LedgerText read_ledger(const std::filesystem::path& file);

// DIR/ledger.jsonl: append-only, one JSON object a line, the only truth about a sweep. Each record
// is written and synced before the next run, so that a crash loses at most the record that was
// being written.
class Ledger {
 public:
  // Opens or makes it, before anything is measured. A ledger that already has records is refused
  // unless `resume`. Throws an Error naming the path and the reason.
  Ledger(const std::filesystem::path& folder, bool resume);
  ~Ledger();
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  // Cuts off a torn last line and then returns true; ends a whole line that lacks only its newline.
  // To be called before append(), but after all checks that may refuse the ledger: a refused ledger
  // stays as it was.
  bool mend();
  // Seals the record (record/seal.h), writes it, and returns it as it was written. Throws an Error
  // naming the path, the reason and the remedy; the ledger then is as it was.
  nlohmann::ordered_json append(nlohmann::ordered_json record);
  const std::vector<nlohmann::ordered_json>& records() const {
    return text_.records;
  }  // read at the start
  std::size_t size() const { return text_.records.size() + appended_; }  // records by now
  const std::string& last_xxh3() const { return text_.last_xxh3; }       // of the last of them
  const std::filesystem::path& path() const { return path_; }

 private:
  void load(bool resume);

  std::filesystem::path path_;
  int fd_ = -1;
  LedgerText text_;
  std::size_t appended_ = 0;
};

}  // namespace feedrate::ledger
