#include "run/rank_window.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace feedrate::run {

RankWindow::RankWindow(const RankTask& task, device::Group& group, RankSetup& setup,
                       RankResult& result)
    : task_(task),
      plan_(task.options.blocks),
      group_(group),
      setup_(setup),
      result_(result),
      steps_(result.steps),
      gpu_(setup.device->describe().pci_address),
      host_(group.rank() == 0 ? std::make_unique<measure::HostMonitor>() : nullptr),
      counters_(task, group, setup),
      window_(task.options.limits, setup.pass_steps, task.options.appointment),
      schedule_(plan_),
      blocks_(task, group.rank(), setup, counters_) {}

// A run in pairs begins with steps of both kinds in turns, so that both have done what is done once
// before the first block.
bool RankWindow::is_ceiling_step() const {
  if (!in_pairs() || has_ended()) return false;
  if (mark_ == kBothKinds) return result_.data_wait_ms.size() % 2 == 1;
  return mark_ != kOwnKind && block_of_mark().is_ceiling;
}

bool RankWindow::update(std::int64_t taken) {
  taken_ = taken;
  const double drawn = drawn_so_far();
  if (group_.rank() == 0) {
    if (setup_.device->settled())
      decide(std::abs(drawn) > std::abs(others_drawn_) ? drawn : others_drawn_);
    report();
  }
  const std::optional<std::int64_t> mark = agreed_mark(drawn);
  if (!mark) {
    setup_.device->drain();  // throws what has failed, if it was this rank's
    group_.barrier();        // which that rank never reaches: its error is the one that is told
    return false;
  }
  if (*mark != mark_) enter(*mark, drawn);
  return true;
}

void RankWindow::decide(double drawn) {
  constexpr std::size_t kLeastOfBothKinds = 8;
  if (in_pairs() && !both_kinds_have_run_) {
    both_kinds_have_run_ = steps_.size() >= kLeastOfBothKinds;
    window_.warm_up_from(steps_.size(), longest_warmup_s(task_.options.limits));
    return;
  }
  if (!in_blocks() || window_.mark() == 0) window_.update(steps_, drawn, all_made());
  if (!in_blocks() || window_.mark() == 0 || window_.is_over()) return;
  if (in_pairs()) return decide_on_pairs(drawn);
  decide_on_blocks();
}

void RankWindow::decide_on_blocks() {
  if (schedule_.mark() == 0) {
    schedule_.begin(steps_);
  } else {
    schedule_.update(steps_);
  }
  const std::size_t first = window_.first_step();
  if (steps_.size() == first) return;
  const bool is_pass_over =
      setup_.pass_steps > 0 &&
      (all_made() || static_cast<std::int64_t>(steps_.size()) + 2 >= setup_.pass_steps);
  if (schedule_.is_over() || is_pass_over ||
      seconds_since(first) >= task_.options.limits.max_seconds)
    window_.close(steps_);
}

// They go on, end or begin anew where a pair ends.
void RankWindow::decide_on_pairs(double drawn) {
  const RunLimits& limits = task_.options.limits;
  const std::size_t ended = schedule_.ended();
  if (schedule_.mark() == 0) {
    schedule_.begin(steps_);
    // The pace of the last half of the steps so far.
    const std::size_t from = std::max<std::size_t>(1, steps_.size() / 2);
    const auto recent = static_cast<double>(std::max<std::size_t>(1, steps_.size() - from));
    const Shortest least = shortest_of(plan_, seconds_since(from) / recent, limits);
    schedule_.set_least(least.steps, least.settling_s);
    return;
  }
  schedule_.update(steps_, blocks_.is_quiet());
  if (seconds_since(opened_at_first_) >= limits.max_seconds && may_be_cut_off())
    return window_.close(steps_);
  if (schedule_.ended() == ended || is_first_of_pair()) return;
  const PairsNext next =
      schedule_.is_over() ? PairsNext::end : next_of(pairs_so_far(1, drawn), limits);
  if (next == PairsNext::end) window_.close(steps_);
  if (next == PairsNext::begin_anew) schedule_.begin_anew();
}

// `more`: pairs that have ended since the last block was kept. The cell's steps are those of the
// blocks so far, the one that is measured included.
PairsSoFar RankWindow::pairs_so_far(std::size_t more, double drawn) const {
  const bool is_in_cell = BlockSchedule::is_measured(mark_) && !block_of_mark().is_ceiling;
  return {.pairs = blocks_.kept().size() / 2 + more,
          .cell_steps = blocks_.totals().cell.steps + (is_in_cell ? steps_of_block() : 0),
          .lasted_s = seconds_since(opened_),
          .run_s = seconds_since(opened_at_first_),
          .drawn = drawn};
}

// In the middle of a pair: the second block of one is as good if it is short.
bool RankWindow::may_be_cut_off() const {
  if (is_first_of_pair()) return !blocks_.kept().empty();
  return BlockSchedule::is_measured(mark_) && steps_of_block() > 0;
}

// Rank 0's mark; none if a rank's device has failed. The other ranks tell rank 0 what they drew
// from their queues, which it heeds at the next step.
std::optional<std::int64_t> RankWindow::agreed_mark(double drawn) {
  constexpr std::int64_t kFailed = std::numeric_limits<std::int64_t>::min();
  const std::int64_t own = setup_.device->has_failed() ? kFailed
                           : group_.rank() == 0        ? decided_mark()
                                                       : std::llround(1e9 * drawn);
  if (group_.size() == 1) return own == kFailed ? std::nullopt : std::optional(own);
  const std::vector<std::int64_t> all = group_.all_gather(own);
  if (std::ranges::find(all, kFailed) != all.end()) return std::nullopt;
  const auto most = std::ranges::max_element(all.begin() + 1, all.end(), {}, [](std::int64_t n) {
    return std::abs(static_cast<double>(n));
  });
  others_drawn_ = 1e-9 * static_cast<double>(*most);
  return all.front();
}

std::int64_t RankWindow::decided_mark() const {
  if (in_pairs() && window_.mark() == 0) return both_kinds_have_run_ ? kOwnKind : kBothKinds;
  return in_blocks() && !window_.is_over() ? schedule_.mark() : window_.mark();
}

void RankWindow::enter(std::int64_t mark, double drawn) {
  const bool stayed = has_ended();
  const bool is_anew = in_pairs() && mark < Window::kEnded &&
                       BlockSchedule::times_anew(mark) > BlockSchedule::times_anew(mark_);
  if (in_blocks() && BlockSchedule::is_measured(mark_)) blocks_.end(now());
  mark_ = mark;
  if (stayed || mark_ == kOwnKind) return;  // for other jobs; its window is over
  if (is_anew) blocks_.begin_anew();
  if (has_ended()) {
    end(drawn);
  } else if (!in_blocks() || opened_ == 0 || is_anew) {
    open();
  }
  if (!in_blocks()) return;
  if (has_ended()) {
    blocks_.leave(now());
  } else if (BlockSchedule::is_measured(mark_)) {
    blocks_.measure(BlockSchedule::block_of(mark_), now());
  } else {
    blocks_.settle(block_of_mark(), now());
  }
}

void RankWindow::open() {
  others_drawn_ = 0;  // from the window before
  opened_ = steps_.size();
  if (opened_at_first_ == 0) opened_at_first_ = opened_;
  opened_ns_ = measure::now_ns();
  counters_.drop();
  if (in_pairs()) return;  // its blocks count
  queue_.open(produced(), taken_);
  counters_.begin();
}

void RankWindow::end(double drawn) {
  if (!in_pairs()) {
    counters_.end();
    counters_.keep();
  }
  result_.drawn_from_queue = in_pairs() ? blocks_.drawn_in_pairs() : drawn;
  counters_.write_to(result_);
  // The window begins at the end of a step, a little before this rank has opened it.
  result_.standstills = standstills_.between(steps_[opened_ - 1].end_ns, measure::now_ns());
  if (host_) result_.host_series = host_->between(opened_ns_, measure::now_ns());
  result_.process = measure::process_size();
  result_.gpu = gpu_.between(opened_ns_, measure::now_ns());
  result_.gpu_problem = gpu_.problem();
}

void RankWindow::finish() {
  const auto decided = [&](std::size_t step) {
    return static_cast<std::size_t>(group_.broadcast_number(static_cast<std::int64_t>(step)));
  };
  result_.first = window_.first_step();
  result_.last = window_.last_step();
  keep_blocks();
  result_.first = decided(result_.first);
  result_.last = decided(result_.last);
  if (result_.first == 0 || result_.first >= result_.last || result_.last > steps_.size())
    throw Error("rank 0", "decided on a window that cannot be");
  result_.steady = window_.steady();
}

void RankWindow::cut_off() {
  result_.first = opened_;
  result_.last = std::min(steps_.size(), result_.data_wait_ms.size());
  keep_blocks();
  if (result_.first == 0 || result_.last <= result_.first) result_.steps.clear();
}

// The window of a run in pairs is from the first whole pair to the last one. Without any there is
// none.
void RankWindow::keep_blocks() {
  result_.blocks = blocks_.take();
  if (!in_pairs()) return;
  result_.in_pairs = true;
  result_.first = result_.last = 0;
  if (result_.blocks.empty()) return;
  result_.first = static_cast<std::size_t>(result_.blocks.front().first);
  result_.last = static_cast<std::size_t>(result_.blocks.back().last);
  result_.pairs_took_s =
      measure::seconds(steps_[result_.last - 1].end_ns - steps_[opened_ - 1].end_ns);
}

RankBlocks::Now RankWindow::now() const {
  return {.steps = steps_,
          .submitted = result_.data_wait_ms.size(),
          .made = produced(),
          .taken = taken_};
}

// -1: no samples are made while the window is open.
std::int64_t RankWindow::produced() const {
  const plan::CellSettings& s = task_.settings;
  if (s.feed != device::Feed::streamed || s.cache == "host") return -1;
  return setup_.loader->stages()[measure::Stage::collate].items;
}

void RankWindow::report() {
  constexpr std::int64_t kEvery = 100'000'000;  // ten times a second
  const std::int64_t now = measure::now_ns();
  if (!task_.progress || steps_.empty() || now - reported_ns_ < kEvery) return;
  reported_ns_ = now;
  RunProgress so_far = progress();
  so_far.settled = setup_.device->settled();
  task_.progress(so_far);
}

// The device's idle time is told, not the training thread's waiting: the thread may wait while the
// device still works.
RunProgress RankWindow::progress() const {
  const double images = static_cast<double>(task_.settings.batch_size) * group_.size();
  // The first step says how long one may take, and nothing of a rate: it does what is done once,
  // too.
  if (steps_.size() == 1)
    return {.elapsed_s = measure::seconds(steps_[0].end_ns - steps_[0].start_ns),
            .remaining_s = -1};
  if (in_pairs() && mark_ > 0) {
    RunProgress pairs = progress_of(blocks_.totals(), images);
    pairs.elapsed_s = seconds_since(opened_);
    pairs.remaining_s = seconds_left(pairs_so_far(0, 0), task_.options.limits);
    return pairs;
  }
  const bool measuring = mark_ > 0 && steps_.size() > window_.first_step();
  const std::size_t from =
      measuring ? window_.first_step() : std::max<std::size_t>(1, steps_.size() / 2);
  PairTotals totals;
  totals.add(
      {.first = static_cast<std::int64_t>(from), .last = static_cast<std::int64_t>(steps_.size())},
      steps_);
  RunProgress steps = progress_of(totals, images);
  steps.phase = measuring ? Phase::measuring : Phase::warming;
  steps.elapsed_s = seconds_since(from);
  steps.remaining_s = window_.seconds_left(steps_);
  return steps;
}

}  // namespace feedrate::run
