#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "plan/cell.h"

namespace feedrate::plan {

// A condition on cells: terms `AXIS=VALUE[,VALUE...]`, `!=`, and for numbers and sizes (by their
// pixels) `<`, `<=`, `>`, `>=`, joined by ` or `. "workers<=8 or data!=png,jpeg". A term on an axis
// that does not concern a cell is ignored; if all terms are ignored, the condition holds.
class Where {
 public:
  explicit Where(std::string_view text);  // throws UsageError
  bool holds(const Cell& cell) const;

 private:
  struct Term {
    std::string axis;
    std::string comparison;
    std::vector<std::string> values;  // canonical
    bool holds(const std::string& value) const;
  };
  static Term term_of(std::string_view text);
  std::vector<Term> terms_;
};

}  // namespace feedrate::plan
