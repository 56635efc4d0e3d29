#include "ranks/rank_processes.h"

#include <optional>

#include "device/group.h"
#include "measure/affinity.h"
#include "ranks/children.h"
#include "ranks/meet_ranks.h"
#include "ranks/patience.h"

namespace feedrate::ranks {
namespace {

std::vector<std::string> command_of(std::vector<std::string> command, int rank, int size,
                                    const std::string& host) {
  command.insert(command.begin() + 1, {std::to_string(rank), std::to_string(size), host});
  return command;
}

// Processes that carry out tasks together, one after the other.
class Team {
 public:
  Team(const std::vector<std::string>& command, int count, const std::string& alone,
       std::string name)
      : name_(std::move(name)), count_(count) {
    std::vector<RankLink> links;
    const std::vector<int> cpus = measure::neighbours_together(measure::usable_cpus());
    for (int r = 0; r < count; ++r)
      links.push_back(children_.start(command_of(command, r, count, device::kLoopback),
                                      share_of_cpus(cpus, r, count)));
    if (count == 1) links[0].name = alone;
    coordinator_.emplace(std::move(links), [this] { return children_.look(); }, kGraceNs);
  }

  bool is(const std::string& name, int count) const { return name_ == name && count_ == count; }
  // None has died since the last task.
  bool is_whole() { return !children_.look(); }
  bool run(const std::string& task, const TaskHooks& hooks, std::stop_token stop) {
    return coordinator_->run(task, hooks, std::move(stop));
  }
  // After a task that ended well. Without it they are killed.
  void end() {
    coordinator_->end();
    children_.end(kGraceNs);
  }

 private:
  const std::string name_;
  const int count_;
  Children children_;
  std::optional<Coordinator> coordinator_;
};

class LocalRanks : public RankProcesses {
 public:
  LocalRanks(std::vector<std::string> command, std::string alone)
      : command_(std::move(command)), alone_(std::move(alone)) {}
  ~LocalRanks() override { end_team(); }
  int size() const override { return 0; }
  bool run(int count, const std::string& task, const TaskHooks& hooks, std::stop_token stop,
           const std::string& name) override {
    if (team_ && (name.empty() || !team_->is(name, count) || !team_->is_whole())) end_team();
    auto team = team_ ? std::move(team_) : std::make_unique<Team>(command_, count, alone_, name);
    const bool done = team->run(task, hooks, std::move(stop));
    if (!done) return false;
    if (name.empty()) {
      team->end();
    } else {
      team_ = std::move(team);
    }
    return true;
  }
  // What the team holds of a device may be needed.
  bool run_aside(const std::string& task, const TaskHooks& hooks, std::stop_token stop) override {
    return run(1, task, hooks, std::move(stop), "");
  }

 private:
  void end_team() {
    if (team_) team_->end();
    team_.reset();
  }

  const std::vector<std::string> command_;
  const std::string alone_;
  std::unique_ptr<Team> team_;  // null: none waits for its next task
};

class LaunchedRanks : public RankProcesses {
 public:
  LaunchedRanks(const Launch& launch, std::vector<RankLink> others,
                const std::vector<std::string>& command)
      : size_(launch.size), here_(launch.local_size), aside_(make_local_ranks(command)) {
    others.insert(others.begin(),
                  own_.start(command_of(command, 0, launch.size, launch.host), own_cpus(launch)));
    coordinator_.emplace(std::move(others), [this] { return own_.look(); }, kSilenceNs);
  }
  ~LaunchedRanks() override {
    coordinator_.reset();
    own_.end(kGraceNs);
  }
  int size() const override { return size_; }
  int here(int) const override { return here_; }
  bool run(int, const std::string& task, const TaskHooks& hooks, std::stop_token stop,
           const std::string&) override {
    return coordinator_->run(task, hooks, std::move(stop));
  }
  bool run_aside(const std::string& task, const TaskHooks& hooks, std::stop_token stop) override {
    return aside_->run_aside(task, hooks, std::move(stop));
  }

 private:
  const int size_, here_;
  const std::unique_ptr<RankProcesses> aside_;
  Children own_;
  std::optional<Coordinator> coordinator_;
};

}  // namespace

std::vector<int> own_cpus(const Launch& launch) {
  if (launch.local_size == 1 || !measure::may_use_all_cpus()) return {};
  return share_of_cpus(measure::neighbours_together(measure::usable_cpus()), launch.local_rank,
                       launch.local_size);
}

std::unique_ptr<RankProcesses> make_local_ranks(std::vector<std::string> command,
                                                std::string alone) {
  return std::make_unique<LocalRanks>(std::move(command), std::move(alone));
}

std::unique_ptr<RankProcesses> make_launched_ranks(const Launch& launch,
                                                   const RunIdentity& identity,
                                                   std::vector<std::string> command,
                                                   std::stop_token stop, const Say& say) {
  std::vector<RankLink> others = meet_ranks(launch, identity, kArrivalNs, std::move(stop), say);
  if (others.empty()) return nullptr;
  return std::make_unique<LaunchedRanks>(launch, std::move(others), command);
}

std::vector<int> share_of_cpus(const std::vector<int>& cpus, int rank, int count) {
  const auto all = static_cast<std::ptrdiff_t>(cpus.size());
  if (all == 0) return {};
  if (all < count) return {cpus[static_cast<std::size_t>(rank % all)]};
  return {cpus.begin() + all * rank / count, cpus.begin() + all * (rank + 1) / count};
}

}  // namespace feedrate::ranks
