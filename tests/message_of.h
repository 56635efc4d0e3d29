#pragma once
#include <functional>
#include <string>

#include "base/error.h"

namespace feedrate::tests {

// What the Error says that `action` throws; "no error" if it throws none.
inline std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace feedrate::tests
