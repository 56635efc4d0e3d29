#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "judge/flag_rule.h"

namespace feedrate::judge {

std::string_view name_of(Severity severity);
std::optional<Severity> severity_named(std::string_view name);  // nothing: it is no name of one

// What a reader of a number has to know before trusting it.
struct Flag {
  std::string name;
  Severity severity = Severity::note;
  std::string reason;  // what was seen
  std::string remedy;
  double figure = 0;  // the share in it, of which more is worse; 0: it has none
};

inline constexpr std::string_view kUnfitCeilingFlag = "ceiling_unfit";
inline constexpr std::string_view kStoppedFlag =
    "stopped";  // the process or the machine stood still
inline constexpr std::string_view kStrayBytesFlag = "stray_bytes";  // of pictures, told in a line
// Names of the flags that are serious, each once, as "planted, stopped"; empty: there are none.
std::string serious_names(const std::vector<Flag>& flags);
std::span<const FlagRule> flag_rules();
const FlagRule& flag_rule(std::string_view id);  // one that there is
// Of the first rule of that name; a warning where there is none.
Severity usual_severity(std::string_view name);

// Of a run in pairs, what spoils it spoils its own ceiling: `facts.ceiling` says so afterwards.
std::vector<Flag> flags_of(FlagFacts& facts, std::span<const FlagRule> rules = flag_rules());

// Fit to be quoted: it ended well, and no flag of it is serious.
bool is_valid(const run::CellResult& result, const std::vector<Flag>& flags);

// Whether the flag of this name says that something else used the CPUs or the storage, or kept them
// from the run.
bool is_noise(std::string_view name);

// Differences that mean another machine, storage, GPU, library or dataset: another thing was
// measured, not the same thing by another program. A name of differences() of resume.h; with a '*'
// at its end, every name that begins so.
std::span<const std::string_view> other_work();
bool is_other_work(std::string_view difference);

}  // namespace feedrate::judge
