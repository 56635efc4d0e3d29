#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "judge/verdict.h"
#include "run/cell_runner.h"
#include "run/run_options.h"

namespace feedrate::judge {

enum class Severity : std::uint8_t {
  note,     // true of the run, no fault
  warning,  // the number may be off
  serious,  // do not quote it
};

// What the rules look at.
struct FlagFacts {
  const run::CellResult& result;
  const run::RunOptions& options;
  // Of a ceiling that closes a repetition: the rate of the one that opened it, images/s.
  std::optional<double> opening_imgs_per_s;
  // Of a cell: that ceiling.
  std::optional<Ceiling> ceiling;
  // When the cell's first repetition began; none for that one.
  std::optional<run::PageCache> first_page_cache;
  // What other records of the ledger were measured with, see differences() of resume.h.
  const std::vector<std::string>& differences;
  // Of a run together with other jobs, see run::Overlap.
  std::optional<double> overlap{};
};

// One thing that can be wrong, defined in one row. `feedrate list --json` and the report read the
// row, too.
struct FlagRule {
  std::string_view id;  // unique: the flag's name; after a dot, which of several rules of that name
  Severity severity;
  // The flag is raised beyond `threshold`, and serious beyond `serious`; in the unit of what the
  // rule looks at.
  std::optional<double> threshold, serious;
  std::string_view remedy;
  struct Raised {
    std::string reason;
    bool serious = false;
    std::string remedy{};  // where it depends on what was seen; else the rule's
    double figure = 0;     // what was seen, of which more is worse; 0: the reason alone says it
  };
  // Returns one element for each time that the flag is raised. Called for measured cells alone,
  // unless `always`.
  std::vector<Raised> (*look)(const FlagFacts& facts, const FlagRule& rule);
  bool always = false;
  bool is_permanent = false;  // another run would find the same: nobody need measure it again

  std::string_view name() const { return id.substr(0, id.find('.')); }
};

// What a rule's look returns.
using Raised = std::vector<FlagRule::Raised>;
inline Raised raise_if(bool raised, const std::string& reason, bool serious = false,
                       const std::string& remedy = {}) {
  return raised ? Raised{{reason, serious, remedy}} : Raised{};
}
inline const run::Measurement& measured(const FlagFacts& facts) {
  return *facts.result.measurement;
}

}  // namespace feedrate::judge
