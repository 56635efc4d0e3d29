#include "text/live_run.h"

#include <cstdio>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "text/result_text.h"

namespace feedrate::text {
namespace {

void say_of_trace(const run::TraceOutcome& trace) {
  if (!trace.problem.empty()) {
    std::fprintf(stderr, "feedrate: trace: %s\n", trace.problem.c_str());
  } else if (trace.left_out > 0) {
    const auto most = static_cast<double>(measure::Trace::kMostEvents);
    const std::string left_out = trace.left_out < 100  // else thousands() adds a decimal
                                     ? std::to_string(trace.left_out)
                                     : thousands(static_cast<double>(trace.left_out));
    std::fprintf(stderr,
                 "feedrate: trace: the first %s events of each row, %s more were left out\n",
                 thousands(most).c_str(), left_out.c_str());
  }
}

}  // namespace

LiveRun::LiveRun(const session::Session& session, Options options,
                 std::function<void(const run::CellResult&)> measured)
    : session_(session),
      options_(options),
      measured_hook_(std::move(measured)),
      run_(session.options().run.limits, session.options().quiet) {}

session::SweepHooks LiveRun::hooks() {
  return {.started =
              [this](const plan::PlannedRun& run, std::size_t, std::size_t,
                     std::optional<double> ceiling) {
                const std::string turn =
                    options_.repetitions > 1
                        ? format("[%d/%d] ", run.repetition + 1, options_.repetitions)
                        : "";
                run_.begin(run, {turn + run.cell.label()}, ceiling);
              },
          .progress = [this](const run::RunProgress& p) { run_.show(p); },
          .finished = [this](const ledger::Record& record,
                             const nlohmann::ordered_json& json) { finish(record, json); }};
}

void LiveRun::refuse_a_failed_ceiling() const {
  if (!ceiling_error_.empty())
    throw Error("the ceiling", ceiling_error_, "measure without it: --no-ceiling");
}

void LiveRun::conclude() const {
  if (options_.prints_json || measured_.empty()) return;
  const std::string ledger = session_.ledger() ? session_.ledger()->path().string() : "";
  std::fputs(runs_text(measured_, ledger, session_.options().verbose).c_str(), stdout);
}

void LiveRun::finish(const ledger::Record& record, const nlohmann::ordered_json& json) {
  run_.end();
  const run::CellResult& result = record.result;
  if (record.context.run.role != plan::Role::cell && !options_.measures_the_ceiling) {
    if (result.status == run::Status::failed) ceiling_error_ = result.error;
    return;
  }
  if (options_.prints_json) print_json(json);
  if (result.status == run::Status::failed)
    std::fprintf(stderr, "feedrate: %s\n", result.error.c_str());
  if (!result.measurement) return;
  measured_.push_back(record);
  say_of_trace(result.measurement->trace);
  lacks_its_trace_ = !result.measurement->trace.problem.empty();
  measured_hook_(result);
}

}  // namespace feedrate::text
