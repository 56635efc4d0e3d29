#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "ranks/hello.h"

namespace feedrate::ranks {

// How a rank and its coordinator make sure of each other, before anything else is said:
//
//   coordinator  challenge   protocol, its nonce
//   rank         hello       its nonce, its proof, who it is
//   coordinator  welcome     its proof, whether both have the same clock
//             or refused     its proof, why
//
// The bodies of these messages are made and read here. The rank proves itself first: who calls
// learns nothing that he could guess the secret by. Who answers in the coordinator's place does:
// the secret must be a random one.

inline constexpr std::string_view kProtocol = "feedrate ranks 2";
inline constexpr int kClockExchanges = 8;  // after it, with a rank that has another clock

// The coordinator's part, for one connection.
class CoordinatorsGreeting {
 public:
  explicit CoordinatorsGreeting(const Secret& secret);
  std::string challenge() const;
  // Who the rank is; nothing if this is no hello, or if its proof is wrong.
  std::optional<Hello> read_hello(std::string_view body);
  // `same_clock`: see boot_id(). After read_hello().
  std::string welcome(bool same_clock) const;
  // `reason`: "runs another program than rank 0". To one whose hello could not be read, it proves
  // nothing.
  std::string refusal(std::string_view reason) const { return answer(reason); }

 private:
  std::string answer(std::string_view text) const;

  Secret secret_;
  std::string nonce_, ranks_nonce_;
};

// The rank's part.
class RanksGreeting {
 public:
  RanksGreeting(const Secret& secret, Hello hello);
  // The answer to a challenge; nothing if it is of another program.
  std::optional<std::string> hello(std::string_view challenge);
  // What a welcome or a refusal says; nothing if the coordinator's proof is wrong.
  std::optional<std::string> read_answer(std::string_view body) const;
  static bool is_same_clock(std::string_view welcome);

 private:
  Secret secret_;
  Hello hello_;
  std::string coordinators_nonce_, nonce_;
};

}  // namespace feedrate::ranks
