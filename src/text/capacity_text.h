#pragma once
#include <optional>
#include <string>

#include "session/capacity_search.h"
#include "session/reads_in_flight_search.h"

namespace feedrate::text {

// "one read at a time takes 20.6 ms: 47 img/s; 32 in flight (4 workers x depth 8 a GPU): 1,510
// img/s, and more gave less than 5 % more"; that the CPUs were busy then, or that a read is not
// what takes the time: "one read at a time: 4,472 img/s (a read takes 0.00822 ms, the rest is
// decoding)"; that one reader has one at a time, and what more workers gave; or that nobody
// searched.
std::string in_flight_text(const session::ReadsFound& reads);

// What ends the images/s: of the storage, only as far as more reads in flight were tried.
// `from_storage`: the most that it gave to GPUs; `host_cpu_ms`: of a step; `cpus_busy`: with what
// came from memory, see session::Reading; `source`: of `from_storage`.
std::string limit_text(const measure::Estimate& from_storage, const measure::Estimate& from_memory,
                       const session::ReadsFound& reads, double host_cpu_ms, double cpus_busy,
                       const std::string& source = "storage");

// What a signal left of the search over reads in flight, before any GPUs were tried: the best rate
// so far, which may not be quoted. Empty where nothing was measured.
std::string interrupted_reads_text(const session::ReadsFound& reads);

// What `feedrate capacity` prints on stdout. What it is made of outlives it.
class CapacityAnswer {
 public:
  CapacityAnswer(const session::SearchedCell& searched, const session::ReadsFound& reads,
                 const session::Found& found)
      : searched_(searched), reads_(reads), found_(found) {}

  // What was asked for, the table of runs and the answers; of an interrupted search what its runs
  // have shown so far, as what may not be quoted. The first line says whether all that may not be
  // quoted, of both searches and of the run from memory. `own_h200`: also how many H200s, as this
  // program trains them, the same images/s keep, where their rate is known.
  void print(const std::optional<session::ClientLimit>& client, bool own_h200) const;
  // What this machine manages from memory, and which of the two is the limit beyond the answer.
  void print_client(const session::ClientLimit& client) const;
  // What the answers do not prove.
  void print_proviso() const;

 private:
  void heading() const;
  void table() const;
  void answers() const;
  void answers_so_far() const;
  void own_h200_answer() const;
  void fed(double share) const;
  std::string source() const;  // "storage"; "page cache" where all that was read came from there

  const session::SearchedCell& searched_;
  const session::ReadsFound& reads_;
  const session::Found& found_;
};

}  // namespace feedrate::text
