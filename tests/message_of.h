#pragma once
#include <functional>
#include <string>

#include "measure/error.h"

namespace feedrate {

// What the Error says that `action` throws; "no error" if it throws none.
inline std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace feedrate
