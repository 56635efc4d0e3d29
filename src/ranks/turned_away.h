#pragma once
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>

namespace feedrate::ranks {

// Shows a line to the user.
using Say = std::function<void(const std::string& line)>;

// Who came to rank 0's port and was no rank of its run: counts them, and says each address and
// reason once. Bounded: of very many, it only counts the rest.
class TurnedAway {
 public:
  explicit TurnedAway(Say say);
  // `from`: an address; `reason`: "has not the secret of this run".
  void add(const std::string& from, const std::string& reason);
  // As add(), for one whose proof was wrong: it may be a true rank with another secret, so it is
  // said even after very many others.
  void add_without_proof(const std::string& from, const std::string& reason);
  bool had_no_proof() const { return !without_proof_.empty(); }
  // To be called when the wait for ranks is over: how many they were, if not all have been said.
  void close();
  // "3 connections were turned away, the last of 10.0.0.7, which sent no greeting"; empty: none.
  std::string summary() const;

 private:
  const Say say_;
  std::int64_t count_ = 0;
  std::pair<std::string, std::string> last_;
  using Said = std::set<std::pair<std::string, std::string>>;
  void add(Said& said, const std::string& from, const std::string& reason);

  Said said_, without_proof_;
};

}  // namespace feedrate::ranks
