#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace feedrate {

inline constexpr const char* kLoopback = "127.0.0.1";  // rank 0's host where all ranks are on one machine

// The ranks of one run, whatever they are: threads of this process, or processes. Every rank makes the
// same calls in the same order; each call waits for all of them. After abort(), by any rank or from
// outside, waiting calls and all later ones throw an Error("interrupted") instead of waiting for ever.
class Group {
 public:
  virtual ~Group() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual int local_rank() const { return rank(); }  // among those of this machine
  virtual double all_reduce_max(double value) = 0;
  virtual std::int64_t all_reduce_max(std::int64_t value) = 0;
  // The latest of moments on now_ns()'s clock, of ranks whose clocks may differ: as this rank's clock has it.
  virtual std::int64_t all_reduce_latest(std::int64_t ns) = 0;
  // Rank 0's text; the others' is not looked at.
  virtual std::string broadcast(const std::string& text) = 0;
  // Where rank 0 runs, as the others reach it.
  virtual std::string host_of_first() const = 0;
  virtual void barrier() = 0;
  virtual void abort() = 0;
};

// `size` ranks as threads of this process; element r is for rank r.
std::vector<std::unique_ptr<Group>> make_thread_groups(int size);

}  // namespace feedrate
