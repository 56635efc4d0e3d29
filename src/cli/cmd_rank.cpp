#include <memory>
#include <string>

#include "cli/commands.h"
#include "device/registry.h"
#include "ranks/children.h"
#include "run/rank_server.h"

namespace feedrate::cli {
namespace {

struct RankCommand {
  int rank = 0, size = 1;
  std::string host;
};

int be_rank(const RankCommand& command) {
  ranks::SocketGroup group(ranks::Connection(ranks::Children::kRankDescriptor), command.rank,
                           command.size, command.host, /*local_rank=*/command.rank);
  device::AcceleratorRegistry registry;
  run::serve_rank(group, registry, /*ranks_here=*/command.size);
  return 0;
}

}  // namespace

// What `run` and `sweep` start this program as; nothing for a person to type.
CommandEntry add_rank(CLI::App& program) {
  const auto command = std::make_shared<RankCommand>();
  CLI::App* app = program.add_subcommand("rank", "One rank of a run, started by it")->group("");
  app->add_option("rank", command->rank)->required();
  app->add_option("size", command->size)->required();
  app->add_option("host", command->host)->required();
  return {app, [=] { return be_rank(*command); }};
}

}  // namespace feedrate::cli
