#include "ranks/children.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
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
[[noreturn]] void become_rank(int stream, int errors, pid_t parent, const cpu_set_t* cpus,
                              char* const* arguments) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kExitOrphaned);
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (cpus) sched_setaffinity(0, sizeof *cpus, cpus);
  dup2(errors, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  if (stream == Children::kRankDescriptor) {
    fcntl(stream, F_SETFD, 0);
  } else {
    dup2(stream, Children::kRankDescriptor);
  }
  close_range(Children::kRankDescriptor + 1, ~0U, 0);
  execv("/proc/self/exe", arguments);
  _exit(127);
}

}  // namespace

Children::~Children() { end(0); }

RankLink Children::start(const std::vector<std::string>& arguments, const std::vector<int>& cpus) {
  if (!said_) said_.emplace();
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw Error("ranks", std::string("cannot be connected: ") + std::strerror(errno),
                "raise `ulimit -n`");
  }
  auto connection = std::make_unique<Connection>(ends[0]);
  std::vector<std::string> words = {"feedrate"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<std::size_t>(cpu), &set);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0)
    become_rank(ends[1], said_->entrance(), parent, cpus.empty() ? nullptr : &set, argv.data());
  const int problem = errno;
  close(ends[1]);
  if (pid < 0)
    throw Error("ranks", std::string("cannot be started: ") + std::strerror(problem),
                "use fewer --gpus, or raise `ulimit -u`");
  children_.push_back({.pid = pid, .rank = static_cast<int>(children_.size())});
  return {std::move(connection),
          "rank " + std::to_string(children_.back().rank) + " (pid " + std::to_string(pid) + ")"};
}

std::optional<LostRank> Children::look() {
  std::optional<LostRank> lost;
  for (Child& child : children_) {
    if (!child.gone && !lost) reap(child, lost);
  }
  pass_on();  // what one said before it was lost, too
  return lost;
}

void Children::pass_on() {
  if (said_) said_->pass_on();
}

void Children::reap(Child& child, std::optional<LostRank>& lost) {
  int status = 0;
  while (waitpid(child.pid, &status, WNOHANG | WUNTRACED | WCONTINUED) == child.pid) {
    if (WIFSTOPPED(status)) {
      child.stopped_ns = measure::now_ns();
    } else if (WIFCONTINUED(status)) {
      child.stopped_ns = 0;
    } else {
      child.gone = true;
      if (WIFSIGNALED(status))
        lost = {
            child.rank,
            "was killed (" + signal_name(WTERMSIG(status)) + ")" +
                (WTERMSIG(status) == SIGKILL ? ", as the kernel does where memory runs out" : "")};
      if (WIFEXITED(status) && WEXITSTATUS(status) == kExitOrphaned)
        lost = {
            child.rank,
            "ended, as the process that started it stood still for too long (was it stopped, or "
            "the machine asleep?)"};
      else if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
        lost = {child.rank, "ended with code " + std::to_string(WEXITSTATUS(status))};
      return;
    }
  }
  if (child.stopped_ns != 0 && !child.told && measure::now_ns() - child.stopped_ns > kStoppedNs) {
    child.told = true;
    lost = {child.rank, "was stopped (SIGSTOP)"};
  }
}

void Children::end(std::int64_t patience_ns) {
  const std::int64_t deadline = measure::now_ns() + patience_ns;
  for (Child& child : children_) {
    std::optional<LostRank> ignored;
    while (!child.gone && measure::now_ns() < deadline) {
      reap(child, ignored);
      pass_on();
      if (!child.gone) measure::sleep_until_ns(measure::now_ns() + 5'000'000);
    }
    if (!child.gone) kill(child.pid, SIGKILL);  // a stopped one as well
  }
  // A process that hangs in a driver or on a file server does not end; the record must be written
  // all the same.
  const std::int64_t enough = measure::now_ns() + 2'000'000'000;
  for (Child& child : children_) {
    while (!child.gone && waitpid(child.pid, nullptr, WNOHANG) == 0 && measure::now_ns() < enough)
      measure::sleep_until_ns(measure::now_ns() + 2'000'000);
    child.gone = true;
  }
  pass_on();
}

}  // namespace feedrate::ranks
