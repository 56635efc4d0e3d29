#include "text/quotable.h"

#include <vector>

#include "base/text.h"
#include "text/terminal.h"

namespace feedrate::text {
namespace {

constexpr std::size_t kLongestReason = 140;  // characters

// As shortened(), between two words: half a word may read as another one.
std::string cut_at_a_word(const std::string& text, std::size_t most) {
  const std::string cut = shortened(text, most);
  const std::size_t blank = cut.rfind(' ');
  return cut == text || blank == std::string::npos ? cut : cut.substr(0, blank) + " …";
}

std::string in_runs(const judge::RaisedFlag& raised, int runs) {
  return runs > 1 ? format(" in %d of %d", raised.runs, runs) : "";
}

std::string serious_text(const judge::RaisedFlag& raised, int runs) {
  return raised.flag.name + in_runs(raised, runs) + (runs > 1 ? " runs" : "") + " (" +
         cut_at_a_word(raised.flag.reason, kLongestReason) + ")";
}

std::string noise_of(const judge::RaisedFlag& raised, int runs) {
  const std::string text = raised.flag.name + in_runs(raised, runs);
  if (raised.flag.figure <= 0) return text;  // a record of a ledger does not hold it
  return text + (runs > 1 ? ", up to " : " ") + percent(raised.flag.figure);
}

}  // namespace

std::string do_not_quote_line(std::span<const judge::RaisedFlag> raised, int runs) {
  std::string text;
  for (const judge::RaisedFlag& one : raised) {
    if (one.flag.severity != judge::Severity::serious) continue;
    text += (text.empty() ? "DO NOT QUOTE: " : "; ") + serious_text(one, runs);
  }
  return text.empty() ? "" : text + "\n";
}

std::string noise_text(std::span<const judge::RaisedFlag> raised, int runs) {
  std::string text;
  for (const judge::RaisedFlag& one : raised) {
    if (!judge::is_noise(one.flag.name) || 2 * one.runs <= runs) continue;
    text += text.empty() ? (runs > 1 ? "; noise in most runs: " : "; noise: ") : "; ";
    text += noise_of(one, runs);
  }
  return text;
}

std::string first_lines(const session::RunCaveats& seen) {
  return first_lines(seen.raised(), seen.runs());
}

std::string first_lines(std::span<const judge::RaisedFlag> raised, int runs) {
  const std::string noise = noise_text(raised, runs);
  return do_not_quote_line(raised, runs) +
         (noise.empty() ? "" : noise.substr(std::string("; ").size()) + "\n");
}

}  // namespace feedrate::text
