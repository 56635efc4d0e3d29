#include "session/record_evidence.h"

#include <algorithm>
#include <limits>

#include "ledger/record_json.h"
#include "ledger/recorded_measurement.h"
#include "measure/clock.h"

namespace feedrate::session {
namespace {

using Json = nlohmann::ordered_json;
using judge::Rung;

double all_reduce_share(const Json& record) {
  const Json ranks = record.value("ranks", Json::array());
  if (ranks.size() < 2) return 0;
  double least = std::numeric_limits<double>::infinity();
  for (const Json& rank : ranks) least = std::min(least, rank.at("sync_ms_mean").get<double>());
  return judge::all_reduce_share(least, record.at("step_ms").at("mean"),
                                 record.at("device_idle_fraction"));
}

double open_share(const Json& record) {
  const Json io = record.value("io", Json());
  if (!io.is_object() || !io["open_us"].is_object()) return 0;
  const Json opens = io["open_us"]["median"], reads = io["latency_us"]["median"];
  return opens.is_number() && reads.is_number() && reads > 0
             ? opens.get<double>() / reads.get<double>()
             : 0;
}

// Of the processes of all ranks, which are taken to be like rank 0's: seconds; 0: unknown.
double all_cpu_s(const Json& record) {
  const Json& monitors = record.at("monitors");
  const Json cpu_s = monitors.value("process_cpu_s", Json());
  return cpu_s.is_number() ? cpu_s.get<double>() * monitors.value("processes", 1) : 0;
}

// What an image costs beside the loaders; 0: unknown.
double step_cpu_s(const Json& record, const measure::StageTotals& loaders) {
  const double all = all_cpu_s(record), images = record.at("images");
  if (all <= 0 || images <= 0) return 0;
  double loaders_s = 0;
  for (const measure::StageTotal& stage : loaders.stage)
    loaders_s += measure::seconds(stage.cpu_ns);
  return std::max(0.0, all - loaders_s) / images;
}

// The share of the CPUs' time that the program took.
double cpus_busy(const Json& record) {
  const double there_s =
      record.at("window_s").get<double>() * record.at("threads").value("cpu_capacity", 0.0);
  return there_s > 0 ? all_cpu_s(record) / there_s : 0;
}

}  // namespace

double kept_up(const Json& record) {
  const double drawn = record.contains("queue") ? record["queue"].value("drawn_mean", 0.0) : 0.0;
  return run::kept_up(record.at("imgs_per_s"), drawn);
}

void add_record(const Json& record, Rung rung, bool is_own, judge::RoundEvidence& round) {
  round.rates[rung] = kept_up(record);
  if (rung == Rung::cpus) round.cpus_busy = cpus_busy(record);
  if (!is_own) return;
  round.undelayed = ledger::measurement_from(record).stages;
  round.capacities = ledger::capacities_from(record.at("capacities"));
  round.step_cpu_s = step_cpu_s(record, *round.undelayed);
  round.all_reduce_share = all_reduce_share(record);
  round.open_share = open_share(record);
  const Json dataset = record.value("dataset", Json());
  if (dataset.is_object()) round.page_cache = dataset.value("page_cache", "");
}

CellFacts facts_of(const Json& record) {
  return {.device = record.at("device").at("name"),
          .cpus = std::max(1.0, record.at("threads").value("cpu_capacity", 1.0)),
          .step_s = 1e-3 * record.at("step_ms").at("mean").get<double>()};
}

}  // namespace feedrate::session
