#pragma once
#include <charconv>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace feedrate {

// Numbers as a person reads them, and printf into a string. Thread-safe.

// 12345.6 -> "12,346"; below 100 with one decimal.
std::string thousands(double value);

// 0.1234 -> "12.3 %".
std::string percent(double share);

std::string duration(double seconds);  // "85 s", "12 min", "2.5 h"

// What printf would write.
[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);

// The number that the whole text is; nothing where it is none, or too large for the type.
template <typename Number>
std::optional<Number> number_from(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = error == std::errc{} && end == text.data() + text.size();
  return is_whole ? std::optional(value) : std::nullopt;
}

// The elements of a range with ", " between them; `text_of` gives an element's text.
template <typename Range, typename TextOf = std::identity>
std::string listed(const Range& range, TextOf text_of = {}) {
  std::string all;
  for (const auto& element : range) {
    if (!all.empty()) all += ", ";
    all += std::invoke(text_of, element);
  }
  return all;
}

// UTF-8 characters.
std::size_t character_count(std::string_view text);

// In lines of at most `width` characters (UTF-8), broken between words; each but the first begins
// with `indent` blanks. Blanks and line ends between words become one blank, those at the end
// none. A longer word has a line for itself.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

// One line of printable ASCII, at most `most` characters (three at least): a text may come from
// anywhere, and a terminal obeys control characters. What is not printable becomes "?", and what is
// cut off "...".
std::string printable(std::string_view text, std::size_t most);

// The same in UTF-8, of at most `most` bytes (three at least): file names are in it, too. What is
// not UTF-8 and every control character, those from U+0080 to U+009F included, becomes "?".
std::string line_of_utf8(std::string_view text, std::size_t most);

// A name of any bytes in a line of UTF-8: what line_of_utf8() makes "?" becomes "\x0a", as a
// shell's $'...' has it.
std::string escaped(std::string_view name);

// Any bytes, as UTF-8: each as the character of its number, U+0000 to U+00FF. And back; other
// characters are a std::invalid_argument.
std::string utf8_of_latin1(std::string_view bytes);
std::string latin1_of_utf8(std::string_view text);

// Whether a name holds bytes that a terminal obeys, or that end a line of a file: those of ASCII.
bool has_control_characters(std::string_view name);

// One word of a command as a shell reads it: in quotes where it needs them.
std::string shell_word(std::string_view word);

// Empty where it is not set.
std::string environment_variable(const char* name);
// Where this program keeps what it can find again: feedrate below $XDG_CACHE_HOME or ~/.cache, by
// the XDG base directory specification. Empty where neither is an absolute path.
std::string cache_folder();

}  // namespace feedrate
