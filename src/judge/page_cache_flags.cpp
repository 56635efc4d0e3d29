#include "judge/page_cache_flags.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "base/text.h"

namespace feedrate::judge {
namespace {

double bytes_asked(const FlagFacts& facts) {
  return static_cast<double>(measured(facts).stages[measure::Stage::read].bytes);
}
double share_from_storage(const FlagFacts& facts) {
  return measured(facts).storage_read_bytes / std::max(bytes_asked(facts), 1.0);
}
bool is_in_state(const FlagFacts& facts, std::string_view state) {
  return measured(facts).page_cache.state == state;
}
bool is_cold(const FlagFacts& facts) { return is_in_state(facts, "cold"); }
bool is_bypassed(const FlagFacts& facts) { return is_in_state(facts, "bypassed"); }
bool is_past_memory(const FlagFacts& facts) { return measured(facts).page_cache.past_memory(); }
bool is_warm(const FlagFacts& facts) { return is_in_state(facts, "warm"); }
bool is_as_is(const FlagFacts& facts) { return is_in_state(facts, "as-is"); }
bool is_chosen(const FlagFacts& facts) { return facts.result.settings.page_cache == "auto"; }

// Some file systems never count what they fetch: 0 is believed where the files are seen to lie in
// memory.
bool knows_what_was_fetched(const FlagFacts& facts) {
  const double fetched = measured(facts).storage_read_bytes;
  return fetched > 0 || (fetched == 0 && measured(facts).page_cache.before > 0.5);
}

// The device at the bottom, where each of those above it is made of one alone; else none.
const measure::StorageCounter* lowest_device(const FlagFacts& facts) {
  const measure::StorageCounter* lowest = nullptr;
  for (const measure::StorageCounter& counter : measured(facts).storage_counters) {
    if (counter.depth < 0) continue;  // the file system
    if (counter.depth != (lowest ? lowest->depth + 1 : 0)) return nullptr;
    lowest = &counter;
  }
  return lowest && lowest->depth > 0 ? lowest : nullptr;
}

}  // namespace

Raised page_cache_unknown(const FlagFacts& facts, const FlagRule&) {
  if (is_as_is(facts)) {
    return raise_if(bytes_asked(facts) > 0 && !knows_what_was_fetched(facts),
                    "it is unknown how many of the bytes that were read came from memory");
  }
  const run::PageCache& cache = measured(facts).page_cache;
  Raised all =
      raise_if((is_cold(facts) || is_warm(facts)) && cache.before < 0,
               "it is unknown whether the files lay in the page cache (only a user who owns "
               "them or may write them can see it)",
               !is_chosen(facts));
  if (!cache.loops.empty() && cache.loops_before < 0)
    all.push_back({"it is unknown whether the file behind " + cache.loops +
                   " lay in the page cache (only a user who owns it or may write it can see it)"});
  return all;
}

Raised page_cache_at_start(const FlagFacts& facts, const FlagRule& rule) {
  const double before = measured(facts).page_cache.before;
  return raise_if(is_warm(facts) && before >= 0 && before < *rule.threshold,
                  "only " + percent(before) + " of the dataset lay in the page cache at the start");
}

Raised page_cache_left(const FlagFacts& facts, const FlagRule& rule) {
  const double share = share_from_storage(facts);
  return raise_if(
      is_warm(facts) && bytes_asked(facts) > 0 && share > *rule.threshold,
      percent(share) +
          " of the bytes that were read came from storage: they had left the page cache");
}

Raised page_cache_elsewhere(const FlagFacts& facts, const FlagRule& rule) {
  const double fetched = measured(facts).storage_read_bytes, asked = bytes_asked(facts);
  const std::string& lies_on = measured(facts).page_cache.file_system;
  return raise_if(
      is_past_memory(facts) && fetched >= 0 && fetched < *rule.threshold * asked,
      format("the process read %.1f MB from storage, and needed %.1f MB: the rest (%s) lay "
             "in %s",
             1e-6 * fetched, 1e-6 * asked, percent(1 - share_from_storage(facts)).c_str(),
             lies_on == "tmpfs" ? "memory, as all files of tmpfs do" : "a cache"));
}

// A loop device reads its file through the page cache. What that holds of it when the window begins
// does not come from storage; nor does what one pass with O_DIRECT leaves there for the next.
Raised page_cache_backing(const FlagFacts& facts, const FlagRule& rule) {
  const run::PageCache& cache = measured(facts).page_cache;
  const double share =
      is_bypassed(facts) ? std::max(cache.loops_before, cache.loops_after) : cache.loops_before;
  return raise_if(share > *rule.threshold,
                  "the page cache held " + percent(share) +
                      " of the dataset a second time: as bytes of the file behind " + cache.loops);
}

// Other programs can only make it read more. Of several machines, the first one's alone is known.
Raised page_cache_below(const FlagFacts& facts, const FlagRule& rule) {
  const run::PageCache& cache = measured(facts).page_cache;
  const measure::StorageCounter* lowest = lowest_device(facts);
  if (cache.loops.empty() || !lowest || measured(facts).machines.size() > 1) return {};
  const double asked = bytes_asked(facts), read = static_cast<double>(lowest->read_bytes);
  return raise_if(
      read < *rule.threshold * asked,
      format("%s read %.1f MB, and the run needed %.1f MB: the rest lay in the page cache, "
             "as bytes of the file behind %s",
             lowest->name.c_str(), 1e-6 * read, 1e-6 * asked, cache.loops.c_str()));
}

Raised page_cache_memory(const FlagFacts& facts, const FlagRule& rule) {
  const auto memory = static_cast<double>(measured(facts).page_cache.memory_bytes);
  if (!is_cold(facts) || !facts.result.dataset || memory == 0) return {};
  const auto bytes = static_cast<double>(facts.result.dataset->total_bytes);
  return raise_if(
      bytes < *rule.threshold * memory,
      format("the dataset (%.2f GB) is smaller than %.0f times the memory (%.2f GB: RAM, or "
             "the control group's limit): enough for a look, not for a published result "
             "(MLPerf Storage asks for 5 times the host's memory)",
             1e-9 * bytes, *rule.threshold, 1e-9 * memory));
}

Raised page_cache_helped(const FlagFacts& facts, const FlagRule& rule) {
  const bool known = bytes_asked(facts) > 0 && knows_what_was_fetched(facts);
  const double from_memory = 1 - share_from_storage(facts);
  return raise_if(
      is_as_is(facts) && known && from_memory > *rule.threshold,
      percent(from_memory) +
          " of the bytes that were read came from memory: the rate depends on what was read "
          "before");
}

Raised page_cache_differs(const FlagFacts& facts, const FlagRule& rule) {
  const double before = measured(facts).page_cache.before;
  if (!is_as_is(facts) || !facts.first_page_cache) return {};
  const double first = facts.first_page_cache->before;
  return raise_if(before >= 0 && first >= 0 && std::abs(before - first) > *rule.threshold,
                  percent(before) +
                      " of the dataset lay in the page cache at the start, in the first "
                      "repetition " +
                      percent(first));
}

// Of one cell, whose `auto` is decided anew for each run: memory that others take changes it.
Raised page_cache_state_differs(const FlagFacts& facts, const FlagRule&) {
  const std::string& now = measured(facts).page_cache.state;
  if (!facts.first_page_cache || now.empty()) return {};
  const std::string& then = facts.first_page_cache->state;
  return raise_if(now != then,
                  "auto was " + now + " here and " + then + " in the first repetition");
}

Raised page_cache_passes(const FlagFacts& facts, const FlagRule& rule) {
  if (!is_as_is(facts) || !measured(facts).page_cache.fits || !facts.result.dataset) return {};
  const auto bytes = static_cast<double>(facts.result.dataset->total_bytes);
  const double passes = bytes_asked(facts) / std::max(bytes, 1.0);
  return raise_if(
      passes > *rule.threshold,
      format("the window reads the dataset %.3g times, and it fits into memory: all but the "
             "first pass can come from there",
             passes));
}

Raised storage_rested(const FlagFacts& facts, const FlagRule& rule) {
  const double share = share_from_storage(facts);
  return raise_if(
      is_as_is(facts) && measured(facts).pairs && bytes_asked(facts) > 0 && share > *rule.threshold,
      percent(share) +
          " of the bytes that were read came from storage, which rested while the "
          "ceiling's blocks ran: it may give more afterwards than it can keep up");
}

Raised client_cold(const FlagFacts& facts, const FlagRule&) {
  const run::PageCache& cache = measured(facts).page_cache;
  return raise_if(
      is_past_memory(facts),
      cache.scope == "client"
          ? "cold is this client's page cache; what the server or program behind " +
                cache.file_system + " keeps in a cache of its own is unknown"
          : "cold is this machine's page cache; what a drive keeps in its own is not seen");
}

}  // namespace feedrate::judge
