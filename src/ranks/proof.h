#pragma once
#include <string>
#include <string_view>

#include "ranks/secret.h"

namespace feedrate::ranks {

// Each end of a connection proves to the other that it knows the secret, without sending it: by a
// keyed hash (HMAC-SHA-256, RFC 2104, FIPS 198-1) of what it says and of a number that the other
// end has just drawn. An old proof is of no use.

inline constexpr std::size_t kNonceBytes = 32, kProofBytes = 32;

// Random bytes that were never used before. Errors: Error where the system has none.
std::string fresh_nonce();

enum class Prover : char { rank = 'r', coordinator = 'c' };  // no proof is the other's, sent back

// Both numbers, and `text`: what is said. Without a secret anybody can make it.
std::string proof_of(const Secret& secret, Prover prover, std::string_view coordinators_nonce,
                     std::string_view ranks_nonce, std::string_view text);

// In a time that does not tell how much of them is equal.
bool is_same_proof(std::string_view a, std::string_view b);

}  // namespace feedrate::ranks
