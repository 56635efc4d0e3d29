#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "device/accelerator.h"
#include "pipeline/planted_times.h"
#include "run/blocks.h"
#include "run/window.h"

namespace feedrate::run {

// What every cell of a run or sweep shares.
struct RunOptions {
  std::filesystem::path data{};  // the dataset's folder; may be empty if every cell is synthetic
  RunLimits limits{};
  // Of each dataset, so many samples alone, evenly spread over its classes; 0: all of them.
  std::size_t samples = 0;
  bool relist = false;        // folders of the user's own are listed anew, whatever is kept of them
  std::string listing_run{};  // the command, see storage::ListKeeping::run; empty: none
  std::uint64_t seed = 0;
  int outputs = device::kUsualOutputs;  // of the network, also a ceiling's: Datasets::outputs()
  pipeline::PlantedTimes planted{};     // zero but in tests of the measurement itself
  bool plant = false;
  std::optional<int> planted_rank;  // in this rank alone
  // Delays in ns that last for the whole run, by measure::Place, if `plant`: for the same tests.
  std::array<std::int64_t, measure::kPlaceCount> planted_delays{};
  std::size_t most_cached = 0;       // samples that a cache of samples keeps; 0: all of the dataset
  BlockPlan blocks{};                // what delays the run is cut into; none: it is one window
  bool in_pairs = false;             // blocks beside those of the ceiling instead: run/pairs.h
  std::uint64_t pairs_seed = 0;      // which of the two comes first in each pair
  SharedWindow appointment{};        // with other runs on this machine
  std::filesystem::path trace{};     // where this run's trace is written; empty: none
  bool trace_operators = false;      // it ends with steps that the device's library takes apart
  bool qualify = false;              // the device is qualified anew, over batch sizes, too
  std::string team{};                // runs of the same team share processes; empty: none does
  std::string (*build)() = nullptr;  // of this program, and its CPU: a qualification holds for one
};

// The options that a rank is told, by their names on the wire: visit(name, option). The coordinator
// keeps `qualify`, `team` and `build` to itself.
template <class Options, class Visit>
void for_each_option(Options& options, const Visit& visit) {
  visit("data", options.data);
  visit("samples", options.samples);
  visit("relist", options.relist);
  visit("listing_run", options.listing_run);
  visit("limits", options.limits);
  visit("seed", options.seed);
  visit("outputs", options.outputs);
  visit("planted", options.planted);
  visit("plant", options.plant);
  visit("planted_rank", options.planted_rank);
  visit("planted_delays", options.planted_delays);
  visit("most_cached", options.most_cached);
  visit("blocks", options.blocks);
  visit("in_pairs", options.in_pairs);
  visit("pairs_seed", options.pairs_seed);
  visit("appointment", options.appointment);
  visit("trace", options.trace);
  visit("trace_operators", options.trace_operators);
}

// The trace of one of several ranks that are processes: "x/a.json" -> "x/a.rank2.json".
inline std::filesystem::path trace_file_of(const std::filesystem::path& trace, int rank) {
  std::filesystem::path name = trace.stem();
  name += ".rank" + std::to_string(rank);
  name += trace.extension();
  return trace.parent_path() / name;
}

}  // namespace feedrate::run
