#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "run/rank_task.h"

namespace feedrate::cli {

// One line on stderr that says how far things are: rewritten in place on a terminal, a plain line
// every few seconds elsewhere. Used by one thread.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { clear(); }
  // Shows `text` now (terminal), or if the last plain line is older than `plain_every_s`.
  void show(const std::string& text, double plain_every_s = 5);
  // Removes the line from the terminal, so that other output can follow.
  void clear();

 private:
  bool terminal_;
  bool shown_ = false;
  std::int64_t last_ns_ = 0;
};

// "filling the cache · 1,204 of 8,192 samples · 15 %", then
// "warming up 1.2 s · 1,204 img/s · 43 % of the ceiling · waiting for data 57 % · 3 s left"
std::string describe(const run::RunProgress& progress, std::optional<double> ceiling);

// "listing photos · 12,288 files"; without the number before the first one is found.
std::string listing_text(const std::filesystem::path& folder, std::uint64_t files);

}  // namespace feedrate::cli
