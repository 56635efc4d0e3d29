#include "pipeline/caches.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/in_parallel.h"
#include "base/random.h"
#include "codec/plain.h"
#include "measure/clock.h"
#include "measure/memory.h"
#include "pipeline/sample_source.h"
#include "storage/container.h"

namespace feedrate::pipeline {
namespace {

// Calls fill(i) for every sample i; each thread has a `fill` of its own.
template <typename MakeFill>
void fill_all(std::size_t samples, int threads, const std::stop_token& stop,
              const FillProgress& progress, const MakeFill& make_fill) {
  constexpr std::int64_t kEvery = 100'000'000;  // ten times a second
  std::atomic<std::size_t> done{0};
  std::mutex mutex;
  std::int64_t told_ns = 0;  // under it
  in_parallel(
      samples, threads,
      [&] {
        return [&, fill = make_fill()](std::size_t i) {
          fill(i);
          const std::size_t so_far = ++done;
          if (!progress) return;
          const std::unique_lock lock(mutex, std::try_to_lock);
          if (!lock || measure::now_ns() - told_ns < kEvery) return;
          told_ns = measure::now_ns();
          progress(so_far, samples);
        };
      },
      [&] { return stop.stop_requested(); });
}

// Reads files and decodes them whole. One per thread.
class PictureReader {
 public:
  explicit PictureReader(const SampleRecipe& recipe)
      : storage_(storage::make_storage(*recipe.dataset)),
        names_(*recipe.dataset),
        decoder_(codec::make_decoder(*recipe.format, recipe.decoder)) {
    if (recipe.reads) storage_->report_waits_to(recipe.reads->add());
  }

  // Valid until the next call.
  codec::PixelView read(const storage::SampleFile& file) {
    storage_->read(file, bytes_);
    const codec::PixelSize size = decoder_->open(bytes_.bytes(), names_(file));
    return decoder_->decode({0, 0, size.width, size.height}, 1).pixels;
  }
  // In the picture that was read last.
  bool has_stray_bytes() const { return decoder_->stray_bytes().any(); }

 private:
  const std::unique_ptr<storage::Storage> storage_;
  storage::SampleNames names_;
  const std::unique_ptr<codec::Decoder> decoder_;
  storage::Buffer bytes_;
};

// Lets pictures into memory until too little of it is left: a machine that swaps does nothing else
// any more. Thread-safe.
class MemoryGuard {
 public:
  MemoryGuard(MemoryLeft left, std::size_t pictures, int threads)
      : left_(std::move(left)),
        pictures_(pictures),
        threads_(static_cast<std::uint64_t>(threads)),
        at_start_(left_()) {}

  // To be called before each picture of `bytes` bytes is kept. Throws an Error if that may be one
  // too many.
  void admit(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    ++admitted_;
    kept_ += bytes;
    largest_ = std::max(largest_, bytes);
    unseen_ += bytes;
    if (at_start_ == 0 || unseen_ < kLookEvery) return;
    unseen_ = 0;
    // A tenth is for everybody else, as it is where a cell is checked. The rest is what may be
    // admitted before the next look, and what each thread was given and has not touched yet.
    const std::uint64_t left = left_();
    if (left < at_start_ / 10 + kLookEvery + threads_ * largest_) refuse(left);
  }

 private:
  [[noreturn]] void refuse(std::uint64_t left) const {
    throw Error("memory",
                "cannot hold the decoded pictures: " + std::to_string(admitted_) + " of " +
                    std::to_string(pictures_) + " take " + std::to_string(kept_ / 1'000'000) +
                    " MB, " + std::to_string(left / 1'000'000) + " MB are left",
                "use --cache encoded or none, or fewer or smaller pictures");
  }

  static constexpr std::uint64_t kLookEvery = std::uint64_t{64} << 20;

  const MemoryLeft left_;
  const std::size_t pictures_;
  const std::uint64_t threads_;
  const std::uint64_t at_start_;  // 0: unknown
  std::mutex mutex_;
  std::uint64_t admitted_ = 0;            // pictures
  std::uint64_t kept_ = 0, largest_ = 0;  // bytes
  std::uint64_t unseen_ = kLookEvery;     // admitted since the last look: the first one looks
};

void keep(const codec::PixelView& picture, CachedSample& kept) {
  kept.size = {picture.width, picture.height};
  std::byte* to = kept.buffer.resize(codec::packed_bytes(kept.size));
  const std::size_t row = 3 * static_cast<std::size_t>(picture.width);
  for (int y = 0; y < picture.height; ++y, to += row)
    std::memcpy(to, picture.data + y * picture.stride, row);
}

}  // namespace

std::shared_ptr<const std::vector<CachedSample>> fill_encoded_cache(const SampleRecipe& recipe,
                                                                    int threads,
                                                                    std::stop_token stop,
                                                                    const FillProgress& progress) {
  const storage::DatasetVariant& dataset = *recipe.dataset;
  const auto cache = std::make_shared<std::vector<CachedSample>>(dataset.samples.size());
  fill_all(cache->size(), threads, stop, progress, [&] {
    std::shared_ptr<storage::Storage> storage = storage::make_storage(dataset);
    if (recipe.reads) storage->report_waits_to(recipe.reads->add());
    return [&, storage](std::size_t i) {
      try {
        storage->read(dataset.samples[i], (*cache)[i].buffer);
      } catch (const Error&) {
        if (!recipe.bad) throw;
        (*cache)[i] = {{}, std::current_exception()};
      }
    };
  });
  return cache;
}

std::shared_ptr<const std::vector<CachedSample>> fill_sample_cache(const SampleRecipe& recipe,
                                                                   std::uint64_t seed, int threads,
                                                                   std::stop_token stop,
                                                                   const FillProgress& progress) {
  SampleRecipe once = recipe;
  once.planted = nullptr;
  // Pictures are kept as uint8 pixels, whatever crosses the bus: a user who caches samples would do
  // so, too.
  if (once.format) once.spec.dtype = codec::Dtype::uint8;
  const auto cache = std::make_shared<std::vector<CachedSample>>(recipe.dataset->samples.size());
  fill_all(cache->size(), threads, stop, progress, [&] {
    auto counters = std::make_shared<measure::StageCounters>();
    const auto source = std::make_shared<SampleSource>(once, *counters);
    return [&, counters, source](std::size_t i) {
      const auto sample = static_cast<std::int64_t>(i);
      try {
        source->make({sample, 0, mix64(mix64(seed, 0), i), sample},
                     (*cache)[i].buffer.resize(once.spec.sample_bytes()));
      } catch (const Error&) {
        if (!once.bad) throw;
        (*cache)[i] = {{}, std::current_exception()};
      }
    };
  });
  return cache;
}

std::shared_ptr<const std::vector<CachedSample>> fill_decoded_cache(const SampleRecipe& recipe,
                                                                    int threads,
                                                                    std::stop_token stop,
                                                                    const FillProgress& progress,
                                                                    MemoryLeft memory_left) {
  if (!memory_left) memory_left = [] { return measure::memory_available(); };
  const std::vector<storage::SampleFile>& files = recipe.dataset->samples;
  const auto cache = std::make_shared<std::vector<CachedSample>>(files.size());
  MemoryGuard memory(std::move(memory_left), files.size(), threads);
  fill_all(cache->size(), threads, stop, progress, [&] {
    const auto reader = std::make_shared<PictureReader>(recipe);
    return [&, reader](std::size_t i) {
      codec::PixelView picture;
      try {
        picture = reader->read(files[i]);
      } catch (const Error&) {
        if (!recipe.bad) throw;
        (*cache)[i] = {{}, std::current_exception()};
        return;
      }
      if (recipe.stray_bytes && reader->has_stray_bytes())
        recipe.stray_bytes->note(static_cast<std::int64_t>(i));
      memory.admit(codec::packed_bytes({picture.width, picture.height}));
      keep(picture, (*cache)[i]);
    };
  });
  return cache;
}

}  // namespace feedrate::pipeline
