#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "judge/in_flight_search.h"
#include "session/capacity_search.h"

namespace feedrate::session {

// What the user has fixed of the reads in flight: it is not searched over.
struct TypedReads {
  bool workers = false, depth = false;
};

// What a client gets out of the storage, by the reads that it has in flight.
struct ReadsFound {
  TypedReads typed{};
  judge::LoaderReads chosen{};  // of each GPU's loader, as far as a batch holds them
  judge::LoaderReads most{};    // at which the search ends
  bool is_searched = false;     // there was something to search over: what was seen is known
  bool more_adds_nothing = false;
  std::map<judge::LoaderReads, std::vector<Reading>> readings{};  // of each run
  std::optional<double> first_read_ms{};  // median latency with the fewest; none: not seen
  bool decodes = true;                    // else what is read is taken as it is
  std::string limit{};                    // why more were not tried
  std::string one_reader{};  // see judge::one_reader_of(): then only workers are searched over
  RunCaveats seen{};         // but what says that such runs are short
  // The exit code, where a signal came: of what was found only `readings` and `seen` are known
  // then.
  int interrupted = 0;
};

// Of workers and depth, how many are searched over: 0 to 2.
int searched_reads_axes(const SearchedCell& searched, const TypedReads& typed);

// Measures one GPU's loader with 1, 2, 4 ... reads in flight, until more no longer help: on a
// device that takes any rate, whose steps cost the host nothing; else as in the search for GPUs.
// Where one reader reads for all workers, these decode beside each other: more of them are tried.
// The runs last for --min-seconds, at most 4 s, and longer where that is too few steps; a cold one
// may be shorter. Their records are in a ledger of its own, reads-in-flight, in the output folder.
// Throws the Error of a run that failed.
ReadsFound search_reads_in_flight(const SearchedCell& searched, const ExperimentOptions& experiment,
                                  const TypedReads& typed, const SearchOptions& options,
                                  Watcher& watcher);

// What one GPU's loader got out of the storage with the reads that were chosen; 0: not measured.
double chosen_imgs_per_s(const ReadsFound& reads);

// How busy the CPUs were where more reads in flight gained nothing: with what was chosen or more,
// the busiest; 0: not known, or more did gain. See session/run_evidence.h.
double cpus_busy_with_more(const ReadsFound& reads);

// The cell whose loader is measured with so many reads in flight.
plan::Cell in_flight_cell(const SearchedCell& searched, const judge::LoaderReads& reads);

// Throws an Error where a pass over so many samples is too short for so many reads in flight: a
// cold run begins with none and ends with none, and its rate would be that of few.
void check_samples(const SearchedCell& searched, const judge::LoaderReads& reads,
                   std::size_t samples);

// The same cell with so many. Throws as searched_cell().
SearchedCell searched_cell_with(const SearchedCell& searched, const judge::LoaderReads& reads);

std::string reads_text(const judge::LoaderReads& reads);  // "4 workers x depth 8"

}  // namespace feedrate::session
