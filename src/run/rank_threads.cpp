#include "run/rank_threads.h"

#include <exception>
#include <mutex>
#include <thread>

#include "ranks/thread_groups.h"

namespace feedrate::run {

std::vector<RankResult> run_rank_threads(const RankTask& task, std::stop_token stop) {
  const auto groups = ranks::make_thread_groups(task.settings.gpus);
  std::vector<RankResult> results(groups.size());
  std::mutex mutex;
  std::exception_ptr first_error;
  const auto fail = [&](device::Group& group) {
    {
      const std::lock_guard lock(mutex);
      if (!first_error) first_error = std::current_exception();
    }
    group.abort();
  };
  {
    std::vector<std::jthread> threads;
    try {
      for (std::size_t r = 0; r < groups.size(); ++r) {
        threads.emplace_back([&, r] {
          try {
            results[r] = run_rank(task, *groups[r], stop);
          } catch (...) {
            fail(*groups[r]);
          }
        });
      }
    } catch (...) {  // a thread could not be made: the others would wait for it for ever
      fail(*groups.front());
    }
  }
  if (first_error) std::rethrow_exception(first_error);
  return results;
}

}  // namespace feedrate::run
