#include "text/live_watcher.h"

#include <cstdio>
#include <optional>

#include "measure/clock.h"
#include "text/qualify_text.h"

namespace feedrate::text {

void LiveWatcher::lists(const std::filesystem::path& dataset, std::uint64_t files) {
  line_.show_count(listing_text(dataset, files, listing_.at(measure::now_ns(), files)));
}

void LiveWatcher::shows(const std::string& what) { line_.show(what); }

void LiveWatcher::shows(const std::string& run, const run::RunProgress& progress) {
  line_.show(LiveLabels{run}, describe(progress, std::nullopt));
}

void LiveWatcher::counts(const std::string& how_far) { line_.show_count(how_far); }

void LiveWatcher::shows_nothing() { line_.clear(); }

void LiveWatcher::logs(const std::string& line) {
  line_.clear();
  std::fprintf(stderr, "%s\n", line.c_str());
}

void LiveWatcher::warns(const std::string& line) { line_.say(line); }

run::QualifyHooks LiveWatcher::qualify_hooks() { return text::qualify_hooks(line_, shows_rungs_); }

}  // namespace feedrate::text
