#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "judge/capacity.h"
#include "judge/evidence.h"
#include "plan/settings.h"
#include "storage/storage.h"

namespace feedrate::judge {

// The resource, as capacities and verdicts call it: how many reads are on their way at a time.
inline constexpr std::string_view kReadsInFlight = "reads in flight";

// Reads that are faster come from memory: to have more of them on their way would bring nothing.
inline constexpr double kLeastReadMs = 0.1;

// What all workers have on their way at a time, and how long a read takes.
struct ReadsInFlight {
  double count = 1;  // workers x depth (or batch, see CellSettings::reads_of_worker()) x GPUs
  double ms = 0;     // mean; where only a record is known, the median

  double imgs_per_s() const { return 1e3 * count / ms; }
};

// Who reads for all workers, one file after the other, whatever workers and depth there are:
// "--loader dali", whose one thread reads, "--container hdf5", whose library lets in one thread at
// a time. Empty: each worker reads.
std::string one_reader_of(const plan::CellSettings& settings);

// By what a run of the cell counted. Nothing where that is unknown (no read was counted, or more of
// them ended unseen; the engine reads one after the other, whatever its depth; there is one
// reader), and where reads take less than kLeastReadMs.
std::optional<ReadsInFlight> reads_in_flight_of(const plan::CellSettings& settings,
                                                const storage::ReadLatencies& latencies);
// Adds them to the resources of such a run, which reached `imgs_per_s`, at their place by capacity.
void add_reads_in_flight(std::vector<Capacity>& capacities, const ReadsInFlight& reads,
                         double imgs_per_s);
// Of all rounds, by the capacities in them.
std::optional<ReadsInFlight> reads_in_flight_of(const Evidence& e);

// The share of a worker's time in which it waits for a read and does not compute.
double share_of_read_waits(const ServiceTimes& service, const ServiceTimes& cpu);

// Whether the number of reads in flight may limit such a cell by itself: workers have several, and
// wait for them all the same. (With one, whoever delays a worker delays its next read.) `reads`:
// what is known of them.
bool may_reads_in_flight_limit(const plan::CellSettings& settings,
                               const std::optional<ReadsInFlight>& reads, double share_of_waits);

// "reads in flight: 4 at 20 ms each"
std::string in_words(const ReadsInFlight& reads);

}  // namespace feedrate::judge
