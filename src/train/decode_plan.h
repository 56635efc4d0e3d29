#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace feedrate::train {

// Who on a GPU can decode a picture.
struct CanDecode {
  bool engine = false;      // its JPEG engine: fixed hardware, baseline only
  bool processors = false;  // nvJPEG's kernels
};

// Which picture of a batch, by index, is decoded by whom. What neither takes, the host decodes.
struct DecodePlan {
  std::vector<std::size_t> engine, processors, host;
};

// `share`: the percentage of the batch that the engine gets, spread evenly over it, as far as the
// engine can decode it. It gets more only where the processors cannot decode.
inline DecodePlan plan_decoding(std::span<const CanDecode> pictures, int share) {
  DecodePlan plan;
  int due = 0;  // hundredths of a picture that the engine is still owed
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    due += share;
    const bool turn = due >= 100;
    if (turn) due -= 100;
    if (pictures[i].engine && (turn || !pictures[i].processors))
      plan.engine.push_back(i);
    else if (pictures[i].processors)
      plan.processors.push_back(i);
    else
      plan.host.push_back(i);
  }
  return plan;
}

}  // namespace feedrate::train
