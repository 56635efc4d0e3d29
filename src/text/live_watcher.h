#pragma once
#include <filesystem>
#include <string>

#include "session/watcher.h"
#include "text/progress.h"

namespace feedrate::text {

// Shows an experiment on stderr: lines that stay, and one that is rewritten in place.
class LiveWatcher : public session::Watcher {
 public:
  // `shows_rungs`: each way of making a step, as it is tried.
  explicit LiveWatcher(bool shows_rungs = false) : shows_rungs_(shows_rungs) {}

  void lists(const std::filesystem::path& dataset, std::uint64_t files) override;
  void shows(const std::string& what) override;
  void shows(const std::string& run, const run::RunProgress& progress) override;
  void counts(const std::string& how_far) override;
  void shows_nothing() override;
  void logs(const std::string& line) override;
  void warns(const std::string& line) override;
  run::QualifyHooks qualify_hooks() override;

 private:
  const bool shows_rungs_;
  ProgressLine line_;
  ListingRate listing_;
};

}  // namespace feedrate::text
