#include "cli/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

#include "base/text.h"
#include "measure/clock.h"

namespace feedrate::cli {
namespace {

std::size_t columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

// Cuts to the terminal's width, counting UTF-8 characters, so that the line never wraps.
std::string fitted(const std::string& text) {
  std::size_t seen = 0, bytes = 0;
  for (; bytes < text.size(); ++bytes) {
    if ((text[bytes] & 0xc0) != 0x80 && ++seen >= columns()) break;
  }
  return text.substr(0, bytes);
}

}  // namespace

ProgressLine::ProgressLine() : terminal_(isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(const std::string& text, double plain_every_s) {
  const std::int64_t now = measure::now_ns();
  if (terminal_) {
    std::fprintf(stderr, "\r\033[K%s", fitted(text).c_str());
    std::fflush(stderr);
    shown_ = true;
  } else if (last_ns_ == 0 || measure::seconds(now - last_ns_) >= plain_every_s) {
    std::fprintf(stderr, "%s\n", text.c_str());
    last_ns_ = now;
  }
}

void ProgressLine::clear() {
  if (!shown_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

std::string describe(const run::RunProgress& p, std::optional<double> ceiling) {
  char text[160];
  if (p.to_cache > 0) {
    const auto done = static_cast<double>(p.cached), all = static_cast<double>(p.to_cache);
    std::snprintf(text, sizeof text, " samples · %.0f %%", 100 * done / all);
    return "filling the cache · " + thousands(done) + " of " + thousands(all) + text;
  }
  std::snprintf(text, sizeof text, "%s %.1f s",
                p.phase == run::Phase::warming ? "warming up" : "measuring", p.elapsed_s);
  std::string line = std::string(text) + " · " + thousands(p.imgs_per_s) + " img/s";
  if (ceiling && *ceiling > 0) {
    std::snprintf(text, sizeof text, " · %.0f %% of the ceiling", 100 * p.imgs_per_s / *ceiling);
    line += text;
  }
  std::snprintf(text, sizeof text, " · device waits %.0f %%", 100 * p.device_idle);
  line += text;
  if (p.remaining_s >= 0) {
    std::snprintf(text, sizeof text, " · %.0f s left", p.remaining_s);
    line += text;
  }
  return line;
}

std::string listing_text(const std::filesystem::path& folder, std::uint64_t files) {
  const std::string line = "listing " + folder.string();
  if (files == 0) return line;
  // thousands() gives small numbers a decimal.
  const std::string count =
      files < 100 ? std::to_string(files) : thousands(static_cast<double>(files));
  return line + " · " + count + (files == 1 ? " file" : " files");
}

}  // namespace feedrate::cli
