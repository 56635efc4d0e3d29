#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace feedrate {

// The ranks of one run, whatever they are: threads of this process, or processes. Every rank makes the
// same calls in the same order; each call waits for all of them. After abort(), by any rank or from
// outside, waiting calls and all later ones throw an Error("interrupted") instead of waiting for ever.
class Group {
 public:
  virtual ~Group() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual double all_reduce_max(double value) = 0;
  virtual std::int64_t all_reduce_max(std::int64_t value) = 0;
  virtual void barrier() = 0;
  virtual void abort() = 0;
};

// `size` ranks as threads of this process; element r is for rank r.
std::vector<std::unique_ptr<Group>> make_thread_groups(int size);

}  // namespace feedrate
