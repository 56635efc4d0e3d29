#include "device/emulated_device.h"

#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "device/published_rates.h"
#include "device/step_trace.h"

namespace feedrate::device {
namespace {

constexpr double kLeastRate = 0.01;  // images/s; below it a step takes longer than anybody waits

// "PyTorch's published 3,079"
std::string rate_words(const PublishedRate& rate) {
  return std::string(rate.whose) + " " + thousands(rate.imgs_per_s);
}

EmulatedDevice published(const PublishedRate& rate, const StepSpec& spec) {
  const std::string asked = "--device emulated:" + std::string(rate.name);
  if (spec.model != "resnet50") {
    throw UsageError(asked, "has a published rate for resnet50 only",
                     "use --model resnet50, or give the rate: emulated:IMGS_PER_S");
  }
  const auto [width, height] = spec.batch.size;
  const std::string size = std::to_string(width) + "x" + std::to_string(height);
  if (width * height < kLeastScaled * kLeastScaled) {
    throw UsageError(asked,
                     "has a published rate for 224x224, which says nothing of inputs of " + size,
                     "use a larger --input-size, or give the rate: emulated:IMGS_PER_S");
  }
  const bool is_scaled = width * height != 224 * 224;
  EmulatedDevice device{.name = std::string(rate.device) + ", " + rate_words(rate) + " img/s" +
                                (is_scaled ? " scaled to " + size : "") + " (EMULATED)",
                        .imgs_per_s = rate.imgs_per_s,
                        .bus_bytes_per_s = rate.bus_bytes_per_s,
                        .source = std::string(rate.source),
                        .precision = "mixed precision",
                        .caveat = ""};
  if (!is_scaled) return device;
  device.imgs_per_s *= 224.0 * 224 / (static_cast<double>(width) * height);
  device.caveat = "scaled by the number of pixels from " + rate_words(rate) +
                  " images/s for 224x224 to " + size;
  return device;
}

EmulatedDevice of_given_rate(std::string_view argument) {
  if (argument.empty())
    throw UsageError("--device emulated", "does not say how fast the device is",
                     "use emulated:IMGS_PER_S, or a GPU's published rate: emulated:a100");
  const auto number = number_from<double>(argument);
  if (!number || !(*number >= kLeastRate)) {
    throw UsageError("--device emulated:" + std::string(argument),
                     "is neither a known device nor images per second",
                     "use one of " + listed(published_rates(), &PublishedRate::name) +
                         ", a rate such as emulated:500, or trace=FILE");
  }
  return {.name = std::string(argument) + " img/s (EMULATED)",
          .imgs_per_s = *number,
          .bus_bytes_per_s = kPcie4,
          .source = "given on the command line",
          .precision = "",
          .caveat = ""};
}

// Without the words that say it was emulated itself, as they end the name.
std::string name_of_recorded(const std::string& device) {
  return device.substr(0, device.find(" (EMULATED"));
}

EmulatedDevice of_trace(const TraceName& name, const StepSpec& spec) {
  StepTrace trace = read_step_trace(name);
  const std::string asked = "--device emulated:trace=" + name.file;
  const auto [width, height] = spec.batch.size;
  if (trace.batch_size != spec.batch.batch_size) {
    throw UsageError(asked, "was recorded with batches of " + std::to_string(trace.batch_size),
                     "use --batch-size " + std::to_string(trace.batch_size));
  }
  if (trace.input_size != codec::PixelSize{width, height} || trace.model != spec.model) {
    throw UsageError(
        asked, "was recorded with " + trace.model + " at " + codec::to_string(trace.input_size),
        "use --model " + trace.model + " --input-size " + codec::to_string(trace.input_size));
  }
  double sum_ms = 0;
  for (const double ms : trace.step_ms) sum_ms += ms;
  const std::size_t steps = trace.step_ms.size();
  return {.name = name_of_recorded(trace.device) + " (EMULATED from its recorded steps)",
          .imgs_per_s = 1e3 * trace.batch_size * static_cast<double>(steps) / sum_ms,
          .bus_bytes_per_s = kPcie4,
          .trace_ms = std::move(trace.step_ms),
          .host_cpu_ms = trace.host_cpu_ms,
          .source = "recorded by feedrate: " + std::to_string(steps) + " steps",
          .precision = trace.precision,
          .caveat = ""};
}

}  // namespace

EmulatedDevice emulated_device(std::string_view argument, const StepSpec& spec) {
  if (is_trace(argument)) return of_trace(trace_name_from(argument), spec);
  for (const PublishedRate& rate : published_rates()) {
    if (rate.name == argument) return published(rate, spec);
  }
  return of_given_rate(argument);
}

double host_cpu_ms(const EmulatedDevice& device, const Emulation& asked) {
  return asked.host_cpu_ms < 0 ? device.host_cpu_ms : asked.host_cpu_ms;
}

void check_host_cpu(const EmulatedDevice& device, const StepSpec& spec) {
  if (std::isinf(device.imgs_per_s)) return;
  const double burn_ms = host_cpu_ms(device, spec.emulation);
  const double step_ms = 1e3 * spec.batch.batch_size / device.imgs_per_s;
  const bool is_recorded = spec.emulation.host_cpu_ms < 0, replays = !device.trace_ms.empty();
  // What was recorded is of all threads of the process: one that waits busily for its GPU makes
  // together with the others a little more than the step.
  if (burn_ms <= step_ms * (is_recorded ? 1.05 : 1 + 1e-9)) return;
  throw UsageError(is_recorded ? "--host-cpu-ms auto" : format("--host-cpu-ms %g", burn_ms),
                   (is_recorded ? format("%.1f ms, as recorded, ", burn_ms) : std::string()) +
                       format("is longer than a %sstep of %.*f ms (%d images at %s img/s)",
                              replays ? "mean " : "", step_ms < 1 ? 3 : 1, step_ms,
                              spec.batch.batch_size, thousands(device.imgs_per_s).c_str()),
                   replays ? "use a smaller --host-cpu-ms"
                           : "use a larger --batch-size, or a smaller --host-cpu-ms");
}

double mean_step_ms(const EmulatedDevice& device, int batch_size, std::size_t first,
                    std::size_t steps) {
  if (device.trace_ms.empty()) return 1e3 * batch_size / device.imgs_per_s;
  double sum_ms = 0;
  for (std::size_t i = first; i < first + steps; ++i)
    sum_ms += device.trace_ms[i % device.trace_ms.size()];
  return sum_ms / static_cast<double>(steps);
}

}  // namespace feedrate::device
