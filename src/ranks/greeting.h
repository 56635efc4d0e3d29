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
//   coordinator  welcome     its proof, how the clocks are compared
//
// The bodies of these messages are made and read here. The rank proves itself first: strangers
// learn nothing that they could guess the secret by.

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

 private:
  Secret secret_;
  std::string nonce_, ranks_nonce_;
};

// The rank's part.
class RanksGreeting {
 public:
  RanksGreeting(const Secret& secret, Hello hello);
  // The answer to a challenge; nothing if it is of another program.
  std::optional<std::string> hello(std::string_view challenge);
  // Whether both have the same clock; nothing if the coordinator's proof is wrong.
  std::optional<bool> read_welcome(std::string_view body) const;

 private:
  Secret secret_;
  Hello hello_;
  std::string coordinators_nonce_, nonce_;
};

}  // namespace feedrate::ranks
