#include "pipeline/loader.h"

#include <mutex>
#include <opencv2/core/utility.hpp>
#include <set>
#include <thread>

#include "base/error.h"

namespace feedrate::pipeline {

std::span<const LoaderKind> loader_kinds() {
  static constexpr LoaderKind kKinds[] = {
      {"pool",
       "workers share the samples of a batch; whichever batch is whole first is delivered first",
       make_pool_loader, nullptr, pool_batches_ahead, /*pauses=*/true},
      {"batch",
       "one worker makes one whole batch, delivered in order, as PyTorch's DataLoader does",
       make_batch_loader, nullptr,
       [](const LoaderSize& size) { return size.prefetch * size.workers; }, /*pauses=*/true},
      {"dali", "NVIDIA DALI on the CPU, in as many threads as there are workers; in order",
       make_dali_loader, check_dali_loader,
       [](const LoaderSize&) { return 2; }},  // DALI's own queue is behind those that are collated
  };
  return kKinds;
}

const LoaderKind& find_loader_kind(std::string_view kind) {
  for (const LoaderKind& known : loader_kinds()) {
    if (known.name == kind) return known;
  }
  throw UsageError("--loader " + std::string(kind), "is not known",
                   "`feedrate list` shows the loaders");
}

namespace {

// A worker is one thread: OpenCV must not start a pool of its own within each. 0 leaves the library
// of threads out altogether, 1 still makes an arena of TBB's. Set once, because two calls at a time
// end that arena twice and corrupt the heap; ranks that are threads make their loaders at once.
void keep_opencv_to_one_thread() {
  static std::once_flag set;
  std::call_once(set, [] { cv::setNumThreads(0); });
}

}  // namespace

std::unique_ptr<Loader> make_loader(std::string_view kind, LoaderOptions options) {
  keep_opencv_to_one_thread();
  const LoaderKind& known = find_loader_kind(kind);
  return options.workers == 0 ? make_inline_loader(std::move(options))
                              : known.make(std::move(options));
}

int batches_ahead(std::string_view kind, const LoaderSize& size) {
  return size.workers == 0 ? 0 : find_loader_kind(kind).batches_ahead(size);
}

// Those that carry out a loop of OpenCV's: asked for its threads, OpenCV 4.6 answers with the
// number of CPUs once 0 was set.
int opencv_threads() {
  constexpr int kParts = 1024;
  std::mutex mutex;
  std::set<std::thread::id> seen;
  cv::parallel_for_({0, kParts}, [&](const cv::Range&) {
    const std::lock_guard lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  return static_cast<int>(seen.size());
}

}  // namespace feedrate::pipeline
