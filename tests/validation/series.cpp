#include <cstdio>
#include <string>

#include "measure/steady_state.h"
#include "tests/measure/step_series.h"
#include "tests/validation/validation.h"

namespace feedrate::tests {

void validate_series(int count) {
  std::printf(
      "| %d series each: steps that | are steady | right | called steady |\n|---|---|---|---|\n",
      count);
  for (const char* kind : kSeriesKinds) {
    int right = 0, called = 0;
    bool steady = false;
    for (int i = 0; i < count; ++i) {
      const StepSeries series = make_series(kind, 1000 + static_cast<std::uint64_t>(i));
      const bool found = measure::is_steady(series.seconds);
      steady = series.steady;
      called += found;
      right += found == steady;
    }
    std::printf("| %s | %s | %.1f %% | %d |\n", kind, steady ? "yes" : "no", 100.0 * right / count,
                called);
  }
}

}  // namespace feedrate::tests
