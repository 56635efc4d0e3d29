#include "train/errors.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "device/cuda_errors.h"
#include "models/resnet.h"

namespace feedrate::train {
namespace {

bool is_about_memory(const c10::Error& error, std::string_view message) {
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error)) return true;
  constexpr std::string_view signs[] = {"out of memory", "ALLOC_FAILED", "ALLOCATION_FAILED",
                                        "can't allocate memory"};
  return std::ranges::any_of(
      signs, [&](std::string_view sign) { return message.find(sign) != std::string_view::npos; });
}

std::string first_line_of(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace

bool is_of_device(const c10::Error& error) {
  const std::string_view message = error.what_without_backtrace();
  return is_about_memory(error, message) || !device::gpu_fault(message).reason.empty();
}

void rethrow(const c10::Error& error, std::string_view device, const device::StepSpec& spec) {
  const std::string_view message = error.what_without_backtrace();
  if (is_about_memory(error, message)) {
    const pipeline::BatchSpec& batch = spec.batch;
    throw Error(device,
                device::kOutOfMemory + spec.model + ", --batch-size " +
                    std::to_string(batch.batch_size) + " at " + std::to_string(batch.size.width) +
                    "x" + std::to_string(batch.size.height),
                "use a smaller --batch-size or --input-size");
  }
  const device::GpuFault fault = device::gpu_fault(message);
  if (!fault.reason.empty())
    throw Error(device, std::string(fault.reason), std::string(fault.remedy));
  throw Error(device, first_line_of(message));
}

void check_loss(double loss, std::string_view device) {
  if (std::isfinite(loss)) return;
  throw Error(
      device, std::string("the loss is ") + (std::isnan(loss) ? "NaN" : "infinite"),
      "use --precision fp32 or bf16, or a larger --batch-size; check that the labels are right");
}

void check_model(const device::StepSpec& spec) {
  const auto& known = models::resnet_configs();
  if (std::ranges::find(known, spec.model, &models::ResNetConfig::name) != known.end()) return;
  throw UsageError("--model " + spec.model, "there is no such model",
                   "use one of " + listed(known, &models::ResNetConfig::name));
}

}  // namespace feedrate::train
