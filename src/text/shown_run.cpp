#include "text/shown_run.h"

#include <cstdio>
#include <utility>

#include "ledger/record_json.h"
#include "text/slow_step.h"

namespace feedrate::text {

void ShownRun::begin(const plan::PlannedRun& run, std::string title,
                     std::optional<double> ceiling) {
  cell_ = run.cell, in_pairs_ = run.in_pairs;
  title_ = std::move(title), ceiling_ = ceiling;
  line_.show(title_, {"preparing"});
}

void ShownRun::show(const run::RunProgress& progress, const std::string& sweep) {
  if (!is_slow_told_) {
    const std::string slow = slow_step_text(progress, cell_, in_pairs_, limits_);
    is_slow_told_ = !slow.empty();
    if (is_slow_told_) line_.say(slow);
  }
  line_.show(title_, describe(progress, ceiling_, sweep));
}

void print_json(const nlohmann::ordered_json& record) {
  std::printf("%s\n", ledger::to_line(record).c_str());
  std::fflush(stdout);
}

}  // namespace feedrate::text
