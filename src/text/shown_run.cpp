#include "text/shown_run.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <utility>

#include "ledger/record_json.h"
#include "text/slow_step.h"

namespace feedrate::text {

void ShownRun::begin(const plan::PlannedRun& run, LiveLabels titles,
                     std::optional<double> ceiling) {
  cell_ = run.cell, in_pairs_ = run.in_pairs;
  titles_ = std::move(titles), ceiling_ = ceiling;
  left_s_ = std::numeric_limits<double>::infinity();
  line_.show(titles_, {"preparing"});
}

void ShownRun::show(const run::RunProgress& progress, const std::string& sweep) {
  if (!is_slow_told_) {
    const std::string slow = slow_step_text(progress, cell_, in_pairs_, limits_);
    is_slow_told_ = !slow.empty();
    if (is_slow_told_) line_.say(slow);
  }
  run::RunProgress shown = progress;
  // Unknown where a window begins, also one that begins again.
  if (shown.remaining_s < 0)
    left_s_ = std::numeric_limits<double>::infinity();
  else
    shown.remaining_s = left_s_ = std::min(left_s_, shown.remaining_s);
  line_.show(titles_, describe(shown, ceiling_, sweep));
}

void print_json(const nlohmann::ordered_json& record) {
  std::printf("%s\n", ledger::to_line(record).c_str());
  std::fflush(stdout);
}

}  // namespace feedrate::text
