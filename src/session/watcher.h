#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "run/qualifier.h"
#include "run/rank_task.h"

namespace feedrate::session {

// Who watches an experiment while it goes on: a person at a terminal, most often. Called by the
// thread that measures.
class Watcher {
 public:
  virtual ~Watcher() = default;

  // What goes on now: each takes the place of what was shown before.
  virtual void lists(const std::filesystem::path& dataset, std::uint64_t files) = 0;
  virtual void shows(const std::string& what) = 0;
  virtual void shows(const std::string& run, const run::RunProgress& progress) = 0;
  // How far something is: "12 of 300". A log has it only where that takes some seconds.
  virtual void counts(const std::string& how_far) = 0;
  virtual void shows_nothing() = 0;

  // Lines that stay: of what was done, and of what the user should know.
  virtual void logs(const std::string& line) = 0;
  virtual void warns(const std::string& line) = 0;

  // For whoever qualifies a device meanwhile. They do not outlive the watcher.
  virtual run::QualifyHooks qualify_hooks() = 0;
};

}  // namespace feedrate::session
