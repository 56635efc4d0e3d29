#include "plan/where.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "codec/image.h"
#include "plan/axes.h"

namespace feedrate::plan {
namespace {

constexpr const char* kForm = "write AXIS=VALUE[,VALUE...], or != < <= > >=, joined by ` or `";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  return first == std::string_view::npos
             ? ""
             : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::string_view> split(std::string_view text, std::string_view by) {
  std::vector<std::string_view> parts;
  for (std::size_t at; (at = text.find(by)) != std::string_view::npos;
       text.remove_prefix(at + by.size()))
    parts.push_back(trimmed(text.substr(0, at)));
  parts.push_back(trimmed(text));
  return parts;
}

// What `<` compares: a number, or the pixels of a size; nothing for a word ("auto", "native").
std::optional<long> amount_of(const std::string& value) {
  if (value.empty() || value.find_first_not_of("0123456789x") != std::string::npos)
    return std::nullopt;
  if (value.find('x') == std::string::npos) return std::stol(value);
  const codec::PixelSize size = codec::pixel_size_from(value);
  return long{size.width} * size.height;
}

}  // namespace

Where::Where(std::string_view text) {
  for (const std::string_view part : split(text, " or ")) terms_.push_back(term_of(part));
}

Where::Term Where::term_of(std::string_view text) {
  const std::string thing = "--where " + std::string(text);
  const auto at = text.find_first_of("=!<>");
  const auto after = at == std::string_view::npos ? at : text.find_first_not_of("=!<>", at);
  if (at == std::string_view::npos || after == std::string_view::npos)
    throw UsageError(thing, "is no condition", kForm);
  Term term{.axis = std::string(trimmed(text.substr(0, at))),
            .comparison = std::string(text.substr(at, after - at)),
            .values = {}};
  static constexpr std::string_view kComparisons[] = {"=", "!=", "<", "<=", ">", ">="};
  if (std::ranges::find(kComparisons, term.comparison) == std::end(kComparisons))
    throw UsageError(thing, "is no condition", kForm);
  const Axis& axis = axis_named(term.axis);
  for (const std::string_view value : split(text.substr(after), ","))
    term.values.push_back(axis.canonical(axis, std::string(value)));
  const bool ordered = axis.number || axis.pixels;
  if (term.comparison[0] != '=' && term.comparison[0] != '!' &&
      (!ordered || term.values.size() != 1)) {
    throw UsageError(thing, ordered ? "compares with several values" : "has no order on this axis",
                     "use = or !=");
  }
  if (term.comparison[0] != '=' && term.comparison[0] != '!' && !amount_of(term.values.front())) {
    throw UsageError(thing, term.values.front() + " is not a number or a size",
                     "compare with a number, or use = or !=");
  }
  return term;
}

bool Where::Term::holds(const std::string& value) const {
  const bool listed = std::ranges::find(values, value) != values.end();
  if (comparison == "=") return listed;
  if (comparison == "!=") return !listed;
  const auto mine = amount_of(value), bound = amount_of(values.front());
  if (!mine) return false;
  if (mine == bound) return comparison.size() == 2;
  return (mine < bound) == (comparison[0] == '<');
}

bool Where::holds(const Cell& cell) const {
  bool said = false;
  for (const Term& term : terms_) {
    const auto& value = cell[term.axis];
    if (!value) continue;
    if (term.holds(*value)) return true;
    said = true;
  }
  return !said;
}

}  // namespace feedrate::plan
