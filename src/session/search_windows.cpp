#include "session/search_windows.h"

#include <utility>

#include "plan/settings.h"
#include "session/sweep.h"

namespace feedrate::session {

double SearchWindows::longest_s(const plan::Cell& cell, double imgs_per_s, double least_step_s) {
  is_blind_ = imgs_per_s <= 0 && !had_trial_;
  if (is_blind_) return limits_.max_seconds;
  const plan::CellSettings settings = plan::settings_of(cell);
  const double step_s =
      expected_step_s(settings.batch_size * settings.gpus,
                      imgs_per_s > 0 ? imgs_per_s : trial_imgs_per_s_, least_step_s);
  const double longest = longest_window_s(limits_, step_s, options_);
  return windows_s_.try_emplace(cell.id(), longest).first->second;
}

bool SearchWindows::is_trial(const plan::Cell& cell, const run::Measurement& m) {
  if (!std::exchange(is_blind_, false)) return false;
  // A pass that is over sooner has no more steps in a longer window.
  const bool is_cut_off = m.steps < kFewestSteps && run::measured_s(m) >= limits_.max_seconds;
  had_trial_ = is_cut_off && options_.slow_window_s > limits_.max_seconds;
  if (had_trial_)
    trial_imgs_per_s_ = run::sustained_rate(m);
  else
    windows_s_.emplace(cell.id(), limits_.max_seconds);
  return had_trial_;
}

std::string SearchWindows::why_again(const ledger::Record& record) {
  constexpr int kMostStoppedRuns = 3;
  const plan::Cell& cell = record.context.run.cell;
  ++runs_[cell.id()];
  if (is_trial(cell, *record.result.measurement))
    return "too few steps for a rate, measured again for longer";
  const bool is_spoilt = stood_still(record) && stopped_runs_++ < kMostStoppedRuns;
  return is_spoilt ? "it stood still, measured again" : "";
}

int SearchWindows::runs_of(const plan::Cell& cell) const {
  const auto runs = runs_.find(cell.id());
  return runs == runs_.end() ? 0 : runs->second;
}

}  // namespace feedrate::session
