#include "session/supervised_command.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>

#include "base/error.h"
#include "device/group.h"
#include "ranks/children.h"
#include "ranks/rank_processes.h"
#include "run/failure.h"
#include "session/signals.h"

namespace feedrate::session {
namespace {

constexpr double kSilentAfterSignal = 0.5;  // seconds; who waits for storage does not see a signal

// The first character of what is reported while the command goes on.
constexpr char kProgress = 'p', kSaid = 's';
constexpr std::size_t kMostSaid = 32'000;  // bytes at once

void write_to(std::FILE* file, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), file);
}

// What the process answers: this, then the bytes for stdout, then those for stderr. Names of files
// need be no UTF-8, and come out as they are: so this is no JSON.
struct AnswerHead {
  std::int64_t code = 0;
  std::uint64_t out_bytes = 0;
};

void show_news(Watcher& watcher, std::string_view news) {
  const std::string_view text = news.substr(news.empty() ? 0 : 1);
  if (news.starts_with(kProgress)) return watcher.counts(std::string(text));
  watcher.shows_nothing();
  write_to(stderr, text);
}

}  // namespace

void SupervisedCommand::say(std::string_view line) {
  said_.append(line).append("\n");
  if (said_.size() > kMostSaid) report_said();
}

void SupervisedCommand::report_said() {
  while (!said_.empty() && group_.report(kSaid + said_.substr(0, kMostSaid)))
    said_.erase(0, kMostSaid);
}

void SupervisedCommand::report_progress(const std::string& text) {
  report_said();
  if (said_.empty()) group_.report(kProgress + text);
}

SignsOfLife& SupervisedCommand::watch(const std::string& folder, double stall_seconds) {
  signs_.emplace(folder);
  watch_ = group_.give_up_when([this, stall_seconds]() -> std::string {
    const SignsOfLife::Silence silence = signs_->silence();
    if (stop_.stop_requested() && silence.seconds > kSilentAfterSignal) return kInterrupted;
    return run::stall_text(silence.path, "nothing was read or written", silence.seconds,
                           stall_seconds);
  });
  return *signs_;
}

void SupervisedCommand::answer(const std::function<int(SupervisedCommand&)>& command) {
  const AnswerHead head{.code = code_of(command), .out_bytes = out_.size()};
  watch_ = {};  // waits for it
  group_.finish(std::string(ranks::bytes_of(head)) + out_ + said_);
}

int SupervisedCommand::code_of(const std::function<int(SupervisedCommand&)>& command) {
  try {
    return command(*this);
  } catch (const UsageError& error) {
    say(std::string("feedrate: ") + error.what());
    return 2;
  } catch (const std::exception& error) {
    say(std::string("feedrate: ") + error.what());
    return 1;
  }
}

int run_supervised(const std::vector<std::string>& words, const SupervisedBody& command,
                   Watcher& watcher) {
  const SignalWatcher signals;
  int code = 0;
  const auto news = [&](const std::string& text) { show_news(watcher, text); };
  const auto result = [&](int, const std::string& text) {
    const auto head = ranks::value_of<AnswerHead>(text);
    const std::string_view said = std::string_view(text).substr(std::min(text.size(), sizeof head));
    if (text.size() < sizeof head || head.out_bytes > said.size())
      throw std::invalid_argument("it is no answer");
    watcher.shows_nothing();
    write_to(stdout, said.substr(0, head.out_bytes));
    write_to(stderr, said.substr(head.out_bytes));
    code = static_cast<int>(head.code);
  };
  const bool done = ranks::make_local_ranks(words, "the command's process")
                        ->run_aside({}, {.progress = news, .result = result}, signals.token());
  if (done) return code;
  watcher.warns("interrupted" + std::string(command.when_interrupted));
  return signals.exit_code(1);
}

int serve_supervised(const SupervisedBody& command) {
  ranks::SocketGroup group(ranks::Connection(ranks::Children::kRankDescriptor), /*rank=*/0,
                           /*size=*/1, device::kLoopback, /*local_rank=*/0);
  while (group.next_task()) SupervisedCommand(group).answer(command.run);
  return 0;
}

}  // namespace feedrate::session
