#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "measure/clock.h"
#include "ranks/socket_group.h"
#include "session/signs_of_life.h"
#include "session/watcher.h"

// Storage that does not answer may keep a process for ever, even one that was killed. So a command
// that reads or writes storage itself is run by this program in another process,
// "feedrate supervised RANK RANKS HOST COMMAND ...", which is started as a rank is. The process
// that the user started touches no storage. It shows what the other one says, tells it of a signal,
// and leaves it behind where it does not end.
namespace feedrate::session {

inline constexpr std::string_view kSupervised = "supervised";

// What such a command has to say, and the watch over it. Used by one thread, but for what says
// otherwise.
class SupervisedCommand {
 public:
  explicit SupervisedCommand(ranks::SocketGroup& group)
      : group_(group), stop_(group.stop_token()) {}

  // On stdout, once the command has ended.
  void print(std::string_view text) { out_.append(text); }
  // A line on stderr.
  void say(std::string_view line);
  // The line of progress: `text()`, unless it was shown a moment ago. One call at a time.
  template <typename Text>
  void show(const Text& text) {
    constexpr std::int64_t kOftenNs = 100'000'000;
    if (measure::now_ns() - shown_ns_ < kOftenNs) return;
    shown_ns_ = measure::now_ns();
    report_progress(text());
  }

  // From now on the command ends with "PATH: stalled: ..." where there is no sign of life for so
  // long, and where there is none after a signal. Once; what it returns is thread-safe.
  SignsOfLife& watch(const std::string& folder, double stall_seconds);

  // Is asked to stop by a signal. A command that does not end soon is ended.
  std::stop_token stop_token() const { return stop_; }
  // After a signal: there is nothing to be done any more. Thread-safe.
  void leave() { group_.give_up(kInterrupted); }

  // Runs a command and answers with its exit code and what it has said; errors, too.
  void answer(const std::function<int(SupervisedCommand&)>& command);

 private:
  static constexpr const char* kInterrupted = "interrupted";

  int code_of(const std::function<int(SupervisedCommand&)>& command);
  void report_progress(const std::string& text);
  void report_said();  // what the other process takes of it without being waited for

  ranks::SocketGroup& group_;
  const std::stop_token stop_;
  std::string out_, said_;
  std::int64_t shown_ns_ = 0;
  std::optional<SignsOfLife> signs_;
  std::jthread watch_;
};

// What is run so. `when_interrupted`: what the user may want to know then.
struct SupervisedBody {
  std::function<int(SupervisedCommand&)> run;
  std::string_view when_interrupted;
};

// Has another process carry out the command, whose words are `words`, and returns its exit code:
// 128 + signal if one came. Errors: a std::exception of one line, as where storage hangs.
int run_supervised(const std::vector<std::string>& words, const SupervisedBody& command,
                   Watcher& watcher);

// The other process.
int serve_supervised(const SupervisedBody& command);

}  // namespace feedrate::session
