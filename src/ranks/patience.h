#pragma once
#include <cstdint>

namespace feedrate::ranks {

// How long ranks and coordinator wait for each other, on now_ns()'s clock.
inline constexpr std::int64_t kBeatNs = 1'000'000'000;     // between two signs of life
inline constexpr std::int64_t kSilenceNs = 9'000'000'000;  // without any: stopped, or unreachable
inline constexpr std::int64_t kMessageNs =
    5'000'000'000;  // from a message's first byte to its last
inline constexpr std::int64_t kStoppedNs = 5'000'000'000;  // a child that stays stopped (SIGSTOP)
inline constexpr std::int64_t kArrivalNs =
    120'000'000'000;  // until all ranks of another launcher are there
inline constexpr std::int64_t kGraceNs =
    1'500'000'000;  // for ranks of ours to end a task that another one has ended

inline constexpr int kExitOrphaned = 4;  // of a rank whose coordinator is gone

}  // namespace feedrate::ranks
