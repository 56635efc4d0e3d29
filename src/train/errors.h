#pragma once
#include <c10/util/Exception.h>

#include <string_view>

#include "device/accelerator.h"

namespace feedrate {

// Rethrows what LibTorch threw as an Error that names the device, with a remedy where there is one
// (memory: a smaller batch). One line, no backtrace.
[[noreturn]] void rethrow(const c10::Error& error, std::string_view device, const StepSpec& spec);

// Runs `body`; what LibTorch throws in it leaves as an Error.
template <typename Body>
auto guarded(std::string_view device, const StepSpec& spec, const Body& body) {
  try {
    return body();
  } catch (const c10::Error& error) {
    rethrow(error, device, spec);
  }
}

// Errors: Error when `loss` is infinite or not a number: the network computes nothing any more, and
// some processors compute nothing faster.
void check_loss(double loss, std::string_view device);

// Errors: UsageError for a model that there is not.
void check_model(const StepSpec& spec);

}  // namespace feedrate
