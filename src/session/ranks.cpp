#include "session/ranks.h"

#include <cstdlib>

#include "base/text.h"
#include "base/xxh3.h"
#include "device/registry.h"
#include "machine/environment.h"
#include "measure/affinity.h"
#include "ranks/join_ranks.h"
#include "ranks/patience.h"
#include "run/rank_server.h"
#include "run/wire.h"

namespace feedrate::session {
namespace {

// Ranks that do different things would wait for each other, or measure a mixture.
ranks::RunIdentity identity_of(const std::vector<plan::Cell>& cells,
                               run::RunOptions options) {
  options.listing_run.clear();  // each rank has drawn its own; rank 0's holds
  std::string text;
  for (const plan::Cell& cell : cells) text += run::to_text(run::RankOrder{cell, options, {}});
  return {machine::binary_hash(), to_hex(xxh3_of(text)), ranks::secret_of(std::getenv)};
}

}  // namespace

std::optional<ranks::Launch> find_launch(ExperimentOptions& options) {
  const auto launch = ranks::launch_of(environment_variable);
  if (launch && options.axes["gpus"].empty()) options.axes["gpus"] = {std::to_string(launch->size)};
  if (launch && launch->rank > 0) options.quiet = true;  // rank 0 speaks for all
  return launch;
}

void refuse_launchers(const std::string& command, const std::string& how) {
  const auto launch = ranks::launch_of(environment_variable);
  if (!launch) return;
  throw UsageError(
      command,
      how + ", and " + launch->launcher + " has started " + std::to_string(launch->size) + " ranks",
      "start it without a launcher");
}

std::unique_ptr<ranks::RankProcesses> open_ranks(const std::optional<ranks::Launch>& launch,
                                                 const std::vector<plan::Cell>& cells,
                                                 const run::RunOptions& options, Watcher& watcher,
                                                 std::stop_token stop) {
  if (!launch) return ranks::make_local_ranks({"rank"});
  return ranks::make_launched_ranks(*launch, identity_of(cells, options), {"rank"}, std::move(stop),
                                    [&](const std::string& line) { watcher.warns(line); });
}

int follow(const ranks::Launch& launch, const std::vector<plan::Cell>& cells,
           const run::RunOptions& options, Watcher& watcher) {
  const auto group =
      ranks::join_ranks(launch, identity_of(cells, options), ranks::kArrivalNs, ranks::kSilenceNs,
                        [&](const std::string& line) { watcher.warns(line); });
  if (const std::vector<int> cpus = ranks::own_cpus(launch); !cpus.empty())
    measure::keep_to_cpus(cpus);
  device::AcceleratorRegistry registry;
  run::serve_rank(*group, registry, launch.local_size);
  return 0;
}

}  // namespace feedrate::session
