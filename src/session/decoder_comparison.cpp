#include "session/decoder_comparison.h"

#include <algorithm>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>

#include "base/text.h"
#include "codec/any_picture.h"
#include "judge/flags.h"
#include "run/measurement.h"
#include "session/ladder_cells.h"

namespace feedrate::session {
namespace {

// The device takes any rate.
std::optional<plan::Cell> loader_of(const plan::Cell& cell, const std::string& decoder) {
  return with(cell, {{"device", "emulated:inf"},
                     {"host-cpu-ms", ""},
                     {"all-reduce-ms", ""},
                     {"decoder", decoder}});
}

run::RunOptions short_run(run::RunOptions options) {
  options.limits = {.warmup_seconds = 0.3,
                    .max_warmup_seconds = 1,
                    .min_steps = 10,
                    .min_seconds = kComparedSeconds,
                    .max_seconds = 2 * kComparedSeconds,
                    .stall_seconds = options.limits.stall_seconds};
  options.trace.clear();
  options.trace_operators = options.qualify = false;
  return options;
}

// The flags that make its rate one that must not be shown: "noisy_neighbour, short_window".
std::string spoilt_by(const run::CellResult& result, const run::RunOptions& options,
                      const std::vector<std::string>& differences) {
  judge::FlagFacts facts{.result = result,
                         .options = options,
                         .opening_imgs_per_s = std::nullopt,
                         .ceiling = std::nullopt,
                         .first_page_cache = std::nullopt,
                         .differences = differences};
  std::set<std::string> names;
  for (const judge::Flag& flag : judge::flags_of(facts))
    if (flag.severity == judge::Severity::serious || judge::is_noise(flag.name))
      names.insert(flag.name);
  return listed(names);
}

// Nothing: interrupted, or not all files lay in memory. Throws where it failed or was spoilt.
std::optional<double> rate_alone(Session& session, run::CellRunner& runner,
                                 const run::RunOptions& options, const plan::Cell& cell) {
  runner.check(cell);
  const run::CellResult result = runner.run(
      cell, [&](const run::RunProgress& p) { session.watcher().shows("the loader alone", p); },
      session.token());
  session.watcher().shows_nothing();
  if (result.status == run::Status::failed) throw std::runtime_error(result.error);
  if (!result.measurement || session.is_stopped()) return std::nullopt;
  if (result.measurement->page_cache.state == "as-is") return std::nullopt;
  if (const std::string flags = spoilt_by(result, options, session.differences()); !flags.empty())
    throw std::runtime_error("its rate would not be sound: " + flags);
  return run::sustained_rate(*result.measurement);
}

}  // namespace

std::optional<DecoderCells> decoders_to_compare(const plan::Cell& cell) {
  const codec::Format* format = codec::find_format_of_data(cell["data"].value());
  const bool in_memory = cell.is("cache", "encoded") ||
                         (cell.is("cache", "none") &&
                          (cell.is("page-cache", "auto") || cell.is("page-cache", "warm")));
  if (!format || !codec::decodes(codec::DecoderKind::library, *format) ||
      !cell.is("decoder", "auto") || cell.is("loader", "dali") || !in_memory)
    return std::nullopt;
  const auto own = loader_of(cell, "auto"), library = loader_of(cell, "library");
  if (!own || !library) return std::nullopt;
  return DecoderCells{*own, *library};
}

std::optional<DecoderRates> compare_decoders(Session& session, const plan::Cell& cell) {
  const auto cells = decoders_to_compare(cell);
  if (!cells) return std::nullopt;
  const run::RunOptions options = short_run(session.options().run);
  try {
    const std::unique_ptr<run::CellRunner> runner = session.another_runner(options);
    const auto own = rate_alone(session, *runner, options, cells->own);
    if (!own) return std::nullopt;
    const auto library = rate_alone(session, *runner, options, cells->library);
    if (!library) return std::nullopt;
    return DecoderRates{*own, *library};
  } catch (const std::runtime_error& error) {
    session.watcher().warns("the loader alone was not compared with a library's decoder: " +
                            std::string(error.what()));
    return std::nullopt;
  }
}

}  // namespace feedrate::session
