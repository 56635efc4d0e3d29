#pragma once
#include <functional>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "judge/raised_flags.h"
#include "ledger/record.h"

namespace feedrate::session {

// "warm", "cold (fadvise)", "client-cold (fadvise)" where a server or a program has the files, of
// which only this side is known to be cold. Empty: no files were read.
std::string page_cache_state(const run::PageCache& cache);

// What a reader of an answer has to know, of all runs that it rests on: each thing once.
class RunCaveats {
 public:
  RunCaveats() = default;
  // Leaves out flags of these names: what they say is made up for in the answer.
  explicit RunCaveats(std::initializer_list<std::string_view> left_out)
      : left_out_(left_out.begin(), left_out.end()) {}

  // `of`: which run, "3 GPUs"; empty: there is but one.
  void add(const ledger::Record& record, const std::string& of);
  void add(const RunCaveats& other);
  // "cold (fadvise)"; of runs that were not alike each state once, and with "as-is", which says
  // nothing by itself, how much lay in memory. Empty: no files were read.
  std::string page_cache() const;
  const std::vector<judge::Flag>& flags() const { return flags_; }
  // How many runs were measured, and each name of a flag once, with the worst run's.
  int runs() const { return runs_; }
  const std::vector<judge::RaisedFlag>& raised() const { return raised_; }

 private:
  struct Shares {
    double least, most;  // of the files, in memory at the start; above 1 and below 0: none is known
  };
  void keep(const std::string& state, const Shares& shares);
  void keep(const judge::Flag& flag);

  std::set<std::string, std::less<>> left_out_;
  int runs_ = 0;
  std::vector<judge::RaisedFlag> raised_;
  std::vector<judge::Flag> flags_;
  std::map<std::string, Shares> page_caches_;  // by their states
};

}  // namespace feedrate::session
