#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "tests/validation/validation.h"

// feedrate_validation series N | intervals N | pairs N NOISE GAP FOLDER |
// precision N TARGET BUDGET_RUNS | seal FOLDER
int main(int argc, char** argv) {
  const std::string_view what = argc > 2 ? argv[1] : "";
  try {
    if (what == "series" && argc == 3)
      return feedrate::tests::validate_series(std::atoi(argv[2])), 0;
    if (what == "intervals" && argc == 3)
      return feedrate::tests::validate_intervals(std::atoi(argv[2])), 0;
    if (what == "pairs" && argc == 6)
      return feedrate::tests::make_pairs(std::atoi(argv[2]), std::atof(argv[3]), std::atof(argv[4]),
                                         argv[5]),
             0;
    if (what == "precision" && argc == 5)
      return feedrate::tests::make_precise_sweeps(std::atoi(argv[2]), std::atof(argv[3]),
                                                  std::atof(argv[4])),
             0;
    if (what == "seal" && argc == 3) return feedrate::tests::seal_again(argv[2]), 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "feedrate_validation: %s\n", error.what());
    return 1;
  }
  std::fputs(
      "usage: feedrate_validation series N | intervals N | pairs N NOISE GAP FOLDER | precision N "
      "TARGET BUDGET_RUNS | seal FOLDER\n",
      stderr);
  return 2;
}
