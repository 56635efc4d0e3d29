#include "dali/dali_loader.h"

#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "dali/dali_pipeline.h"
#include "measure/clock.h"
#include "measure/error.h"
#include "pipeline/bounded_queue.h"
#include "storage/container.h"

namespace feedrate::dali {
namespace {

// A batch that DALI is at work on: its draws, and the bytes that it reads.
struct Fed {
  std::int64_t sequence = 0;
  std::vector<Draw> draws;
  std::vector<Buffer> files;
  std::vector<std::span<const std::byte>> encoded;  // in `files`, or in the cache
};

// One thread reads files and draws windows, feeds DALI, which keeps `prefetch` batches under way in `workers`
// threads of its own, and copies what it gives into the ring's slabs.
class DaliLoader : public Loader {
 public:
  explicit DaliLoader(LoaderOptions options)
      : options_(std::move(options)), spec_(options_.recipe.spec),
        ring_(SlabRing::make(spec_, kReady + 3, options_.slabs)),  // one filled, two in the device
        ready_(kReady), sizes_(options_.recipe.format->make_decoder()),
        pipeline_(spec_.batch_size, options_.workers, options_.prefetch, spec_.size, options_.recipe.filter) {
    if (!options_.recipe.encoded_cache) {
      storage_ = make_storage(*options_.recipe.dataset);
      if (options_.recipe.reads) storage_->tell(options_.recipe.reads->add());
    }
    thread_ = std::jthread([this] { run(); });
  }
  ~DaliLoader() override { stop(); }

  BatchLease next() override {
    auto batch = ready_.get();
    const std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    return batch ? std::move(*batch) : nullptr;
  }
  void stop() override {
    ready_.close();
    ring_->close();
  }
  std::int64_t samples_ahead() const override { return static_cast<std::int64_t>(ready_.size()) * spec_.batch_size; }
  std::int64_t samples_ahead_limit() const override {
    return static_cast<std::int64_t>(options_.prefetch + kReady + 1) * spec_.batch_size;
  }
  StageTotals stages() const override { return counters_.snapshot(); }
  std::string library() const override { return "DALI " FEEDRATE_DALI_VERSION; }

 private:
  static constexpr int kReady = 1;  // finished batches that wait: DALI's own queue is behind them

  void run() {
    try {
      use_precise_sleeps();
      for (int i = 0; i < options_.prefetch; ++i) feed();
      while (BatchLease batch = ring_->acquire()) {
        take(*batch);
        feed();
        if (!ready_.put(std::move(batch))) return;
      }
    } catch (...) {
      {
        const std::lock_guard lock(mutex_);
        error_ = std::current_exception();
      }
      stop();
    }
  }

  void feed() {
    Fed fed = spare_.empty() ? Fed{} : std::move(spare_.back());
    if (!spare_.empty()) spare_.pop_back();
    fed.sequence = fed_++;
    fed.draws.clear(), fed.encoded.clear();
    fed.files.resize(static_cast<std::size_t>(spec_.batch_size));
    std::vector<Input> inputs;
    for (int slot = 0; slot < spec_.batch_size; ++slot) {
      fed.draws.push_back(options_.sampler.at(fed.sequence * spec_.batch_size + slot));
      timer_.start();
      fed.encoded.push_back(read(fed.draws.back(), fed.files[static_cast<std::size_t>(slot)]));
      inputs.push_back({fed.encoded.back(), augment(fed.draws.back(), fed.encoded.back())});
      timer_.lap(Stage::read, static_cast<std::int64_t>(fed.encoded.back().size()));
    }
    pipeline_.feed(inputs);
    under_way_.push_back(std::move(fed));
  }

  std::span<const std::byte> read(const Draw& draw, Buffer& into) {
    const auto index = static_cast<std::size_t>(draw.sample);
    if (options_.recipe.encoded_cache) return (*options_.recipe.encoded_cache)[index].bytes();
    const std::int64_t lock_ns = storage_->read(options_.recipe.dataset->samples[index], into);
    if (options_.recipe.dataset->container->locks) timer_.take(Stage::lock, lock_ns);
    return into.bytes();
  }

  // The same window as every other loader draws; for that the picture's size has to be known.
  Augmentation augment(const Draw& draw, std::span<const std::byte> encoded) {
    return draw_augmentation(options_.recipe.augment, sizes_->open(encoded, name_of(draw)), draw.augment_seed);
  }

  void take(HostBatch& batch) {
    Fed fed = std::move(under_way_.front());
    under_way_.pop_front();
    const bool direct = spec_.dtype == Dtype::uint8;
    const std::size_t bytes = spec_.sample_elements() * static_cast<std::size_t>(spec_.batch_size);
    const std::span<std::byte> pixels(direct ? batch.pixels : pixels_.resize(bytes), bytes);
    const std::int64_t asked = now_ns();
    std::int64_t copying_ns = 0;
    try {
      pipeline_.take(pixels, copying_ns);
    } catch (const Error&) {
      under_way_.push_front(std::move(fed));  // the pipeline may still read from it
      name_the_culprit(under_way_.front());
      throw;
    }
    const std::int64_t taken = now_ns();
    if (!direct) normalise(reinterpret_cast<const std::uint8_t*>(pixels.data()), bytes / 3, spec_.dtype, batch.pixels);
    const auto items = static_cast<std::int64_t>(spec_.batch_size);
    std::int64_t encoded_bytes = 0;
    for (const auto encoded : fed.encoded) encoded_bytes += static_cast<std::int64_t>(encoded.size());
    counters_.add(Stage::decode, taken - asked - copying_ns, 0, encoded_bytes, items);
    const std::int64_t collating = copying_ns + (now_ns() - taken);
    counters_.add(Stage::collate, collating, collating, static_cast<std::int64_t>(bytes), items);
    batch.sequence = fed.sequence;
    for (std::size_t i = 0; i < fed.draws.size(); ++i) {
      batch.labels[i] = options_.recipe.dataset->samples[static_cast<std::size_t>(fed.draws[i].sample)].label;
    }
    batch.ready_ns = now_ns();
    spare_.push_back(std::move(fed));
  }

  // DALI's message does not say which file it is about; our decoder's does.
  void name_the_culprit(const Fed& fed) {
    for (std::size_t i = 0; i < fed.draws.size(); ++i) {
      const PixelSize size = sizes_->open(fed.encoded[i], name_of(fed.draws[i]));
      sizes_->decode({0, 0, size.width, size.height});
    }
  }

  std::string name_of(const Draw& draw) const {
    return prefix_ + options_.recipe.dataset->samples[static_cast<std::size_t>(draw.sample)].path;
  }

  LoaderOptions options_;
  const BatchSpec spec_;
  std::shared_ptr<SlabRing> ring_;
  BoundedQueue<BatchLease> ready_;
  mutable std::mutex mutex_;
  std::exception_ptr error_;  // guarded by mutex_
  const std::string prefix_ = sample_prefix(*options_.recipe.dataset);
  // Of the thread alone:
  std::unique_ptr<Storage> storage_;
  std::unique_ptr<Decoder> sizes_;
  StageCounters counters_;
  StageTimer timer_{counters_};
  std::int64_t fed_ = 0;
  std::vector<Fed> spare_;
  Buffer pixels_;
  std::deque<Fed> under_way_;  // before the pipeline, which reads from it until it is gone
  Pipeline pipeline_;
  std::jthread thread_;  // last: joined before anything that it uses goes
};

}  // namespace

std::unique_ptr<Loader> make_loader(LoaderOptions options) {
  if (!options.recipe.format || options.recipe.sample_cache) {
    throw UsageError("--loader dali", "has nothing to decode", "use --loader pool");
  }
  return std::make_unique<DaliLoader>(std::move(options));
}

}  // namespace feedrate::dali
