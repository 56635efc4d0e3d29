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

// Signs of life and of progress: ranks send 11 a second.
constexpr std::int64_t kMostTold = 1000, kMostToldASecond = 100;
constexpr int kMostMessagesATurn = 64;

std::string one_line(std::string text) {
  std::ranges::replace_if(text, [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
  return text;
}

std::string largest(const std::vector<std::string_view>& values) {
  auto most = value_of<std::int64_t>(values.front());
  for (const std::string_view value : values) most = std::max(most, value_of<std::int64_t>(value));
  return std::string(bytes_of(most));
}

}  // namespace

Coordinator::Coordinator(std::vector<RankLink> links,
                         std::function<std::optional<LostRank>()> watch, std::int64_t grace_ns)
    : watch_(std::move(watch)), grace_ns_(grace_ns), began_ns_(measure::now_ns()) {
  for (RankLink& link : links) ranks_.push_back({.link = std::move(link)});
  heart_ = measure::every(kBeatNs, [this] {
    for (Rank& rank : ranks_) rank.link.connection->send(MessageKind::beat);
  });
}

Coordinator::~Coordinator() { end(); }

void Coordinator::end() {
  for (Rank& rank : ranks_) rank.link.connection->send(MessageKind::end);
}

bool Coordinator::run(const std::string& task, const TaskHooks& hooks, std::stop_token stop) {
  if (!loss_.who.empty())
    throw Error("ranks", "a rank was lost before (" + loss_.who + ")", "start them anew");
  failure_ = {};
  aborted_ = false;
  abort_at_ns_ = 0;
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
    serve(hooks);
    look_for_losses();
    if (abort_at_ns_ != 0 && measure::now_ns() > abort_at_ns_) abort_all();
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
  if (stopped) return false;
  throw_trouble();
  return true;
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

void Coordinator::serve(const TaskHooks& hooks) {
  std::vector<pollfd> wanted;
  for (const Rank& rank : ranks_) {
    const bool there = rank.state != State::lost;
    wanted.push_back(
        {.fd = there ? rank.link.connection->descriptor() : -1, .events = POLLIN, .revents = 0});
  }
  if (poll(wanted.data(), wanted.size(), kTurnMs) <= 0) return;
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    if (wanted[r].revents != 0) hear(r, hooks);
  }
}

void Coordinator::hear(std::size_t r, const TaskHooks& hooks) {
  Connection& connection = *ranks_[r].link.connection;
  for (int i = 0; i < kMostMessagesATurn && ranks_[r].state != State::lost; ++i) {
    auto message = connection.receive(/*wait=*/false);
    if (!message) break;
    handle(r, std::move(*message), hooks);
  }
  if (!connection.closed() || ranks_[r].state == State::lost) return;
  if (connection.fault().empty()) {
    lose(r, kSilentEnd);
  } else {
    lose_mad(r, connection.fault());
  }
}

void Coordinator::handle(std::size_t r, Message message, const TaskHooks& hooks) {
  Rank& rank = ranks_[r];
  rank.heard_ns = measure::now_ns();
  switch (message.kind) {
    case MessageKind::meet:
      return handle_meeting(r, std::move(message.body));
    case MessageKind::result:
      return handle_result(r, message.body, hooks);
    case MessageKind::failed:
      count(r);  // a rank that has given up may say so again, see SocketGroup::give_up()
      if (rank.state != State::working) return;
      rank.state = State::answered;
      return fail(r, one_line(std::move(message.body)));
    case MessageKind::progress:
      count(r);
      if (r != 0) return lose_mad(r, "another rank's progress");
      if (!hooks.progress || rank.state != State::working) return;
      try {
        hooks.progress(message.body);
      } catch (const std::exception& problem) {
        lose_mad(r, std::string("progress that makes no sense: ") + problem.what());
      }
      return;
    case MessageKind::beat:
      return count(r);
    default:
      return lose_mad(r, "a message of a coordinator's");
  }
}

void Coordinator::handle_result(std::size_t r, const std::string& body, const TaskHooks& hooks) {
  count(r);
  if (ranks_[r].state != State::working) return;  // it was given up, and comes to an end after all
  try {
    if (hooks.result) hooks.result(static_cast<int>(r), body);
    ranks_[r].state = State::answered;
  } catch (const std::exception& problem) {
    // The others end as well about now: their results are wanted.
    abort_at_ns_ = measure::now_ns() + kGraceNs;
    lose_mad(r, std::string("a result that makes no sense: ") + problem.what());
  }
}

void Coordinator::handle_meeting(std::size_t r, std::string body) {
  Rank& rank = ranks_[r];
  const bool number = body.size() == 1 + sizeof(std::int64_t) && body.front() == 'i';
  const bool text = !body.empty() && body.front() == 'b';
  if (!number && !text) return lose_mad(r, "a call that there is not");
  if (aborted_ || rank.state != State::working) return count(r);  // it is about to learn of that
  if (rank.meets) return lose_mad(r, "a call while it waited in another one");
  rank.meets = std::move(body);
  meet_if_all_are_there();
}

// What a rank may send unasked is bounded: the time that it takes is that of the measurement.
void Coordinator::count(std::size_t r) {
  const double seconds = measure::seconds(measure::now_ns() - began_ns_);
  const double most = kMostTold + kMostToldASecond * seconds;
  if (static_cast<double>(++ranks_[r].told) > most) lose_mad(r, "far too many messages");
}

void Coordinator::meet_if_all_are_there() {
  if (aborted_) return;
  std::vector<std::string_view> values;
  for (const Rank& rank : ranks_) {
    if (!rank.meets) return;
    values.push_back(std::string_view(*rank.meets).substr(1));
  }
  const char operation = ranks_[0].meets->front();
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    if (ranks_[r].meets->front() != operation)
      return fail(r, "is not at the same point as rank 0 (a fault of this program)");
  }
  std::string result;
  if (operation == 'i') result = largest(values);
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
  if (abort_at_ns_ == 0) abort_all();
}

void Coordinator::lose_mad(std::size_t r, const std::string& what) {
  if (ranks_[r].state == State::lost) return;
  ranks_[r].link.connection->shut_down();  // it ends itself, as an orphan
  lose(r, "sent what no rank sends: " + what);
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
