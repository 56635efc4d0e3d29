#include "session/run_caveats.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace feedrate::session {
std::string page_cache_state(const run::PageCache& cache) {
  if (cache.state != "cold") return cache.state;
  return (cache.scope == "client" ? "client-cold (" : "cold (") + cache.method + ")";
}

void RunCaveats::add(const ledger::Record& record, const std::string& of) {
  if (const auto& m = record.result.measurement; m && !m->page_cache.state.empty()) {
    const double share = m->page_cache.before;
    keep(page_cache_state(m->page_cache), share < 0 ? Shares{2, -1} : Shares{share, share});
  }
  if (record.result.measurement) ++runs_;
  std::vector<judge::Flag> flags = record.flags;
  std::erase_if(flags, [&](const judge::Flag& flag) { return left_out_.contains(flag.name); });
  for (judge::Flag& flag : flags) {
    if (!of.empty()) flag.reason += " (" + of + ")";
    keep(flag);
  }
  judge::add_run(raised_, flags);
}

void RunCaveats::add(const RunCaveats& other) {
  for (const auto& [state, shares] : other.page_caches_) keep(state, shares);
  for (const judge::Flag& flag : other.flags_) keep(flag);
  judge::add_runs(raised_, other.raised_);
  runs_ += other.runs_;
}

std::string RunCaveats::page_cache() const {
  return listed(page_caches_, [](const auto& one) {
    const auto& [state, shares] = one;
    if (state != "as-is" || shares.most < 0) return state;
    const bool is_one = percent(shares.least) == percent(shares.most);
    return state + ": " + (is_one ? "" : format("%.1f to ", 100 * shares.least)) +
           percent(shares.most) + " of it in memory at the start";
  });
}

void RunCaveats::keep(const std::string& state, const Shares& shares) {
  Shares& known = page_caches_.try_emplace(state, shares).first->second;
  known = {std::min(known.least, shares.least), std::max(known.most, shares.most)};
}

// Rules that share a name have remedies of their own. The worst run's reason stands for all; of
// runs that are equally bad, the first one's.
void RunCaveats::keep(const judge::Flag& flag) {
  const auto known = std::ranges::find_if(flags_, [&](const judge::Flag& other) {
    return other.name == flag.name && other.remedy == flag.remedy;
  });
  if (known == flags_.end())
    flags_.push_back(flag);
  else if (judge::is_worse(flag, *known))
    *known = flag;
}

}  // namespace feedrate::session
