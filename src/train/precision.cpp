#include "train/precision.h"

#include <ATen/autocast_mode.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "train/onednn.h"

namespace feedrate::train {
namespace {

// When this code is loaded: later, a convolution in fp32 may have been oneDNN's first use.
const bool kWithoutAmx = avoid_amx_without_tiles();

constexpr std::string_view kNames[] = {"fp32", "tf32", "fp16", "bf16", "fp64"};

}  // namespace

bool does_without_amx() { return kWithoutAmx; }

Precision precision_from(std::string_view name, std::span<const Precision> offered,
                         std::string_view device) {
  if (name.empty()) return Precision::fp32;
  const auto name_of = [](Precision known) { return kNames[static_cast<std::size_t>(known)]; };
  const auto found = std::ranges::find(offered, name, name_of);
  if (found != offered.end()) return *found;
  throw UsageError("--precision " + std::string(name),
                   "--device " + std::string(device) + " does not train in it",
                   "use one of " + listed(offered, name_of));
}

at::ScalarType input_type(Precision precision) {
  switch (precision) {
    case Precision::fp16:
      return at::kHalf;
    case Precision::bf16:
      return at::kBFloat16;
    case Precision::fp64:
      return at::kDouble;
    case Precision::fp32:
    case Precision::tf32:
      break;
  }
  return at::kFloat;
}

AutocastScope::AutocastScope(c10::DeviceType device, Precision precision)
    : device_(device), active_(precision == Precision::fp16 || precision == Precision::bf16) {
  if (!active_) return;
  enabled_before_ = at::autocast::is_autocast_enabled(device);
  cache_before_ = at::autocast::is_autocast_cache_enabled();
  dtype_before_ = at::autocast::get_autocast_dtype(device);
  at::autocast::set_autocast_cache_enabled(false);
  at::autocast::set_autocast_dtype(device, input_type(precision));
  at::autocast::set_autocast_enabled(device, true);
  at::autocast::increment_nesting();
}

AutocastScope::~AutocastScope() {
  if (!active_) return;
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(device_, enabled_before_);
  at::autocast::set_autocast_dtype(device_, dtype_before_);
  at::autocast::set_autocast_cache_enabled(cache_before_);
}

}  // namespace feedrate::train
