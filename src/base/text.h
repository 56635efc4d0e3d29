#pragma once
#include <string>

namespace feedrate {

// Numbers as a person reads them, and printf into a string. Thread-safe.

// 12345.6 -> "12,346"; below 100 with one decimal.
std::string thousands(double value);

// 0.1234 -> "12.3 %".
std::string percent(double share);

// What printf would write.
[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);

// Empty where it is not set.
std::string environment_variable(const char* name);

}  // namespace feedrate
