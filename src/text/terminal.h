#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace feedrate::text {

// The terminal behind stderr: 80 columns where nobody says how many.
std::size_t terminal_columns();

// At most so many characters; "…" says that some are missing.
std::string shortened(const std::string& text, std::size_t most);
// A label that is shorter hardly tells one cell from the next.
inline constexpr std::size_t kLeastLabel = 8;

// By meaning: red: an error, or what may not be quoted; yellow: a warning.
enum class Colour { none, red, yellow };

// Whether the file descriptor is a terminal that shows colours, and its user wants them: NO_COLOR
// (no-color.org) is not set, TERM is not "dumb".
bool shows_colours(int descriptor);

std::string coloured(const std::string& text, Colour colour, bool colours);

}  // namespace feedrate::text
