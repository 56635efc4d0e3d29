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
  judge::LoaderReads chosen{};  // of each GPU's loader
  bool is_searched = false;     // there was something to search over: what follows is known
  bool more_adds_nothing = false;
  std::map<judge::LoaderReads, std::vector<Reading>> readings{};  // of each run
  std::optional<double> first_read_ms{};  // median latency with the fewest; none: not seen
  std::string limit{};                    // why more were not tried
  std::string serious{};                  // names of the runs' serious flags; empty: none
  int interrupted = 0;  // the exit code, where a signal came: nothing else is known then
};

// Measures one GPU's loader with 1, 2, 4 ... reads in flight, until more no longer help: on a
// device that takes any rate, whose steps cost the host nothing; else as in the search for GPUs.
// The runs last for --min-seconds, at most 4 s; a cold one may be shorter. Their records are in a
// ledger of its own, reads-in-flight, in the output folder. Throws the Error of a run that failed.
ReadsFound search_reads_in_flight(const SearchedCell& searched, const ExperimentOptions& experiment,
                                  const TypedReads& typed, Watcher& watcher);

// The same cell with so many. Throws as searched_cell().
SearchedCell searched_cell_with(const SearchedCell& searched, const judge::LoaderReads& reads);

std::string reads_text(const judge::LoaderReads& reads);  // "4 workers x depth 8"

}  // namespace feedrate::session
