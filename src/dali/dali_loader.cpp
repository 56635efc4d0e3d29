#include "dali/dali_loader.h"

#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "dali/dali_pipeline.h"
#include "measure/clock.h"
#include "pipeline/bounded_queue.h"
#include "storage/container.h"

namespace feedrate::dali {
namespace {

// A batch that DALI is at work on: its draws, and the bytes that it reads.
struct Fed {
  std::int64_t sequence = 0;
  std::vector<pipeline::Draw> draws;
  std::vector<storage::Buffer> files;
  std::vector<std::span<const std::byte>> encoded;  // in `files`, or in the cache
};

// One thread reads files, draws windows, feeds DALI and copies DALI's pixels into the ring's slabs.
// DALI works on `prefetch` batches at a time, in `workers` threads of its own.
class DaliLoader : public pipeline::Loader {
 public:
  explicit DaliLoader(pipeline::LoaderOptions options)
      : options_(std::move(options)),
        spec_(options_.recipe.spec),
        ring_(pipeline::SlabRing::make(spec_, kReady + 3,
                                       options_.slabs)),  // one filled, two in the device
        ready_(kReady),
        sizes_(options_.recipe.format->make_decoder()),
        pipeline_(spec_.batch_size, options_.workers, options_.prefetch, spec_.size,
                  options_.recipe.filter) {
    if (!options_.recipe.encoded_cache) {
      storage_ = storage::make_storage(*options_.recipe.dataset);
      if (options_.recipe.reads) storage_->report_waits_to(options_.recipe.reads->add());
    }
    thread_ = std::jthread([this] { run(); });
  }
  ~DaliLoader() override { stop(); }

  pipeline::BatchLease next() override {
    auto batch = ready_.get();
    const std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    return batch ? std::move(*batch) : nullptr;
  }
  void stop() override {
    ready_.close();
    ring_->close();
  }
  std::int64_t samples_ahead_limit() const override {
    return static_cast<std::int64_t>(options_.prefetch + kReady + 1) * spec_.batch_size;
  }
  measure::StageTotals stages() const override { return counters_.snapshot(); }
  std::string library() const override { return "DALI " FEEDRATE_DALI_VERSION; }

 private:
  static constexpr int kReady = 1;  // finished batches that wait: DALI's own queue is behind them

  void run() {
    try {
      measure::use_precise_sleeps();
      for (int i = 0; i < options_.prefetch; ++i) feed();
      while (pipeline::BatchLease batch = ring_->acquire()) {
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
      timer_.begin(measure::Stage::read);
      fed.encoded.push_back(read(fed.draws.back(), fed.files[static_cast<std::size_t>(slot)]));
      inputs.push_back({fed.encoded.back(), augment(fed.draws.back(), fed.encoded.back())});
      timer_.lap(measure::Stage::read, static_cast<std::int64_t>(fed.encoded.back().size()));
    }
    pipeline_.feed(inputs);
    under_way_.push_back(std::move(fed));
  }

  std::span<const std::byte> read(const pipeline::Draw& draw, storage::Buffer& into) {
    const auto index = static_cast<std::size_t>(draw.sample);
    if (options_.recipe.encoded_cache) return (*options_.recipe.encoded_cache)[index].bytes();
    const std::int64_t lock_ns =
        storage_->read(options_.recipe.dataset->samples[index], into).lock_ns;
    if (options_.recipe.dataset->container->locks) timer_.take(measure::Stage::lock, lock_ns);
    return into.bytes();
  }

  // Draws the same window as every other loader; this needs the picture's size.
  pipeline::Augmentation augment(const pipeline::Draw& draw, std::span<const std::byte> encoded) {
    return pipeline::draw_augmentation(options_.recipe.augment,
                                       sizes_->open(encoded, name_of(draw)), draw.augment_seed);
  }

  void take(pipeline::HostBatch& batch) {
    Fed fed = std::move(under_way_.front());
    under_way_.pop_front();
    const bool direct = spec_.dtype == codec::Dtype::uint8;
    const std::size_t bytes = spec_.sample_elements() * static_cast<std::size_t>(spec_.batch_size);
    const std::span<std::byte> pixels(direct ? batch.pixels : pixels_.resize(bytes), bytes);
    const std::int64_t asked = measure::now_ns();
    std::int64_t copying_ns = 0;
    try {
      pipeline_.take(pixels, copying_ns);
    } catch (const Error&) {
      under_way_.push_front(std::move(fed));  // the pipeline may still read from it
      name_the_culprit(under_way_.front());
      throw;
    }
    const std::int64_t taken = measure::now_ns();
    if (!direct)
      normalise(reinterpret_cast<const std::uint8_t*>(pixels.data()), bytes / 3, spec_.dtype,
                batch.pixels, spec_.normalisation);
    const auto items = static_cast<std::int64_t>(spec_.batch_size);
    std::int64_t encoded_bytes = 0;
    for (const auto encoded : fed.encoded)
      encoded_bytes += static_cast<std::int64_t>(encoded.size());
    counters_.add(measure::Stage::decode, taken - asked - copying_ns, 0, encoded_bytes, items);
    const std::int64_t collating = copying_ns + (measure::now_ns() - taken);
    counters_.add(measure::Stage::collate, collating, collating, static_cast<std::int64_t>(bytes),
                  items);
    batch.sequence = fed.sequence;
    for (std::size_t i = 0; i < fed.draws.size(); ++i) {
      batch.labels[i] =
          options_.recipe.dataset->samples[static_cast<std::size_t>(fed.draws[i].sample)].label;
    }
    spare_.push_back(std::move(fed));
  }

  // DALI's message does not say which file it is about; our decoder's does.
  void name_the_culprit(const Fed& fed) {
    for (std::size_t i = 0; i < fed.draws.size(); ++i) {
      const codec::PixelSize size = sizes_->open(fed.encoded[i], name_of(fed.draws[i]));
      sizes_->decode({0, 0, size.width, size.height}, 1);
    }
  }

  std::string name_of(const pipeline::Draw& draw) const {
    const storage::DatasetVariant& dataset = *options_.recipe.dataset;
    return storage::name_sample(dataset, dataset.samples[static_cast<std::size_t>(draw.sample)]);
  }

  pipeline::LoaderOptions options_;
  const pipeline::BatchSpec spec_;
  std::shared_ptr<pipeline::SlabRing> ring_;
  pipeline::BoundedQueue<pipeline::BatchLease> ready_;
  mutable std::mutex mutex_;
  std::exception_ptr error_;  // guarded by mutex_
  // Used by the thread alone:
  std::unique_ptr<storage::Storage> storage_;
  std::unique_ptr<codec::Decoder> sizes_;
  measure::StageCounters counters_;
  measure::StageTimer timer_{counters_};
  std::int64_t fed_ = 0;
  std::vector<Fed> spare_;
  storage::Buffer pixels_;
  std::deque<Fed> under_way_;  // declared before the pipeline, which reads from it to its end
  Pipeline pipeline_;
  std::jthread thread_;  // last: joined before anything that it uses is destroyed
};

}  // namespace

std::unique_ptr<pipeline::Loader> make_loader(pipeline::LoaderOptions options) {
  const pipeline::SampleRecipe& recipe = options.recipe;
  if (!recipe.format || recipe.decoded_cache || recipe.sample_cache) {
    throw UsageError("--loader dali", "has nothing to decode", "use --loader pool");
  }
  return std::make_unique<DaliLoader>(std::move(options));
}

}  // namespace feedrate::dali
