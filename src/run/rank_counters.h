#pragma once
#include <future>
#include <optional>
#include <vector>

#include "device/group.h"
#include "measure/host_counters.h"
#include "measure/kernel_threads.h"
#include "measure/stages.h"
#include "measure/storage_counters.h"
#include "run/rank_setup.h"
#include "storage/storage.h"

namespace feedrate::run {

struct RankResult;

// What is counted while a rank measures, over one part of its run or the sum of several: what its
// workers did, what came to the device, what happened on the host. Used by the rank's thread.
class RankCounters {
 public:
  // The setup outlives it. Rank 0 counts what is read below the files, too, and the first rank of
  // each machine what the kernel's own threads do.
  RankCounters(const RankTask& task, const device::Group& group, const RankSetup& setup);

  // Looks at the host for the part that begins next, a little before it. That takes about a
  // millisecond, in which a queue fills: not at the moment at which a part begins.
  void read_host();
  void begin(bool counts = true);  // a part begins; `counts`: as end() will be told
  void end(bool counts = true);    // it ends; if it counts, then once keep() is called
  void keep();                     // the parts that have ended since the last call count
  void drop();                     // nothing that was counted so far counts

  void write_to(RankResult& result) const;

  measure::StageTotals stages() const;  // of the workers, so far

 private:
  struct Reading {
    measure::StageTotals stages;
    storage::ReadLatencies latencies;
    device::Arrivals arrivals;
    std::int64_t process_cpu_ns = 0;
    measure::HostCounters host;
    std::vector<measure::StorageCounter> below;
  };
  // Of several parts together.
  struct Sum {
    measure::StageTotals stages;
    storage::ReadLatencies latencies;
    device::Arrivals arrivals;
    std::int64_t process_cpu_ns = 0;
    std::optional<measure::HostCounters> host_from;  // where the first part began
    measure::HostCounters host_to;                   // and where all of them would end
    std::vector<measure::StorageCounter> below;

    void add(const Reading& from, const Reading& to);
  };

  Reading read_run() const;  // all but the host
  void look_at_kernel_threads();
  void count_kernel_threads(measure::HostCounters& from, measure::HostCounters& to);

  const pipeline::Loader* const loader_;
  const device::Accelerator& device_;
  const std::optional<measure::StorageCounters> below_;
  const bool is_first_of_machine_;
  std::future<measure::KernelThreads> kernel_threads_;  // where the part began
  std::optional<measure::HostCounters> host_;           // read_host()'s
  Reading began_;
  Sum kept_, so_far_;  // so_far_: with parts that keep() has not seen
};

}  // namespace feedrate::run
