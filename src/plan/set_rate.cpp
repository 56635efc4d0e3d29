#include "plan/set_rate.h"

#include <cmath>

#include "device/emulated_device.h"
#include "device/step_trace.h"

namespace feedrate::plan {

std::optional<double> set_rate_of(const CellSettings& settings) {
  if (!settings.emulated()) return std::nullopt;
  const double rate =
      settings.gpus *
      device::emulated_device(settings.device_argument, settings.step_spec(0)).imgs_per_s;
  return std::isfinite(rate) ? std::optional(rate) : std::nullopt;
}

std::optional<double> bound_of(const CellSettings& settings) {
  if (settings.emulated() && device::is_trace(settings.device_argument)) return std::nullopt;
  return set_rate_of(settings);
}

}  // namespace feedrate::plan
