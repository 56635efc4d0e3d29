#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

#include "device/registry.h"
#include "run/cell_ranks.h"
#include "run/cell_result.h"
#include "run/qualification.h"
#include "run/run_options.h"

namespace feedrate::run {

// Who hears of a device that is tried out before a cell runs on it: a line of what is wrong with
// what was kept, that it begins, each event, and what was found, now or before. Called by the
// thread that runs the cell, one at a time.
struct QualifyHooks {
  std::function<void(const std::string&)> note;
  std::function<void(const plan::CellSettings&)> begun;
  QualifySink told;
  std::function<void(const plan::CellSettings&, const device::Qualification&)> found;
  std::function<void(const plan::CellSettings&, const device::Qualification&)> found_before;
};

// Finds out what cells leave to their devices, once for all cells that are alike in that; see
// device/qualify.h. Threads may come at the same time: one finds out, the others wait.
class Qualifier {
 public:
  explicit Qualifier(QualifyHooks hooks = {}) : hooks_(std::move(hooks)) {}

  // Where and how a cell runs.
  struct Place {
    const RunOptions& options;
    device::AcceleratorRegistry& registry;
    CellRanks& ranks;
    const std::stop_token& stop;
  };

  // What is left open is looked up, or found out, and stands in the result from then on. Where
  // nothing is, `--qualify` shows all the same what the device's ways of making a step would gain.
  // False: stopped. Throws what its plain step throws.
  bool qualify(CellResult& result, const Place& place);

  // "; --batch-size 192 fits", after an error that says that the cell's own does not; else empty.
  std::string largest_batch(const CellResult& result, const Place& place) const;

 private:
  using Found = std::shared_ptr<const device::Qualification>;

  Found kept_before(const nlohmann::json& holds_for) const;
  Found find_out(const CellResult& result, const plan::CellSettings& settings,
                 const nlohmann::json& holds_for, const Place& place) const;
  void keep(const nlohmann::json& holds_for, const device::Qualification& found) const;
  void note(const std::string& text) const;

  const QualifyHooks hooks_;
  std::mutex mutex_;
  std::map<std::string, Found> found_;  // by what it holds for
};

}  // namespace feedrate::run
