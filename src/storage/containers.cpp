#include <algorithm>
#include <array>

#include "measure/error.h"
#include "storage/container.h"

namespace feedrate {

std::span<const Container> containers() {
  static const std::array all = {files_container(), hdf5_container()};
  return all;
}

const Container& container_of(std::string_view variant) {
  const std::string_view format = variant.substr(0, variant.find('/'));
  const std::size_t dot = format.find('.');
  if (dot == std::string_view::npos) return containers().front();
  const auto found = std::ranges::find(containers(), format.substr(dot + 1), &Container::name);
  if (found == containers().end()) {
    throw Error(variant, "lies in a container that this program does not know", "use a newer feedrate");
  }
  return *found;
}

std::string in_container(std::string_view variant, std::string_view container) {
  if (container == containers().front().name) return std::string(variant);
  const std::size_t slash = std::min(variant.find('/'), variant.size());
  std::string name(variant.substr(0, slash));
  return name.append(".").append(container).append(variant.substr(slash));
}

}  // namespace feedrate
