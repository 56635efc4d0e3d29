#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace feedrate::device {

inline constexpr const char* kLoopback =
    "127.0.0.1";  // rank 0's host where all ranks are on one machine

// The ranks of one run, whatever they are: threads of this process, or processes. Every rank makes
// the same calls in the same order; each call waits for all of them. After abort(), by any rank or
// from outside, waiting calls and all later ones throw an Error("interrupted") instead of waiting
// for ever.
class Group {
 public:
  virtual ~Group() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual int local_rank() const { return rank(); }  // among those of this machine
  // The latest of the ranks' moments (now_ns()), on this rank's clock: the clocks of two machines
  // differ.
  virtual std::int64_t all_reduce_latest(std::int64_t ns) = 0;
  // Every rank's number, in the order of the ranks.
  virtual std::vector<std::int64_t> all_gather(std::int64_t number) = 0;
  // Returns rank 0's text; the others' texts are ignored.
  virtual std::string broadcast(const std::string& text) = 0;
  // As broadcast(), for a number.
  std::int64_t broadcast_number(std::int64_t number);
  // Where rank 0 runs, as the others reach it.
  virtual std::string host_of_first() const = 0;
  // Of rank 0 alone: listens at a free port of that host, for a library of the ranks'. The
  // descriptor is the caller's. Errors: Error.
  virtual int listen() const = 0;
  virtual void barrier() = 0;
  virtual void abort() = 0;
};

inline std::int64_t Group::broadcast_number(std::int64_t number) {
  const std::string text = broadcast(std::to_string(number));
  const auto told = number_from<std::int64_t>(text);
  if (!told) throw Error("rank 0", "sent no number where one was due");
  return *told;
}

}  // namespace feedrate::device
