#pragma once
#include <optional>
#include <string>

#include "plan/cell.h"
#include "plan/settings.h"
#include "session/decoder_comparison.h"

namespace feedrate::text {

// What decodes the cell's pictures at each step: "feedrate's own, which skips what lies outside the
// crop". Empty where nothing is decoded then.
std::string decoder_text(const plan::CellSettings& settings);

// "alone on this machine, 2 s each: 812 img/s with libjpeg-turbo and a whole decode; 1,903 img/s
// with feedrate's own decoder". `data`: the format.
std::string loader_text(const std::string& data, const session::DecoderRates& rates);

// Both, as lines below the result of a run; empty where neither says anything.
std::string decoder_lines(const plan::Cell& cell,
                          const std::optional<session::DecoderRates>& rates);

}  // namespace feedrate::text
