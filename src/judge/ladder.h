#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/statistics.h"

namespace feedrate::judge {

// A cell of the ladder: each does for every step what the one before it does, and one thing more.
enum class LadderRung : std::uint8_t {
  synthetic,  // the ceiling
  device,     // one real batch lies on the device: normalised each step
  host,       // finished batches in host memory: copied
  sample,     // finished samples: collated
  decoded,    // decoded pictures: augmented
  encoded,    // the files' bytes: decoded
  none,       // the cell itself, its files in the page cache or as they are: read
  cold,       // the same from storage
  // Beside the ladder:
  discard,  // synthetic steps, while loaders make batches for nobody
  cpus      // loaders alone, one for each CPU: the device takes any rate
};
inline constexpr std::size_t kRungs = 10;
inline constexpr std::array<std::string_view, kRungs> kRungNames = {
    "synthetic", "device", "host", "sample",  "decoded",
    "encoded",   "none",   "cold", "discard", "cpus"};
std::string_view name_of(LadderRung rung);
// What a rung does that the one before it does not: "normalise" ...; empty for the first and the
// last.
std::string_view added_by(LadderRung rung);

// What rungs reached, images/s, by round. A round is measured at one time: only rates of one round
// are compared.
using Round = std::map<LadderRung, double>;

// What one step down the ladder costs.
struct Loss {
  std::string step;  // "decode"; "augment and decode" where the rung between them is missing
  LadderRung from = LadderRung::synthetic, to = LadderRung::synthetic;
  measure::Estimate imgs_per_s;   // lost; < 0: the lower rung is faster
  measure::Estimate share;        // of the ceiling's rate
  measure::Estimate ms_per_step;  // more

  bool is_shown() const;  // its interval lies above 0
};

// Over the rounds that have both rungs; rungs that no round has are left out.
std::optional<measure::Estimate> rate_of(const std::vector<Round>& rounds, LadderRung rung);
std::optional<Loss> loss_between(const std::vector<Round>& rounds, LadderRung from, LadderRung to,
                                 double images_per_step);
// From the ceiling down to the cell's own rung. `images_per_step`: of all ranks.
std::vector<Loss> waterfall(const std::vector<Round>& rounds, LadderRung own,
                            double images_per_step);

}  // namespace feedrate::judge
