#pragma once
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace feedrate {

// The words of a command as exec takes them; valid as long as the words are.
std::vector<char*> exec_arguments(std::vector<std::string>& words);

// A process that this one starts, hears, watches and ends. Used by one thread. One that ends leaves
// no zombie. One that the kernel holds (a driver, a file server that does not answer) outlives
// SIGKILL: only wait() waits for such a one without a limit.
class SupervisedProcess {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Output {
    inherited,  // it writes to this process's stdout and stderr
    captured,   // this process reads what it writes: where it hangs, nobody else waits for its end
  };

  // The other process carries out `work` and ends with the code that this returns, or becomes
  // another program (exec). Where this process has other threads, `work` must not allocate.
  explicit SupervisedProcess(const std::function<int()>& work, Output output = Output::inherited);
  ~SupervisedProcess();  // end() within 0.1 s
  SupervisedProcess(const SupervisedProcess&) = delete;
  SupervisedProcess& operator=(const SupervisedProcess&) = delete;

  pid_t pid() const { return pid_; }
  // An errno: it could not be started, and counts as ended with code 127. 0: it was started.
  int start_error() const { return start_error_; }

  // All that is captured, stdout and stderr together, until both are closed; nothing where the
  // deadline or `stop` comes first.
  std::optional<std::string> output(Clock::time_point deadline = Clock::time_point::max(),
                                    const std::stop_token& stop = {});
  // Instead: copies what was captured so far to this process's stderr, and waits for no more. Waits
  // where stderr takes nothing; what it refuses is lost.
  void pass_on();

  // What waitpid() says of its end; nothing while it lives. Does not wait.
  std::optional<int> look();
  // How long it has stood still (SIGSTOP), as the last look() saw.
  Clock::duration stopped_for() const;

  // Waits until it has ended. Returns the code that it ended with, or 128 + signal.
  int wait();
  void kill();  // also while it stands still
  // Kills it, and waits until it has ended or the deadline comes. It is left to the kernel then.
  void end(Clock::time_point deadline);

 private:
  // False: it is closed.
  bool read_on(const std::function<void(std::string_view)>& take);

  pid_t pid_ = -1;
  int start_error_ = 0;
  int output_ = -1;            // where it is captured: the end of the pipe that is read
  std::optional<int> status_;  // waitpid()'s, once it has ended
  std::optional<Clock::time_point> stopped_at_;
};

}  // namespace feedrate
