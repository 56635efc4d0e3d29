#include "text/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include "base/text.h"

namespace feedrate::text {

std::size_t terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

std::string shortened(const std::string& text, std::size_t most) {
  if (character_count(text) <= most) return text;
  if (most == 0) return "";
  std::size_t seen = 0, bytes = 0;
  for (; bytes < text.size(); ++bytes)
    if ((text[bytes] & 0xc0) != 0x80 && ++seen >= most) break;
  return text.substr(0, bytes) + "…";
}

bool shows_colours(int descriptor) {
  const char *const none = std::getenv("NO_COLOR"), *const term = std::getenv("TERM");
  return isatty(descriptor) == 1 && (!none || !*none) && term && std::string_view(term) != "dumb";
}

std::string coloured(const std::string& text, Colour colour, bool colours) {
  if (!colours || colour == Colour::none) return text;
  return (colour == Colour::red ? "\033[31m" : "\033[33m") + text + "\033[0m";
}

}  // namespace feedrate::text
