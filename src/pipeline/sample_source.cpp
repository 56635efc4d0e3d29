#include "pipeline/sample_source.h"

#include <utility>

#include "base/error.h"
#include "pipeline/sample_makers.h"
#include "storage/container.h"

namespace feedrate::pipeline {

SampleSource::SampleSource(const SampleRecipe& recipe, measure::StageCounters& counters,
                           measure::TraceLane* lane)
    : recipe_(recipe),
      names_(*recipe.dataset),
      timer_(counters, lane),
      maker_(make_sample_maker(recipe, timer_)) {
  if (recipe.reads_storage()) {
    storage_ = storage::make_storage(*recipe.dataset, recipe.io);
    storage_->count_latencies();
    if (recipe.reads) storage_->report_waits_to(recipe.reads->add());
  }
  places_.resize(storage_ ? static_cast<std::size_t>(storage_->depth()) : 1);
  asked_.reserve(places_.size());
}

void SampleSource::ask(int place, const Draw& draw, std::byte* out) {
  Place& p = places_[static_cast<std::size_t>(place)];
  p = {.draw = draw, .out = out};
  if (recipe_.decoded_cache || recipe_.sample_cache) return;  // its maker looks there
  if (recipe_.encoded_cache) {
    const CachedSample& kept = (*recipe_.encoded_cache)[static_cast<std::size_t>(draw.sample)];
    p.file.bytes = kept.buffer.bytes();
    p.error = kept.error;
    return;
  }
  const storage::SampleFile& file = file_of(draw);
  const std::span<std::byte> landing = maker_->landing(file.bytes, out);
  p.file.landed = landing.size();
  asked_.push_back({static_cast<std::uint32_t>(place), &file, landing});
}

int SampleSource::await() {
  timer_.start();
  if (!storage_) {
    timer_.of(places_.front().draw.index);
    return 0;
  }
  timer_.begin(measure::Stage::read);
  const storage::ReadCompletion done = next_read();
  Place& p = places_[done.tag];
  timer_.of(p.draw.index);
  p.file.bytes = done.bytes;
  p.error = done.error;
  if (recipe_.dataset->container->locks) timer_.take(measure::Stage::lock, done.lock_ns);
  if (p.error) {
    timer_.more(measure::Stage::read);
  } else {
    timer_.lap(measure::Stage::read, static_cast<std::int64_t>(file_of(p.draw).bytes));
  }
  return static_cast<int>(done.tag);
}

// What was asked for since the last call goes to the storage together.
storage::ReadCompletion SampleSource::next_read() {
  if (!asked_.empty()) storage_->submit(asked_);
  on_their_way_ += static_cast<int>(asked_.size());
  asked_.clear();
  storage::ReadCompletion done;
  if (storage_->poll({&done, 1}, true) == 0)
    throw Error(recipe_.dataset->folder.string(), "no sample was asked for, and one is waited for");
  --on_their_way_;
  return done;
}

void SampleSource::let_go() {
  asked_.clear();
  while (on_their_way_ > 0) next_read();
}

void SampleSource::make(int place) {
  Place& p = places_[static_cast<std::size_t>(place)];
  if (p.error) std::rethrow_exception(std::exchange(p.error, nullptr));
  p.file.name = names_(file_of(p.draw));
  try {
    maker_->make(p.draw, p.file, p.out);
  } catch (const Error&) {
    maker_->give_up();
    throw;
  }
}

void SampleSource::make(const Draw& draw, std::byte* out) {
  ask(0, draw, out);
  make(await());
}

}  // namespace feedrate::pipeline
