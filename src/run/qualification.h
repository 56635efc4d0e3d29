#pragma once
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "device/qualify.h"

// StepOptions as they travel to ranks. What reads throws a std::exception.
namespace feedrate::device {
void to_json(nlohmann::json& json, const StepOptions& options);
void from_json(const nlohmann::json& json, StepOptions& options);
}  // namespace feedrate::device

// What a device has found `auto` to stand for: how it is found by processes that may crash, and the
// file that keeps it.
namespace feedrate::run {

// What an attempt to qualify a device is told to do, in a process of its own.
struct QualifyOrder {
  bool asks_rates = false;  // over batch sizes, too
  bool asks_fit = false;    // instead: only the largest batch that fits
  std::vector<device::RungResult> known;
};

// What an attempt tells while it goes on: one of these at a time.
struct QualifyEvent {
  std::string axis, value;                         // a rung was begun
  std::optional<device::RungResult> ended;         // and has ended
  std::optional<device::Qualification> qualified;  // the end of all; before the rates, too
  std::optional<int> fits;                         // the other end: images
};
nlohmann::json json_of(const QualifyEvent& event);
QualifyEvent qualify_event_from(const nlohmann::json& json);  // throws a std::exception
void to_json(nlohmann::json& json, const QualifyOrder& order);
void from_json(const nlohmann::json& json, QualifyOrder& order);  // throws the same

// Carries out an order on trials in this process, and tells how it goes.
void run_trials(const QualifyOrder& order, device::StepTrials& trials, const device::OpenStep& step,
                const std::function<void(const QualifyEvent&)>& tell);

// Has `attempt` carry out an order, again without what the one before has died of: such a rung has
// failed. `attempt` calls its sink for each event; it returns false if it was stopped, and throws
// what has ended it. `told`: of each event. Nothing if stopped. Throws what no rung is to blame
// for, but where all rungs had been judged: then the rates over batch sizes have failed.
using QualifySink = std::function<void(const QualifyEvent&)>;
std::optional<QualifyEvent> qualify_apart(
    QualifyOrder order, const std::function<bool(const QualifyOrder&, const QualifySink&)>& attempt,
    const QualifySink& told);

// Qualifications that were made before, a file each in a folder. `holds_for`: everything that they
// hang on, as JSON. Several processes may read and write at once.
class KeptQualifications {
 public:
  // $XDG_CACHE_HOME or ~/.cache, feedrate/qualified; nothing is kept where neither is set.
  KeptQualifications();
  explicit KeptQualifications(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // The one that holds for this. A file that cannot be read, is of something else or is damaged is
  // none, and `note` says so in a line.
  std::optional<device::Qualification> find(const nlohmann::json& holds_for,
                                            std::string& note) const;
  // Where it is kept, empty: nowhere. Errors: feedrate::Error.
  std::filesystem::path keep(const nlohmann::json& holds_for,
                             const device::Qualification& found) const;

 private:
  std::filesystem::path file_of(const nlohmann::json& holds_for) const;

  std::filesystem::path folder_;
};

// As records have it: how far steps are from fp64, each rung, and each rate over batch sizes.
nlohmann::ordered_json record_json_of(const device::StepError& error);
nlohmann::ordered_json record_json_of(const std::vector<device::RungResult>& rungs);
nlohmann::ordered_json record_json_of(const std::vector<device::BatchRate>& batches);
// The axes' values: {"memory-format": "channels_last", ...}.
nlohmann::ordered_json values_of(const device::StepOptions& options);

}  // namespace feedrate::run
