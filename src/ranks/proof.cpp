#include "ranks/proof.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "base/error.h"

namespace feedrate::ranks {
namespace {

// OpenSSL failed: there is no memory, or its configuration forbids the algorithm.
[[noreturn]] void fail(const char* what) {
  throw Error("OpenSSL", what, "see its configuration (openssl.cnf)");
}

const unsigned char* bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string fresh_nonce() {
  std::string nonce(kNonceBytes, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(nonce.data()), kNonceBytes) != 1)
    fail("has no random bytes");
  return nonce;
}

std::string proof_of(const Secret& secret, Prover prover, std::string_view coordinators_nonce,
                     std::string_view ranks_nonce, std::string_view text) {
  std::string said(1, static_cast<char>(prover));
  said.append(coordinators_nonce).append(ranks_nonce).append(text);
  std::string proof(kProofBytes, '\0');
  unsigned length = 0;
  const auto* made =
      HMAC(EVP_sha256(), secret.bytes.data(), static_cast<int>(secret.bytes.size()), bytes(said),
           said.size(), reinterpret_cast<unsigned char*>(proof.data()), &length);
  if (made == nullptr || length != kProofBytes) fail("cannot compute HMAC-SHA-256");
  return proof;
}

bool is_same_proof(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace feedrate::ranks
