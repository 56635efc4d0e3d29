#include "ranks/coordinator.h"

#include <poll.h>

#include <algorithm>
#include <stdexcept>

#include "base/error.h"
#include "measure/clock.h"
#include "measure/periodic.h"
#include "ranks/patience.h"

namespace feedrate::ranks {
namespace {

constexpr int kTurnMs = 50;
constexpr const char* kSilentEnd = "ended without a word";

template <typename T>
std::string largest(const std::vector<std::string_view>& values) {
  T most = value_of<T>(values.front());
  for (const std::string_view value : values) most = std::max(most, value_of<T>(value));
  return std::string(bytes_of(most));
}

}  // namespace

Coordinator::Coordinator(std::vector<RankLink> links,
                         std::function<std::optional<LostRank>()> watch, std::int64_t grace_ns)
    : watch_(std::move(watch)), grace_ns_(grace_ns) {
  for (RankLink& link : links) ranks_.push_back({.link = std::move(link)});
  heart_ = measure::every(kBeatNs, [this] {
    for (Rank& rank : ranks_) rank.link.connection->send(MessageKind::beat);
  });
}

Coordinator::~Coordinator() { end(); }

void Coordinator::end() {
  for (Rank& rank : ranks_) rank.link.connection->send(MessageKind::end);
}

std::optional<std::vector<std::string>> Coordinator::run(
    const std::string& task, const std::function<void(const std::string&)>& progress,
    std::stop_token stop) {
  if (!loss_.who.empty())
    throw Error("ranks", "a rank was lost before (" + loss_.who + ")", "start them anew");
  failure_ = {};
  aborted_ = false;
  late_ = false;
  bool stopped = false;
  looked_ns_ = measure::now_ns();
  for (Rank& rank : ranks_) {
    rank.state = State::working;
    rank.heard_ns = looked_ns_;
    rank.meets.reset();
    rank.link.connection->send(MessageKind::task, task);
  }
  while (!all_done()) {
    serve(progress);
    look_for_losses();
    if (stop.stop_requested() && !aborted_) stopped = true, abort_all();
    // After a stop somebody waits for the end; after a loss the library may never release the other
    // ranks.
    const bool soon = stop.stop_requested() || !loss_.who.empty();
    const std::int64_t grace_ns = soon ? std::min(grace_ns_, kGraceNs) : grace_ns_;
    if (aborted_ && measure::now_ns() - aborted_ns_ > grace_ns) give_up();
  }
  // The operating system reports the end of a process a moment after its connection closes.
  for (int i = 0; i < 20 && watch_ && loss_.why == kSilentEnd; ++i) {
    measure::sleep_until_ns(measure::now_ns() + 5'000'000);
    look_for_losses();
  }
  // A launcher that sees a rank die ends the others at once, by a signal. The reason is then that
  // rank, not the launcher's signal: `stopped` is false.
  if (stopped) return std::nullopt;
  throw_trouble();
  std::vector<std::string> results;
  for (Rank& rank : ranks_) results.push_back(std::move(rank.result));
  return results;
}

// A rank that was lost is mostly the cause of the others' errors about broken connections.
void Coordinator::throw_trouble() const {
  if (loss_.who.empty() || late_) {
    if (!failure_.who.empty() && ranks_.size() == 1)
      throw std::runtime_error(failure_.why);  // one line of its own
    if (!failure_.who.empty()) throw Error(failure_.who, failure_.why);
    if (!loss_.who.empty()) throw Error(loss_.who, loss_.why);
    return;
  }
  if (failure_.who.empty() || failure_.who == loss_.who) throw Error(loss_.who, loss_.why);
  throw Error(loss_.who, loss_.why,
              "before that was seen, " + failure_.who + " said: " + failure_.why);
}

// A rank that hangs in a library's call after the others have gone does not answer any more.
void Coordinator::give_up() {
  late_ = loss_.who.empty();
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    if (ranks_[r].state == State::working) lose(r, "did not end when it was told to");
  }
}

void Coordinator::serve(const std::function<void(const std::string&)>& progress) {
  std::vector<pollfd> wanted;
  for (const Rank& rank : ranks_) {
    const bool there = rank.state != State::lost;
    wanted.push_back(
        {.fd = there ? rank.link.connection->descriptor() : -1, .events = POLLIN, .revents = 0});
  }
  if (poll(wanted.data(), wanted.size(), kTurnMs) <= 0) return;
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    if (wanted[r].revents == 0) continue;
    Connection& connection = *ranks_[r].link.connection;
    while (auto message = connection.receive(/*wait=*/false))
      handle(r, std::move(*message), progress);
    if (connection.closed()) lose(r, kSilentEnd);
  }
}

void Coordinator::handle(std::size_t r, Message message,
                         const std::function<void(const std::string&)>& progress) {
  Rank& rank = ranks_[r];
  rank.heard_ns = measure::now_ns();
  switch (message.kind) {
    case MessageKind::meet:
      rank.meets = std::move(message.body);
      meet_if_all_are_there();
      break;
    case MessageKind::progress:
      if (progress && r == 0) progress(message.body);
      break;
    case MessageKind::result:
      rank.result = std::move(message.body);
      rank.state = State::answered;
      break;
    case MessageKind::failed:
      rank.state = State::answered;
      fail(r, message.body);
      break;
    default:
      break;
  }
}

void Coordinator::meet_if_all_are_there() {
  if (aborted_) return;
  std::vector<std::string_view> values;
  for (const Rank& rank : ranks_) {
    if (!rank.meets || rank.meets->empty()) return;
    values.push_back(std::string_view(*rank.meets).substr(1));
  }
  const char operation = ranks_[0].meets->front();
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    if (ranks_[r].meets->front() != operation)
      return fail(r, "is not at the same point as rank 0 (a fault of this program)");
  }
  std::string result;
  if (operation == 'd') result = largest<double>(values);
  if (operation == 'i') result = largest<std::int64_t>(values);
  if (operation == 'b') result = values.front();
  for (Rank& rank : ranks_) {
    rank.meets.reset();
    rank.link.connection->send(MessageKind::met, result);
  }
}

void Coordinator::look_for_losses() {
  const std::int64_t now = measure::now_ns();
  // If this process was stopped itself, it has yet to read what the ranks sent meanwhile.
  const bool away = now - looked_ns_ > 4 * kBeatNs;
  looked_ns_ = now;
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    if (away) ranks_[r].heard_ns = now;
    if (ranks_[r].state == State::working && now - ranks_[r].heard_ns > kSilenceNs)
      lose(r, "gave no sign of life: stopped, or out of reach");
  }
  if (!watch_) return;
  if (const auto lost = watch_()) lose(static_cast<std::size_t>(lost->rank), lost->reason);
}

void Coordinator::lose(std::size_t r, const std::string& reason) {
  Rank& rank = ranks_[r];
  // The operating system may say better why a connection has ended.
  if (rank.state == State::lost && loss_.who == rank.link.name && loss_.why == kSilentEnd)
    loss_ = {};
  if (loss_.who.empty()) loss_ = {rank.link.name, reason};
  rank.state = State::lost;
  abort_all();
}

void Coordinator::fail(std::size_t r, const std::string& reason) {
  // Ranks that are told to end fail with "interrupted", which is not the cause.
  if (failure_.who.empty() && !aborted_) failure_ = {ranks_[r].link.name, reason};
  abort_all();
}

void Coordinator::abort_all() {
  if (aborted_) return;
  aborted_ = true;
  aborted_ns_ = measure::now_ns();
  for (Rank& rank : ranks_) {
    if (rank.state == State::working) rank.link.connection->send(MessageKind::abort);
  }
}

bool Coordinator::all_done() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& r) {
    return r.state == State::answered || r.state == State::lost;
  });
}

}  // namespace feedrate::ranks
