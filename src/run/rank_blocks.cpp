#include "run/rank_blocks.h"

#include <algorithm>
#include <utility>

#include "measure/clock.h"
#include "run/pairs.h"

namespace feedrate::run {

RankBlocks::RankBlocks(const RankTask& task, int rank, RankSetup& setup, RankCounters& counters)
    : task_(task), rank_(rank), setup_(setup), counters_(counters) {}

void RankBlocks::settle(const Block& block, const Now& now) {
  delay_nothing();
  setup_.delays.set(block.place, block.delay);
  if (!task_.options.blocks.in_pairs) return;
  let_loader_stand(block.is_ceiling, now);
  counters_.read_host();
}

void RankBlocks::measure(std::size_t block, const Now& now) {
  if (task_.options.blocks.in_pairs)
    counters_.begin(/*counts=*/!task_.options.blocks.blocks[block].is_ceiling);
  span_ = {.block = static_cast<std::int64_t>(block),
           .is_ceiling = task_.options.blocks.blocks[block].is_ceiling,
           .is_disturbed = !is_quiet(),
           .first = static_cast<std::int64_t>(now.steps.size()),
           .made = now.made,
           .extra_reads = setup_.extra_reads ? setup_.extra_reads->count() : 0,
           .stages = counters_.stages()};
  if (task_.options.blocks.in_pairs && !span_.is_ceiling) queue_.open(now.made, now.taken);
  span_began_ns_ = measure::now_ns();
}

void RankBlocks::end(const Now& now) {
  span_.last = static_cast<std::int64_t>(now.steps.size());
  span_.made_in_s = measure::seconds(measure::now_ns() - span_began_ns_);
  if (span_.made >= 0) span_.made = now.made - span_.made;
  if (setup_.extra_reads) span_.extra_reads = setup_.extra_reads->count() - span_.extra_reads;
  const measure::StageTotals before = std::exchange(span_.stages, counters_.stages());
  span_.stages -= before;
  if (task_.options.blocks.in_pairs) return keep_block_of_pair(now);
  // One that the run's end cuts off is none; rank 0 says so for all.
  const bool is_whole =
      rank_ > 0 || (span_.last - span_.first >= task_.options.blocks.least_steps &&
                    span_.made_in_s >= 0.9 * task_.options.blocks.seconds);
  if (is_whole && span_.first < span_.last) kept_.push_back(span_);
}

// Only whole pairs stay. Steps of another rank than rank 0 may end so late that it has none of a
// short block.
void RankBlocks::keep_block_of_pair(const Now& now) {
  if (!span_.is_ceiling) queue_.close(now.made, now.taken);
  counters_.end(/*counts=*/!span_.is_ceiling);
  kept_.push_back(span_);
  totals_.add(span_, now.steps);
  if (span_.block % 2 == 0) return;
  const auto is_empty = [](const BlockSpan& span) { return span.first == span.last; };
  if (std::ranges::any_of(std::span(kept_).last(2), is_empty)) kept_.resize(kept_.size() - 2);
  counters_.keep();
  loader_is_ahead_ = is_loader_ahead(totals_, task_.settings.workers);
  drawn_in_pairs_ = drawn(now);
}

void RankBlocks::leave(const Now& now) {
  let_loader_stand(false, now);
  delay_nothing();
}

void RankBlocks::begin_anew() {
  kept_.clear();
  queue_ = {};
  totals_ = {};
  loader_is_ahead_ = false;
}

std::vector<BlockSpan> RankBlocks::take() {
  if (task_.options.blocks.in_pairs && kept_.size() % 2 == 1) kept_.pop_back();
  return std::move(kept_);
}

double RankBlocks::drawn(const Now& now) const {
  return loader_is_ahead_ ? 0 : queue_.drawn(now.made, now.taken);
}

void RankBlocks::delay_nothing() {
  for (const measure::Place place : measure::kPlaces) setup_.delays.set(place, {});
}

// While it stands, steps of the ceiling fill the device. A loader that limits the cell goes on once
// they have ended: what it made meanwhile would be a stock that long steps live on throughout their
// block. One that keeps the device full goes on beside them, as beside the cell's.
void RankBlocks::let_loader_stand(bool stands, const Now& now) {
  if (!setup_.loader) return;
  const std::size_t in_flight = now.submitted - now.steps.size();
  if (stands && !in_flight_at_pause_) {
    in_flight_at_pause_ = in_flight;
    setup_.loader->pause();
  } else if (!stands && in_flight_at_pause_) {
    if (in_flight > *std::exchange(in_flight_at_pause_, std::nullopt)) wait_for_device();
    setup_.loader->resume();
  }
}

// A step that has failed is thrown later, in all ranks at the same step: see has_failed().
void RankBlocks::wait_for_device() {
  try {
    setup_.device->drain();
  } catch (...) {
    if (!setup_.device->has_failed()) throw;
  }
}

}  // namespace feedrate::run
