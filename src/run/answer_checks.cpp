#include "run/answer_checks.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <vector>

#include "base/text.h"

namespace feedrate::run {
namespace {

void sound(bool holds, const char* otherwise) {
  if (!holds) throw std::invalid_argument(otherwise);
}

// A difference of two overflows no int64, nor does the sum of a few.
bool is_moderate(std::int64_t value) {
  constexpr std::int64_t kMost = 1'000'000'000'000'000'000;  // of nanoseconds: 31 years
  return -kMost <= value && value <= kMost;
}
bool is_total(std::int64_t value) { return value >= 0 && is_moderate(value); }

// The sum over all buckets and ranks has room in an int64.
bool is_count_of_reads(std::int64_t count) {
  constexpr std::int64_t kMostReads = 1'000'000'000'000;
  return 0 <= count && count <= kMostReads;
}

bool is_duration(double seconds) { return std::isfinite(seconds) && seconds >= 0; }

void check_stages(const measure::StageTotals& stages) {
  bool are_totals = is_total(stages.cpu_wait_ns);
  for (const measure::StageTotal& stage : stages.stage)
    are_totals = are_totals && is_total(stage.wall_ns) && is_total(stage.cpu_ns) &&
                 is_total(stage.items) && is_total(stage.bytes);
  sound(are_totals, "a stage has a total that cannot be");
}

void check_window(const RankResult& rank) {
  sound(0 < rank.first && rank.first < rank.last && rank.last <= rank.steps.size() &&
            rank.last <= rank.data_wait_ms.size(),
        "its window is not within its steps");
  for (const device::StepRecord& step : rank.steps)
    sound(is_moderate(step.start_ns) && is_moderate(step.end_ns) && is_moderate(step.sync_ns),
          "a step is at no time");
  sound(rank.steps[rank.first - 1].end_ns < rank.steps[rank.last - 1].end_ns,
        "its window takes no time");
  for (std::size_t i = rank.first; i < rank.last; ++i)
    sound(rank.steps[i - 1].end_ns <= rank.steps[i].end_ns && rank.steps[i].sync_ns >= 0 &&
              rank.data_wait_ms[i] >= 0,
          "a step ends before the one before it, or waits for less than no time");
}

void check_block(const BlockSpan& span, std::size_t steps) {
  constexpr std::int64_t kMostBlocks = 1'000'000;
  sound(0 < span.first && span.first < span.last && span.last <= static_cast<std::int64_t>(steps) &&
            span.block >= 0 && span.block < kMostBlocks && -1 <= span.made &&
            is_moderate(span.made) && is_count_of_reads(span.extra_reads) &&
            is_duration(span.made_in_s),
        "a block is not within its steps");
  check_stages(span.stages);
}

// One block of each kind makes a pair.
void check_pairs(const RankResult& rank) {
  bool are_pairs = rank.blocks.size() % 2 == 0 && is_duration(rank.pairs_took_s);
  for (std::size_t b = 0; are_pairs && b < rank.blocks.size(); b += 2)
    are_pairs = rank.blocks[b].is_ceiling != rank.blocks[b + 1].is_ceiling &&
                rank.blocks[b].last <= rank.blocks[b + 1].first;
  sound(are_pairs, "its blocks are not in pairs");
}

void check_reads(const storage::ReadLatencies& latencies) {
  bool can_be = is_count_of_reads(latencies.seen_late) && is_count_of_reads(latencies.unregistered);
  for (const auto* latency : {&latencies.reads, &latencies.opens})
    can_be = can_be && std::ranges::all_of(latency->counts, is_count_of_reads);
  sound(can_be, "reads cannot be counted");
}

void check_rank(const RankResult& rank) {
  check_window(rank);
  check_stages(rank.stages);
  for (const BlockSpan& span : rank.blocks) check_block(span, rank.steps.size());
  if (rank.in_pairs) check_pairs(rank);
  check_reads(rank.latencies);
  const device::Arrivals& a = rank.arrivals;
  sound(is_total(a.batches) && is_total(a.busy_ns) && is_total(a.decoded.engine) &&
            is_total(a.decoded.processors) && is_total(a.decoded.host),
        "its arrivals cannot be");
  sound(is_total(rank.samples_ahead_limit) && rank.opencv_threads >= 0, "a count is negative");
  const auto has_time = [](const auto& sample) { return is_moderate(sample.at_ns); };
  sound(std::ranges::all_of(rank.host_series, has_time) && std::ranges::all_of(rank.gpu, has_time),
        "a sample is at no time");
  for (const measure::StorageCounter& counter : rank.storage_counters)
    sound(-1 <= counter.depth && counter.depth < 1000 && is_total(counter.read_bytes),
          "what was read below the files cannot be");
  for (const int cpu : rank.place.cpus) sound(0 <= cpu && cpu < 1'000'000, "a CPU has no number");
  sound(rank.place.host.size() <= 255 && rank.place.pid >= 0, "it ran nowhere");
  sound(std::isfinite(rank.drawn_from_queue) && rank.standstills.stopped_s >= 0 &&
            rank.standstills.suspended_s >= 0,
        "its queue or its standstills cannot be");
}

void check_bad(pipeline::BadTotals& bad) {
  const auto& pictures = bad.pictures;  // in order
  const bool are_indices =
      pictures.empty() || (*pictures.begin() >= 0 && *pictures.rbegin() < bad.of);
  sound(is_total(bad.count) && is_total(bad.drawn) && is_total(bad.of) && are_indices &&
            bad.named.size() <= pipeline::BadTotals::kNamed,
        "bad samples cannot be counted");
  for (auto& [sample, error] : bad.named) clean(error);
}

// Each once, in order.
void check_noted(const std::vector<std::int64_t>& samples) {
  sound((samples.empty() || samples.front() >= 0) &&
            std::ranges::adjacent_find(samples, std::ranges::greater_equal()) == samples.end(),
        "noted samples cannot be counted");
}

}  // namespace

void clean(std::string& words) { words = line_of_utf8(words, 2000); }

void check_answer(RankAnswer& answer) {
  PageCache& cache = answer.page_cache;
  for (std::string* words : {&cache.state, &cache.look.by, &cache.method, &cache.scope,
                             &cache.file_system, &cache.loops, &answer.trace.problem})
    clean(*words);
  check_bad(answer.bad);
  check_noted(answer.stray_bytes.samples);
  for (RankResult& rank : answer.ranks) {
    check_rank(rank);
    for (std::string* words : {&rank.gpu_problem, &rank.loader_library, &rank.place.host,
                               &rank.device.name, &rank.device.software, &rank.device.caveat})
      clean(*words);
    for (measure::StorageCounter& counter : rank.storage_counters) clean(counter.name);
  }
  sound(is_moderate(cache.look.files) && is_moderate(cache.look.of) &&
            is_moderate(cache.look.unwritten_pages),
        "the page cache's files cannot be counted");
  sound(is_total(answer.trace.left_out), "what a trace left out cannot be counted");
}

}  // namespace feedrate::run
