#include "cli/ranks.h"

#include <span>

#include "experiment/environment.h"
#include "experiment/rank_texts.h"
#include "experiment/serve_rank.h"
#include "measure/affinity.h"
#include "ranks/patience.h"
#include "storage/manifest.h"

namespace feedrate {
namespace {

// Ranks that do different things would wait for each other, or measure a mixture.
RunIdentity identity_of(const std::vector<Cell>& cells, const RunOptions& options) {
  std::string text;
  for (const Cell& cell : cells) text += to_text(RankOrder{cell, options, {}});
  return {binary_hash(), to_hex(xxh3_of(std::as_bytes(std::span(text))))};
}

}  // namespace

std::optional<Launch> find_launch(ExperimentOptions& options) {
  const auto launch = launch_of(environment_variable);
  if (launch && options.axes["gpus"].empty()) options.axes["gpus"] = {std::to_string(launch->size)};
  return launch;
}

std::unique_ptr<RankProcesses> open_ranks(const std::optional<Launch>& launch, const std::vector<Cell>& cells, const RunOptions& options,
                                          std::stop_token stop) {
  if (!launch) return make_local_ranks({"rank"});
  return make_launched_ranks(*launch, identity_of(cells, options), {"rank"}, std::move(stop));
}

int follow(const Launch& launch, const std::vector<Cell>& cells, const RunOptions& options) {
  const auto group = join_ranks(launch, identity_of(cells, options), kArrivalNs);
  if (!group) return 1;  // rank 0 says why
  if (const std::vector<int> cpus = own_cpus(launch); !cpus.empty()) keep_to_cpus(cpus);
  AcceleratorRegistry registry;
  serve_rank(*group, registry, launch.local_rank == 0);
  return 0;
}

}  // namespace feedrate
