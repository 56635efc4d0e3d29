#include "base/text.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <utility>

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

std::string duration(double s) {
  if (s < 90) return format("%.0f s", s);
  return s < 5400 ? format("%.0f min", s / 60) : format("%.1f h", s / 3600);
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

namespace {

// The length of the character at the start of `text`, in bytes; 0: it is not UTF-8, or a control
// character. By table 3-7 of the Unicode Standard.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto between = [](unsigned value, unsigned low, unsigned high) {
    return low <= value && value <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return between(first, 0x20, 0x7e) ? 1 : 0;
  const std::size_t length = between(first, 0xc2, 0xdf)   ? 2
                             : between(first, 0xe0, 0xef) ? 3
                             : between(first, 0xf0, 0xf4) ? 4
                                                          : 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!between(byte(i), 0x80, 0xbf)) return 0;
  }
  const unsigned second = byte(1);
  const bool refused = (first == 0xc2 && second < 0xa0) ||  // control characters
                       (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                       (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
  return refused ? 0 : length;
}

}  // namespace

std::string line_of_utf8(std::string_view text, std::size_t most) {
  std::string shown;
  std::size_t cut = 0;  // where "..." may follow
  while (!text.empty() && shown.size() <= most) {
    const std::size_t length = character_length(text);
    shown += length == 0 ? "?" : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
    if (shown.size() + 3 <= most) cut = shown.size();
  }
  return shown.size() <= most ? shown : shown.substr(0, cut) + "...";
}

std::string escaped(std::string_view name) {
  std::string shown;
  while (!name.empty()) {
    const std::size_t length = character_length(name);
    if (length > 0) {
      shown += name.substr(0, length);
    } else {
      shown += format("\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(name.front())));
    }
    name.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return shown;
}

std::size_t character_count(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  constexpr std::string_view kBetween = " \t\r\n";
  std::string all(std::min(text.find_first_not_of(' '), text.size()), ' ');
  std::size_t column = all.size();
  bool is_first = true;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kBetween), text.size()));
    if (text.empty()) return all;
    const std::string_view word = text.substr(0, text.find_first_of(kBetween));
    text.remove_prefix(word.size());
    const std::size_t length = character_count(word);
    if (!is_first && column + 1 + length > width) {
      all += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!std::exchange(is_first, false)) {
      all += ' ';
      ++column;
    }
    all += word;
    column += length;
  }
}

std::string utf8_of_latin1(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    const auto number = static_cast<unsigned char>(byte);
    if (number >= 0x80) text += static_cast<char>(0xc0 | number >> 6);
    text += static_cast<char>(number < 0x80 ? number : 0x80 | (number & 0x3f));
  }
  return text;
}

std::string latin1_of_utf8(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto first = static_cast<unsigned char>(text[i]);
    if (first < 0x80) {
      bytes += text[i];
      continue;
    }
    if ((first & 0xfc) != 0xc0 || ++i == text.size())
      throw std::invalid_argument("a name has characters that are no bytes");
    bytes += static_cast<char>((first & 0x03) << 6 | (text[i] & 0x3f));
  }
  return bytes;
}

bool has_control_characters(std::string_view name) {
  return std::ranges::any_of(name, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

std::string shell_word(std::string_view word) {
  const bool plain = !word.empty() && std::ranges::all_of(word, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("_-./:,=+%@").find(c) != std::string_view::npos;
  });
  if (plain) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) c == '\'' ? quoted += "'\\''" : quoted += c;
  return quoted += '\'';
}

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string cache_folder() {
  const std::string xdg = environment_variable("XDG_CACHE_HOME"),
                    home = environment_variable("HOME");
  if (xdg.starts_with('/')) return xdg + "/feedrate";
  return home.starts_with('/') ? home + "/.cache/feedrate" : "";
}

}  // namespace feedrate
