#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "plan/sweep_order.h"
#include "text/progress.h"

namespace feedrate::text {

// A run in progress on the live line, under its title. Above it stays a notice of the first run
// whose steps are slow, see slow_step.h.
class ShownRun {
 public:
  // `limits` outlive it. `quiet`: it shows nothing.
  ShownRun(const run::RunLimits& limits, bool quiet)
      : limits_(limits), line_(quiet), is_slow_told_(quiet) {}

  // `titles`: its own, and shorter ones for a narrow line. `ceiling`, `sweep`: see describe().
  void begin(const plan::PlannedRun& run, LiveLabels titles, std::optional<double> ceiling);
  void show(const run::RunProgress& progress, const std::string& sweep = {});
  void end() { line_.clear(); }
  const std::string& title() const { return titles_.front(); }

 private:
  const run::RunLimits& limits_;
  ProgressLine line_;
  bool is_slow_told_;  // or need not be
  plan::Cell cell_;
  bool in_pairs_ = false;
  LiveLabels titles_{""};
  double left_s_ = 0;  // the shortest that was shown of the window under way, seconds
  std::optional<double> ceiling_;
};

// A record as one line on stdout, at once.
void print_json(const nlohmann::ordered_json& record);

}  // namespace feedrate::text
