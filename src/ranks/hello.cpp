#include "ranks/hello.h"

#include <unistd.h>

#include <fstream>

#include "base/text.h"

namespace feedrate::ranks {

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

std::string boot_id() {
  std::string id;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id") >> std::ws, id);
  return id;
}

std::string rank_name(int rank, std::string_view host, int pid) {
  return "rank " + std::to_string(rank) + " on " + printable(host, 64) + " (pid " +
         std::to_string(pid) + ")";
}

Hello hello_of(const Launch& launch, const RunIdentity& identity) {
  return {.rank = launch.rank,
          .size = launch.size,
          .program = identity.program,
          .options = identity.options,
          .job = launch.job,
          .host = host_name(),
          .boot = boot_id(),
          .pid = getpid()};
}

}  // namespace feedrate::ranks
