#include "ranks/greeting.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "ranks/proof.h"

namespace feedrate::ranks {
namespace {

using Json = nlohmann::json;

std::string to_text(const Hello& hello) {
  return Json{{"rank", hello.rank},       {"size", hello.size}, {"program", hello.program},
              {"options", hello.options}, {"job", hello.job},   {"host", hello.host},
              {"boot", hello.boot},       {"pid", hello.pid}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool read(const Json& json, const char* key, int& value) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number_integer()) return false;
  const auto whole = found->get<std::int64_t>();
  if (whole < 0 || whole > std::numeric_limits<int>::max()) return false;
  value = static_cast<int>(whole);
  return true;
}
bool read(const Json& json, const char* key, std::string& value) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string()) return false;
  value = found->get<std::string>();
  return true;
}

std::optional<Hello> hello_from(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  Hello hello;
  if (!json.is_object() || !read(json, "rank", hello.rank) || !read(json, "size", hello.size) ||
      !read(json, "program", hello.program) || !read(json, "options", hello.options) ||
      !read(json, "job", hello.job) || !read(json, "host", hello.host) ||
      !read(json, "boot", hello.boot) || !read(json, "pid", hello.pid))
    return std::nullopt;
  return hello;
}

constexpr std::string_view kSameClock = "same clock";

}  // namespace

CoordinatorsGreeting::CoordinatorsGreeting(const Secret& secret)
    : secret_(secret), nonce_(fresh_nonce()) {}

std::string CoordinatorsGreeting::challenge() const {
  return std::string(kProtocol).append(nonce_);
}

std::optional<Hello> CoordinatorsGreeting::read_hello(std::string_view body) {
  if (body.size() < kNonceBytes + kProofBytes) return std::nullopt;
  ranks_nonce_ = body.substr(0, kNonceBytes);
  const std::string_view proof = body.substr(kNonceBytes, kProofBytes);
  const std::string_view text = body.substr(kNonceBytes + kProofBytes);
  if (!is_same_proof(proof, proof_of(secret_, Prover::rank, nonce_, ranks_nonce_, text)))
    return std::nullopt;
  return hello_from(text);
}

std::string CoordinatorsGreeting::answer(std::string_view text) const {
  return proof_of(secret_, Prover::coordinator, nonce_, ranks_nonce_, text).append(text);
}
std::string CoordinatorsGreeting::welcome(bool same_clock) const {
  return answer(same_clock ? kSameClock : "other clock");
}

RanksGreeting::RanksGreeting(const Secret& secret, Hello hello)
    : secret_(secret), hello_(std::move(hello)), nonce_(fresh_nonce()) {}

std::optional<std::string> RanksGreeting::hello(std::string_view challenge) {
  if (challenge.size() != kProtocol.size() + kNonceBytes || !challenge.starts_with(kProtocol))
    return std::nullopt;
  coordinators_nonce_ = challenge.substr(kProtocol.size());
  const std::string text = to_text(hello_);
  return nonce_ + proof_of(secret_, Prover::rank, coordinators_nonce_, nonce_, text) + text;
}

std::optional<std::string> RanksGreeting::read_answer(std::string_view body) const {
  if (body.size() < kProofBytes) return std::nullopt;
  const std::string_view text = body.substr(kProofBytes);
  const std::string proof =
      proof_of(secret_, Prover::coordinator, coordinators_nonce_, nonce_, text);
  if (!is_same_proof(body.substr(0, kProofBytes), proof)) return std::nullopt;
  return std::string(text);
}

bool RanksGreeting::is_same_clock(std::string_view welcome) { return welcome == kSameClock; }

}  // namespace feedrate::ranks
