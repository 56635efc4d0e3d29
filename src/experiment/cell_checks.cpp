// What of a cell can be refused before anything is measured.
#include <string>

#include "experiment/cell_memory.h"
#include "experiment/run_cell.h"
#include "measure/error.h"
#include "pipeline/encoded_slot.h"
#include "pipeline/loader.h"
#include "ranks/rank_processes.h"
#include "storage/container.h"

namespace feedrate {
namespace {

void check_ranks(const CellSettings& s, const AcceleratorKind& kind, const RankProcesses* processes) {
  const std::string asked = "--gpus " + std::to_string(s.gpus);
  if (s.gpus > 1 && kind.ranks_are_processes && !split_device(s.device).second.empty()) {
    throw UsageError(asked, "--device " + s.device + " is one device", "use --device " + kind.name + ": each rank takes the one of its number");
  }
  if (processes && processes->size() != 0) {
    if (s.gpus != processes->size()) throw UsageError(asked, "but " + std::to_string(processes->size()) + " ranks were started", "leave --gpus out, or start as many");
    return;
  }
  if (const int there = kind.count(); s.gpus > there) {
    throw UsageError(asked, "is more than `" + kind.name + "` has here (" + std::to_string(there) + ")", "use fewer, or --device emulated:NAME");
  }
  if (s.gpus > 1 && kind.ranks_are_processes && processes == nullptr) throw UsageError(asked, "needs processes, which cannot be started from here");
}

}  // namespace

void CellRunner::check(const Cell& cell) {
  CellSettings s = settings_of(cell);
  if (s.decode_on_device) s.encoded_slot = encoded_slot_for(0);  // the device is asked whether it can decode
  const AcceleratorKind& kind = registry_.find(s.device);
  kind.check(split_device(s.device).second, s.step_spec(options_.seed));
  check_ranks(s, kind, processes_);
  const auto dataset = dataset_of(s);
  if (!dataset) return;
  make_room(s, dataset.get());
  if (const LoaderKind& loader = find_loader_kind(s.loader); loader.check != nullptr) loader.check();
  if (!dataset->container->packed.empty()) make_storage(*dataset);  // whether it can be opened
  if (const int classes = s.step_spec(0).classes; dataset->classes > classes) {
    throw Error(dataset->folder.string(), "has " + std::to_string(dataset->classes) + " classes, the network " + std::to_string(classes),
                "make it with at most that many class folders");
  }
  const auto samples = static_cast<std::int64_t>(dataset->samples.size());
  if (samples < s.gpus) {
    throw Error(dataset->folder.string(), "has fewer samples than there are GPUs", "make more: `feedrate gen --count`");
  }
  check_memory(of_this_machine(s), *dataset, ranks_are_apart(s));
  // A device that captures graphs is not measured before its eighth step, one of several GPUs not before its sixteenth.
  const int least_steps = !s.rungs.cuda_graph ? 4 : s.gpus == 1 ? 16 : 24;
  if (s.page_cache == "cold" && samples / s.gpus < std::int64_t{least_steps} * s.batch_size) {
    throw Error(dataset->folder.string(),
                "is too small for a cold run: less than " + std::to_string(least_steps) + " batches of " + std::to_string(s.batch_size) + " for each GPU",
                "a cold run is one pass at most: make more pictures, or use a smaller --batch-size");
  }
}

double CellRunner::memory_needed(const Cell& cell) {
  CellSettings settings = settings_of(cell);
  const auto dataset = dataset_of(settings);
  make_room(settings, dataset.get());
  return dataset ? bytes_held(of_this_machine(settings), *dataset, ranks_are_apart(settings)) : 0;
}

}  // namespace feedrate
