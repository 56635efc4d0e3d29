#pragma once
#include <optional>

#include "plan/cell.h"
#include "session/session.h"

namespace feedrate::session {

// The loader of one cell, alone, with our own decoders and with a library's.
struct DecoderCells {
  plan::Cell own, library;
};
// Nothing for a cell whose workers do not decode each picture anew by our own decoders; nor for one
// whose files may not lie in memory, as the second would find there what the first one read.
std::optional<DecoderCells> decoders_to_compare(const plan::Cell& cell);

// What the loader reached alone on this machine, images/s.
struct DecoderRates {
  double own = 0, library = 0;
};
inline constexpr double kComparedSeconds = 2;  // of each

// Measures both. No ledger keeps them. Nothing where there is nothing to compare, or where a run
// failed or was spoilt, which the watcher is told.
std::optional<DecoderRates> compare_decoders(Session& session, const plan::Cell& cell);

}  // namespace feedrate::session
