#pragma once
#include <functional>
#include <string>

namespace feedrate::ranks {

// What the ranks of a run have in common and a stranger has not. It is used for proofs (proof.h)
// alone: it is sent, printed and recorded nowhere.
struct Secret {
  std::string bytes;  // empty: no secret was given
  explicit operator bool() const { return !bytes.empty(); }
};

inline constexpr std::size_t kShortestSecret = 16;

// A variable's value; null: not set. As std::getenv.
using GetVariable = std::function<const char*(const char* name)>;

// The contents of the file FEEDRATE_SECRET_FILE, or FEEDRATE_SECRET itself, without white space at
// the end; none where neither is set. Errors: UsageError if both are, if one is empty, if a user
// other than the owner may read the file, if it is not this user's own, or if the secret is shorter
// than kShortestSecret.
Secret secret_of(const GetVariable& variable);

}  // namespace feedrate::ranks
