#include "ranks/children.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/error.h"
#include "measure/clock.h"
#include "ranks/patience.h"

namespace feedrate::ranks {
namespace {

std::string signal_name(int number) {
  const char* name = sigabbrev_np(number);
  return name ? std::string("SIG") + name : "signal " + std::to_string(number);
}

// In the child, between fork and exec: nothing here may allocate.
int become_rank(int stream, pid_t parent, const cpu_set_t* cpus, char* const* arguments) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) return kExitOrphaned;
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (cpus) sched_setaffinity(0, sizeof *cpus, cpus);
  if (stream == Children::kRankDescriptor) {
    fcntl(stream, F_SETFD, 0);
  } else {
    dup2(stream, Children::kRankDescriptor);
  }
  close_range(Children::kRankDescriptor + 1, ~0U, 0);
  execv("/proc/self/exe", arguments);
  return 127;
}

// What is wrong with a rank; empty: nothing.
std::string trouble_of(SupervisedProcess& rank) {
  const std::optional<int> end = rank.look();
  if (!end) return rank.stopped_for().count() > kStoppedNs ? "was stopped (SIGSTOP)" : "";
  if (WIFSIGNALED(*end))
    return "was killed (" + signal_name(WTERMSIG(*end)) + ")" +
           (WTERMSIG(*end) == SIGKILL ? ", as the kernel does where memory runs out" : "");
  const int code = WEXITSTATUS(*end);
  if (code == kExitOrphaned)
    return "ended, as the process that started it stood still for too long (was it stopped, or the "
           "machine asleep?)";
  return code == 0 ? "" : "ended with code " + std::to_string(code);
}

}  // namespace

Children::~Children() { end(0); }

RankLink Children::start(const std::vector<std::string>& arguments, const std::vector<int>& cpus) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw Error("ranks", std::string("cannot be connected: ") + std::strerror(errno),
                "raise `ulimit -n`");
  }
  auto connection = std::make_unique<Connection>(ends[0]);
  std::vector<std::string> words = {"feedrate"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const std::vector<char*> argv = exec_arguments(words);
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<std::size_t>(cpu), &set);
  const pid_t parent = getpid();
  Child& child = children_.emplace_back(
      [&] { return become_rank(ends[1], parent, cpus.empty() ? nullptr : &set, argv.data()); });
  close(ends[1]);
  if (const int problem = child.process.start_error(); problem != 0) {
    const bool no_pipe = problem == EMFILE || problem == ENFILE;
    throw Error("ranks",
                std::string(no_pipe ? "cannot be listened to: " : "cannot be started: ") +
                    std::strerror(problem),
                no_pipe ? "raise `ulimit -n`" : "use fewer --gpus, or raise `ulimit -u`");
  }
  return {std::move(connection), "rank " + std::to_string(children_.size() - 1) + " (pid " +
                                     std::to_string(child.process.pid()) + ")"};
}

std::optional<LostRank> Children::look() {
  std::optional<LostRank> lost;
  for (std::size_t r = 0; r < children_.size() && !lost; ++r) {
    Child& child = children_[r];
    std::string trouble = trouble_of(child.process);
    if (trouble.empty() || trouble == child.told) continue;
    child.told = trouble;
    lost = {static_cast<int>(r), std::move(trouble)};
  }
  pass_on();  // what one said before it was lost, too
  return lost;
}

void Children::pass_on() {
  for (Child& child : children_) child.process.pass_on();
}

void Children::end(std::int64_t patience_ns) {
  const std::int64_t deadline = measure::now_ns() + patience_ns;
  const auto lives = [](Child& child) { return !child.process.look(); };
  while (measure::now_ns() < deadline && std::ranges::any_of(children_, lives)) {
    pass_on();
    measure::sleep_until_ns(measure::now_ns() + 5'000'000);
  }
  for (Child& child : children_) child.process.kill();
  // A process that hangs in a driver or on a file server does not end; the record must be written
  // all the same.
  const auto enough = SupervisedProcess::Clock::now() + std::chrono::seconds(2);
  for (Child& child : children_) child.process.end(enough);
  pass_on();
  children_.clear();
}

}  // namespace feedrate::ranks
