#include "base/error.h"

#include "base/text.h"

namespace feedrate {

std::string Error::join(std::string_view thing, std::string_view reason, std::string_view remedy) {
  std::string line = escaped(thing);
  line.append(": ").append(reason);
  if (!remedy.empty()) line.append(kBeforeRemedy).append(remedy);
  return line;
}

}  // namespace feedrate
