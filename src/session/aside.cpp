#include "session/aside.h"

#include <charconv>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "device/group.h"
#include "measure/periodic.h"
#include "ranks/children.h"
#include "ranks/coordinator.h"
#include "ranks/patience.h"
#include "session/signals.h"

namespace feedrate::session {
namespace {

constexpr std::int64_t kLookNs = 250'000'000;
constexpr double kSilentAfterSignal = 0.5;  // seconds; who waits for storage does not see a signal

// The first character of what is reported while the command goes on.
constexpr char kProgress = 'p', kSaid = 's';
constexpr std::size_t kMostSaid = 32'000;  // bytes at once

void write_to(std::FILE* file, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), file);
}

// Names of files need be no UTF-8, and come out as they are: so this is no JSON.
std::string answer_text(int code, std::string_view out, std::string_view said) {
  return std::to_string(code) + " " + std::to_string(out.size()) + "\n" + std::string(out) +
         std::string(said);
}

struct Answer {
  int code = 0;
  std::string_view out, said;  // parts of the text
};
Answer answer_from(std::string_view text) {
  Answer answer;
  std::size_t bytes = 0;
  const char* const end = text.data() + text.size();
  const auto code = std::from_chars(text.data(), end, answer.code);
  if (code.ec == std::errc() && code.ptr != end) {
    const auto size = std::from_chars(code.ptr + 1, end, bytes);
    text.remove_prefix(static_cast<std::size_t>(size.ptr - text.data()));
    if (size.ec == std::errc() && !text.empty() && bytes <= text.size() - 1) {
      answer.out = text.substr(1, bytes);
      answer.said = text.substr(1 + bytes);
      return answer;
    }
  }
  throw std::invalid_argument("it is no answer");
}

void show_news(Watcher& watcher, std::string_view news) {
  const std::string_view text = news.substr(news.empty() ? 0 : 1);
  if (news.starts_with(kProgress)) return watcher.shows(std::string(text));
  watcher.shows_nothing();
  write_to(stderr, text);
}

}  // namespace

void Aside::say(std::string_view line) {
  said_.append(line).append("\n");
  if (said_.size() > kMostSaid) report_said();
}

void Aside::report_said() {
  while (!said_.empty() && group_.report(kSaid + said_.substr(0, kMostSaid)))
    said_.erase(0, kMostSaid);
}

void Aside::report_progress(const std::string& text) {
  report_said();
  if (said_.empty()) group_.report(kProgress + text);
}

SignsOfLife& Aside::watch(const std::string& folder, double stall_seconds) {
  signs_.emplace(folder);
  watch_ = measure::every(kLookNs, [this, stall_seconds] {
    const SignsOfLife::Silence silence = signs_->silence();
    if (stop_.stop_requested() && silence.seconds > kSilentAfterSignal) leave();
    if (silence.seconds <= stall_seconds) return;
    group_.give_up(
        format("%s: stalled: nothing was read or written for %.1f s; look at the "
               "storage, or raise --stall-seconds",
               silence.path.c_str(), silence.seconds));
  });
  return *signs_;
}

void Aside::answer(const std::function<int(Aside&)>& command) {
  const int code = code_of(command);
  watch_ = {};  // waits for it
  group_.finish(answer_text(code, out_, said_));
}

int Aside::code_of(const std::function<int(Aside&)>& command) {
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

int carry_out_aside(const std::vector<std::string>& words, const AsideCommand& command,
                    Watcher& watcher) {
  const SignalWatcher signals;
  ranks::Children children;
  std::vector<ranks::RankLink> links;
  links.push_back(children.start(words, {}));
  links[0].name = "the command's process";
  ranks::Coordinator coordinator(
      std::move(links), [&children] { return children.look(); }, ranks::kGraceNs);
  int code = 0;
  const auto news = [&](const std::string& text) { show_news(watcher, text); };
  const auto result = [&](int, const std::string& text) {
    const Answer answer = answer_from(text);
    watcher.shows_nothing();
    write_to(stdout, answer.out);
    write_to(stderr, answer.said);
    code = answer.code;
  };
  const bool done = coordinator.run({}, {.progress = news, .result = result}, signals.token());
  coordinator.end();
  if (!done) {
    watcher.warns("interrupted" + std::string(command.when_interrupted));
    return signals.exit_code(1);
  }
  children.end(ranks::kGraceNs);
  return code;
}

int be_aside(const AsideCommand& command) {
  ranks::SocketGroup group(ranks::Connection(ranks::Children::kRankDescriptor), /*rank=*/0,
                           /*size=*/1, device::kLoopback, /*local_rank=*/0);
  while (group.next_task()) Aside(group).answer(command.carry_out);
  return 0;
}

}  // namespace feedrate::session
