#pragma once
#include <string>

#include "ranks/launch.h"

namespace feedrate::ranks {

// What the ranks of a run have in common and a stranger has not. It is used for proofs (proof.h)
// alone: it is sent, printed and recorded nowhere.
struct Secret {
  std::string bytes;  // empty: no secret was given
  explicit operator bool() const { return !bytes.empty(); }
};

inline constexpr std::size_t kShortestSecret = 16;

// The contents of the file FEEDRATE_SECRET_FILE, without white space at the end; else
// FEEDRATE_SECRET; else none. Errors: UsageError if a user other than the owner may read the file,
// if it is not this user's own, or if the secret is shorter than kShortestSecret.
Secret secret_of(const Environment& environment);

}  // namespace feedrate::ranks
