#include "judge/bad_pictures.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace feedrate::judge {
namespace {

// The one-sided 95 % lower limit of a Poisson mean of which `found` (1 at least) were seen. Byar's
// approximation; it lies below the exact limit, most where few were seen (0.040 for 0.051, 0.345
// for 0.355).
double lower_limit(double found) {
  constexpr double kZ = 1.645;
  return found * std::pow(1 - 1 / (9 * found) - kZ / (3 * std::sqrt(found)), 3);
}

}  // namespace

double least_bad_share(const run::SkippedSamples& bad, bool is_by_chance) {
  if (bad.count == 0) return 0;
  if (bad.pictures == 0) return 1;
  const auto found = static_cast<double>(bad.pictures);
  const double drawn = std::max(static_cast<double>(bad.drawn), found);
  const double all = std::max(static_cast<double>(bad.of), drawn);
  return is_by_chance ? std::max(found / all, lower_limit(found) / drawn) : found / all;
}

std::string bad_pictures_text(const run::SkippedSamples& bad, bool is_by_chance) {
  std::string text;
  if (bad.pictures > 0) {
    const double share =
        static_cast<double>(bad.pictures) / static_cast<double>(std::max(bad.drawn, bad.pictures));
    text = std::to_string(bad.pictures) + " of the " + std::to_string(bad.drawn) +
           " different pictures that were drawn " + (bad.pictures == 1 ? "is" : "are") +
           format(" bad (%.3g %%): of all ", 100 * share) + std::to_string(bad.of) +
           format(", %.3g %% or more; ", 100 * least_bad_share(bad, is_by_chance));
  }
  text += "skipped " + std::to_string(bad.count) + (bad.count == 1 ? " time" : " times") +
          ", the next one in its place";
  if (!bad.named.empty()) text += "; the first: " + bad.named.front();
  return text;
}

}  // namespace feedrate::judge
