#pragma once
#include <c10/util/Exception.h>

#include <string_view>

#include "device/accelerator.h"

namespace feedrate::train {

// Rethrows what LibTorch threw as an Error that names the device, with a remedy where there is one
// (memory: a smaller batch). One line, no backtrace.
[[noreturn]] void rethrow(const c10::Error& error, std::string_view device,
                          const device::StepSpec& spec);

// Whether rethrow() knows more of it than its text says.
bool is_of_device(const c10::Error& error);

// Runs `body`; what LibTorch throws in it leaves as an Error.
template <typename Body>
auto guarded(std::string_view device, const device::StepSpec& spec, const Body& body) {
  try {
    return body();
  } catch (const c10::Error& error) {
    rethrow(error, device, spec);
  }
}

// Errors: Error when `loss` is infinite or not a number: such a network learns nothing any more,
// and some processors are faster with such numbers.
void check_loss(double loss, std::string_view device);

// Errors: UsageError for an unknown model.
void check_model(const device::StepSpec& spec);

}  // namespace feedrate::train
