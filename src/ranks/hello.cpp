#include "ranks/hello.h"

#include <unistd.h>

#include <fstream>

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

std::string printable(std::string_view text, std::size_t most) {
  std::string shown(text.substr(0, most));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return shown;
}

std::string Hello::name() const {
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
