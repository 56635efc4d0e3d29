#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "plan/cell.h"
#include "run/run_options.h"

namespace feedrate::machine {

// What `feedrate doctor` says of one thing. `missing`: what was asked for cannot be had.
enum class Mark : std::uint8_t { ok, note, missing };
struct Finding {
  Mark mark = Mark::ok;
  std::string what, finding, remedy{};
};
using FindingSink = std::function<void(const Finding&)>;

// The machine by itself: CPUs, memory, how quiet it is; GPUs and their driver; LibTorch.
void look_at_machine(const FindingSink& tell);
void look_at_gpus(const FindingSink& tell);
void look_at_training(const FindingSink& tell);

// Whether this Python draws reports.
void look_at_report(const std::string& python, const FindingSink& tell);

// The options' dataset: whether its storage answers, its disk, what it holds. Where it does not
// answer, nothing here may touch it, and false is returned.
bool look_at_data(const run::RunOptions& options, const FindingSink& tell);

// Whether this machine has what the cells need; each trouble once, whichever cells have it.
void look_at_sweep(const std::vector<plan::Cell>& cells, const run::RunOptions& options,
                   const FindingSink& tell);

}  // namespace feedrate::machine
