#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "judge/flags.h"
#include "ledger/precision.h"

namespace feedrate::text {

// What a sweep comes to, by its ledger's records.
class SweepSummary {
 public:
  // In the ledger's order. `told`: its flags as they were raised, where they are known: a record
  // does not hold their figures.
  void add(const nlohmann::ordered_json& record);
  void add(const nlohmann::ordered_json& record, std::vector<judge::Flag> told);

  // first_lines() of the ledger's runs, each counted once, as the report does.
  std::string caveats() const;

  // At most four lines: which of these cells has the largest share of its ceiling and which the
  // smallest, among those whose shares may be quoted; how many have warnings, by their names; and
  // how many met pictures with stray bytes. Empty where there is nothing of that to say.
  // `names_devices`: the labels do.
  std::string text(const std::vector<plan::Cell>& cells, bool names_devices) const;

 private:
  struct Run {
    bool valid = false;
    std::set<std::string> flags;      // warnings and what is serious
    std::int64_t stray_pictures = 0;  // with stray bytes; of several runs the most
    std::vector<judge::Flag> told{};
  };
  Run seen_of(const std::string& cell_id) const;  // all its runs together
  bool may_be_quoted(const plan::Cell& cell) const;
  std::string best_and_worst(const std::vector<plan::Cell>& cells, bool names_devices) const;
  std::string flagged(const std::vector<plan::Cell>& cells) const;
  std::string stray_bytes(const std::vector<plan::Cell>& cells) const;

  std::vector<ledger::MeasuredRate> rates_;
  // Those that count: the last valid one, else the last one. By cell_id, repetition and place.
  std::map<std::tuple<std::string, int, int>, Run> runs_;
};

}  // namespace feedrate::text
