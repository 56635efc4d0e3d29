#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "device/qualify.h"
#include "plan/cell.h"
#include "plan/settings.h"
#include "run/measurement.h"
#include "storage/dataset.h"

namespace feedrate::run {

enum class Status { ok, failed, interrupted };
std::string_view name_of(Status status);

// What one run of one cell gave. Constant once made.
struct CellResult {
  plan::Cell cell;
  plan::CellSettings settings;                             // with what `auto` stood for
  std::shared_ptr<const device::Qualification> qualified;  // where that was found out
  std::int64_t qualify_ns = 0;                             // how long that took in this run
  Status status = Status::failed;
  std::string error;                                       // one line; empty unless failed
  std::string started_at;                                  // UTC, ISO 8601
  std::shared_ptr<const storage::DatasetVariant> dataset;  // null for synthetic
  storage::HowListed listed{};  // of a folder of the user's own: how the command listed it
  std::optional<double> first_batch_s{};   // from when the ranks were asked to run; see Measurement
  int outputs = device::kUsualOutputs;     // of the network that was trained
  std::optional<Measurement> measurement;  // of a run that ended well
  std::map<std::size_t, RankMeasurement> kept_ranks;  // else, of ranks whose results arrived
};

}  // namespace feedrate::run
