#include "base/text.h"

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace feedrate {

std::string thousands(double value) {
  char text[32];
  if (std::abs(value) < 100) {
    std::snprintf(text, sizeof text, "%.1f", value);
    return text;
  }
  std::snprintf(text, sizeof text, "%.0f", value);
  const std::string digits(text);
  std::string grouped;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0 && digits[i - 1] != '-') grouped += ',';
    grouped += digits[i];
  }
  return grouped;
}

std::string percent(double share) { return format("%.1f %%", 100 * share); }

std::string format(const char* pattern, ...) {
  va_list arguments, again;
  va_start(arguments, pattern);
  va_copy(again, arguments);
  std::string text(static_cast<std::size_t>(std::vsnprintf(nullptr, 0, pattern, arguments)), '\0');
  std::vsnprintf(text.data(), text.size() + 1, pattern, again);
  va_end(again);
  va_end(arguments);
  return text;
}

std::string printable(std::string_view text, std::size_t most) {
  std::string shown(text.substr(0, text.size() <= most ? most : most - 3));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text.size() <= most ? shown : shown + "...";
}

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace feedrate
