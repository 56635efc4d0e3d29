#include "device/default_device.h"

#include <cctype>
#include <string_view>
#include <system_error>

#include "device/registry.h"

namespace feedrate::device {
namespace {

bool is_gpu(std::string_view node) {
  constexpr std::string_view kPrefix = "nvidia";
  return node == "dxg" || (node.starts_with(kPrefix) && node.size() > kPrefix.size() &&
                           std::isdigit(static_cast<unsigned char>(node[kPrefix.size()])));
}

bool has_gpu(const std::filesystem::path& nodes) {
  std::error_code error;
  for (std::filesystem::directory_iterator node(nodes, error), end; !error && node != end;
       node.increment(error))
    if (is_gpu(node->path().filename().string())) return true;
  return false;
}

}  // namespace

DefaultDevice default_device(const std::filesystem::path& nodes) {
  constexpr const char* kStandIn = "emulated:a100";
  if (!has_gpu(nodes)) return {kStandIn, "no GPU here"};
  if (!trains_on_devices()) return {kStandIn, "this build has no LibTorch"};
  return {"cuda", ""};
}

}  // namespace feedrate::device
