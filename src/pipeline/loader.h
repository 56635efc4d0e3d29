#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/module.h"
#include "measure/stages.h"
#include "pipeline/batch.h"
#include "pipeline/gate.h"
#include "pipeline/sample_recipe.h"
#include "pipeline/sampler.h"
#include "pipeline/slab_ring.h"
#include "storage/container.h"

namespace feedrate::pipeline {

// A stream of batches made from samples, endless unless LoaderOptions::batches says otherwise. One
// consumer; stop() from any thread.
class Loader {
 public:
  virtual ~Loader() = default;
  // The next batch; waits for it. Rethrows a worker's failure. Null once stopped.
  virtual BatchLease next() = 0;
  // Ends the workers and wakes whoever waits. Idempotent.
  virtual void stop() = 0;
  // The workers finish the samples that they are making, and stand still until resume(): what lies
  // in the queues stays, and next() gives no more than that. Does not wait for them. Only where
  // LoaderKind::pauses; without workers there is nothing to do.
  virtual void pause() {}
  virtual void resume() {}
  // Whether the workers of a paused loader have come to stand.
  virtual bool is_quiet() const { return true; }
  // The most samples that can be finished or in work.
  virtual std::int64_t samples_ahead_limit() const = 0;
  // What all workers together have done so far.
  virtual measure::StageTotals stages() const = 0;
  // Adds how long their reads took so far.
  virtual void add_latencies(storage::ReadLatencies&) const {}
  // The library that does the work, with its version; empty: this program.
  virtual std::string library() const { return {}; }
};

struct LoaderOptions {
  SampleRecipe recipe;
  Sampler sampler;
  int workers = 1;   // threads; 0: in the thread that calls next()
  int prefetch = 2;  // batches ready ahead: in all (pool), per worker (batch)
  std::shared_ptr<SlabAllocator> slabs;
  bool in_order = false;  // pool: deliver batches in the order of their sequence numbers
  int first_cpu =
      -1;  // pin worker w to the (first_cpu + w)-th CPU that there is; -1: let the kernel choose
  // So many are made; next() then waits for stop(). 0: endless. DALI's loader goes on.
  std::int64_t batches = 0;
  measure::Trace* trace = nullptr;  // of this rank; outlives the loader. DALI's does not use it
  Gate* gate = nullptr;             // the loader's own, which its workers pass; null: none
};

// The layout of what the program and a loader in a module exchange.
inline constexpr std::uint64_t kLoaderLayout =
    layout_of<LoaderOptions, CachedSample, HostBatch, storage::DatasetVariant, storage::SampleFile,
              storage::Container, codec::Format, measure::StageTotals, Loader>();

// What decides how far a loader works ahead of its consumer.
struct LoaderSize {
  int prefetch = 1, workers = 1;  // as in LoaderOptions
  int depth = 1;                  // samples on their way to each worker
  int batch_size = 1;
};

// One way to schedule the work: a file, and a line in loader.cpp.
struct LoaderKind {
  std::string_view name;
  std::string_view help;
  std::unique_ptr<Loader> (*make)(LoaderOptions options);
  // Throws what make() would throw if this build or machine lacks what the loader needs; may be
  // null.
  void (*check)() = nullptr;
  // The most batches that lie whole in its queues when it has loaded all; of one worker or more.
  int (*batches_ahead)(const LoaderSize& size) = nullptr;
  bool pauses = false;  // see Loader::pause()
};
std::span<const LoaderKind> loader_kinds();
const LoaderKind& find_loader_kind(std::string_view kind);  // throws UsageError
std::unique_ptr<Loader> make_loader(std::string_view kind,
                                    LoaderOptions options);  // throws UsageError
// See LoaderKind; 0 without workers: there are no queues. Throws UsageError.
int batches_ahead(std::string_view kind, const LoaderSize& size);

// Threads that OpenCV uses in each of ours: 1 once a loader was made.
int opencv_threads();

// The kinds' constructors. inline: workers = 0, whatever the kind.
std::unique_ptr<Loader> make_pool_loader(LoaderOptions options);
std::unique_ptr<Loader> make_batch_loader(LoaderOptions options);
std::unique_ptr<Loader> make_inline_loader(LoaderOptions options);
std::unique_ptr<Loader> make_dali_loader(
    LoaderOptions options);  // a module; Error where there is none
void check_dali_loader();
int pool_batches_ahead(const LoaderSize& size);

// cache=host: keeps the first batches of `inner`, ends its workers then, and hands out the same
// batches round and round: `batches` of them, those after the third copies, in `slabs`. Batches
// that the CPUs' caches can hold would reach the device faster than any from memory: see
// host_cache_batches().
std::unique_ptr<Loader> make_host_cache(std::unique_ptr<Loader> inner, const BatchSpec& spec,
                                        std::shared_ptr<SlabAllocator> slabs, int batches);
// How many batches are twice as large as all last-level caches of the machine (256 MiB where their
// size is unknown); at least 3.
int host_cache_batches(const BatchSpec& spec);

}  // namespace feedrate::pipeline
