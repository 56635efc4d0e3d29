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

nlohmann::json hello_of(const Launch& launch, const RunIdentity& identity) {
  return {{"protocol", kProtocol},
          {"rank", launch.rank},
          {"size", launch.size},
          {"program", identity.program},
          {"options", identity.options},
          {"host", host_name()},
          {"pid", getpid()},
          {"boot", boot_id()}};
}

}  // namespace feedrate::ranks
