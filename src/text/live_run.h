#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "session/sweep.h"
#include "text/shown_run.h"

namespace feedrate::text {

// What a person sees of a sweep of one cell. Every run shows its progress; at the end the cell's
// runs are shown.
class LiveRun {
 public:
  struct Options {
    int repetitions = 1;
    bool prints_json = false;
    bool measures_the_ceiling = false;  // the cell is synthetic: its ceiling is itself
  };
  // `session` outlives it. `measured` is called with each run of the cell that was measured.
  LiveRun(const session::Session& session, Options options,
          std::function<void(const run::CellResult&)> measured);

  session::SweepHooks hooks();

  bool lacks_its_trace() const { return lacks_its_trace_; }

  // The cell would fail in the same way, or would lack its ceiling. Throws an Error.
  void refuse_a_failed_ceiling() const;

  // What the runs come to, if one of them was measured.
  void conclude() const;

 private:
  void finish(const ledger::Record& record, const nlohmann::ordered_json& json);

  const session::Session& session_;
  const Options options_;
  const std::function<void(const run::CellResult&)> measured_hook_;
  ShownRun run_;
  std::string ceiling_error_;
  std::vector<ledger::Record> measured_;
  bool lacks_its_trace_ = false;
};

}  // namespace feedrate::text
