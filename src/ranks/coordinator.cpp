#include "ranks/coordinator.h"

#include <poll.h>

#include <algorithm>
#include <limits>
#include <new>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "measure/clock.h"
#include "measure/periodic.h"
#include "ranks/patience.h"

namespace feedrate::ranks {
namespace {

constexpr int kTurnMs = 50;
constexpr const char* kSilentEnd = "ended without a word";
constexpr char kHasResult = 'r';  // in the place of a Call

// Signs of life and of progress: ranks send 11 a second.
constexpr std::int64_t kMostTold = 1000, kMostToldASecond = 100;
constexpr int kMostMessagesATurn = 64;

constexpr std::size_t kLongestReason = 2000;

std::string one_line(std::string_view text) { return line_of_utf8(text, kLongestReason); }

}  // namespace

Coordinator::Coordinator(std::vector<RankLink> links,
                         std::function<std::optional<LostRank>()> watch, std::int64_t grace_ns)
    : watch_(std::move(watch)), grace_ns_(grace_ns), began_ns_(measure::now_ns()) {
  for (RankLink& link : links) ranks_.push_back({.link = std::move(link)});
  heart_ = measure::every(kBeatNs, [this] {
    // A rank that takes nothing must not keep the others waiting for theirs.
    for (Rank& rank : ranks_) rank.link.connection->send_now(MessageKind::beat, {});
  });
}

Coordinator::~Coordinator() { end(); }

void Coordinator::end() {
  for (Rank& rank : ranks_) rank.link.connection->send_now(MessageKind::end, {});
}

bool Coordinator::run(const std::string& task, const TaskHooks& hooks, std::stop_token stop) {
  if (!loss_.who.empty())
    throw Error("ranks", "a rank was lost before (" + loss_.who + ")", "start them anew");
  failure_ = {};
  aborted_ = false;
  latest_ns_ = 0;
  late_ = false;
  bool stopped = false;
  looked_ns_ = measure::now_ns();
  for (Rank& rank : ranks_) {
    rank.state = State::working;
    rank.heard_ns = looked_ns_;
    rank.meets.reset();
    rank.has_result = false;
    rank.link.connection->send(MessageKind::task, task);
  }
  while (!all_done()) {
    serve(hooks);
    look_for_losses();
    if (stop.stop_requested() && !aborted_) stopped = true, abort_all();
    // After a stop somebody waits for the end; after a loss the library may never release the other
    // ranks.
    const bool soon = stop.stop_requested() || !loss_.who.empty();
    const std::int64_t grace_ns = soon ? std::min(grace_ns_, kGraceNs) : grace_ns_;
    if (aborted_ && measure::now_ns() - aborted_ns_ > grace_ns) give_up();
  }
  // The operating system reports the end of a process a moment after its connection closes.
  for (int i = 0; i < 20 && watch_ && loss_.why.starts_with(kSilentEnd); ++i) {
    measure::sleep_until_ns(measure::now_ns() + 5'000'000);
    look_for_losses();
  }
  // A launcher that sees a rank die ends the others at once, by a signal. The reason is then that
  // rank, not the launcher's signal: `stopped` is false.
  if (stopped) return false;
  hand_over_results(hooks);
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
  bool more = false;
  for (const Rank& rank : ranks_) {
    const bool there = rank.state != State::lost;
    wanted.push_back(
        {.fd = there ? rank.link.connection->descriptor() : -1, .events = POLLIN, .revents = 0});
    more = more || (there && rank.has_more);
  }
  poll(wanted.data(), wanted.size(), more ? 0 : kTurnMs);
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    if (wanted[r].revents != 0 || ranks_[r].has_more) hear(r, hooks);
  }
}

void Coordinator::hear(std::size_t r, const TaskHooks& hooks) {
  Rank& rank = ranks_[r];
  Connection& connection = *rank.link.connection;
  rank.has_more = true;
  for (int i = 0; i < kMostMessagesATurn && rank.has_more && rank.state != State::lost; ++i) {
    auto message = connection.receive(/*wait=*/false);
    rank.has_more = message.has_value();
    if (message) handle(r, std::move(*message), hooks);
  }
  // While it sends a long message it sends no signs of life.
  if (connection.has_part()) rank.heard_ns = measure::now_ns();
  if (connection.has_part() && rank.part_ns == 0) rank.part_ns = rank.heard_ns;
  if (!connection.closed() || rank.state == State::lost) return;
  if (connection.fault().empty()) {
    lose(r, kSilentEnd);
  } else {
    drop_misbehaving_rank(r, connection.fault());
  }
}

void Coordinator::handle(std::size_t r, Message message, const TaskHooks& hooks) {
  Rank& rank = ranks_[r];
  rank.heard_ns = measure::now_ns();
  rank.part_ns = 0;
  switch (message.kind) {
    case MessageKind::meet:
      return handle_meeting(r, std::move(message.body));
    case MessageKind::result:
      return handle_result(r, std::move(message.body));
    case MessageKind::failed:
      count(r);  // a rank that has given up may say so again, see SocketGroup::give_up()
      if (rank.state != State::working) return;
      rank.state = State::answered;
      return fail(r, one_line(message.body));
    case MessageKind::progress:
      count(r);
      if (r != 0) return drop_misbehaving_rank(r, "another rank's progress");
      if (!hooks.progress || rank.state != State::working) return;
      try {
        hooks.progress(message.body);
      } catch (const std::exception& problem) {
        drop_misbehaving_rank(r, "progress that makes no sense: " + one_line(problem.what()));
      }
      return;
    case MessageKind::beat:
      return count(r);
    default:
      return drop_misbehaving_rank(r, "a message of a coordinator's");
  }
}

void Coordinator::handle_result(std::size_t r, std::string body) {
  count(r);
  Rank& rank = ranks_[r];
  if (rank.state != State::working) return;  // it was given up, and comes to an end after all
  rank.state = State::answered;
  rank.has_result = true;
  rank.result = std::move(body);
  go_on_if_all_are_there();
}

// After the task: reading a long result takes time, in which nobody would listen to the others.
void Coordinator::hand_over_results(const TaskHooks& hooks) {
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const std::string result = std::exchange(ranks_[r].result, {});
    if (!std::exchange(ranks_[r].has_result, false) || !hooks.result) continue;
    try {
      hooks.result(static_cast<int>(r), result);
    } catch (const std::bad_alloc&) {  // this process's own trouble
      if (loss_.who.empty() && failure_.who.empty()) throw;
    } catch (const std::exception& problem) {
      drop_misbehaving_rank(r, "a result that makes no sense: " + one_line(problem.what()));
    }
  }
}

void Coordinator::handle_meeting(std::size_t r, std::string body) {
  Rank& rank = ranks_[r];
  const auto call = body.empty() ? Call{} : static_cast<Call>(body.front());
  const bool has_number = body.size() == 1 + sizeof(std::int64_t);
  const bool is_call =
      call == Call::broadcast || ((call == Call::latest || call == Call::gather) && has_number);
  if (!is_call) return drop_misbehaving_rank(r, "a call that there is not");
  if (aborted_ || rank.state != State::working) return count(r);  // it is about to learn of that
  if (rank.meets) return drop_misbehaving_rank(r, "a call while it waited in another one");
  rank.meets = std::move(body);
  rank.met_ns = rank.heard_ns;
  go_on_if_all_are_there();
}

// What a rank may send unasked is bounded: the time that it takes is that of the measurement.
void Coordinator::count(std::size_t r) {
  const double seconds = measure::seconds(measure::now_ns() - began_ns_);
  const double most = kMostTold + kMostToldASecond * seconds;
  if (static_cast<double>(++ranks_[r].told) > most)
    drop_misbehaving_rank(r, "far too many messages");
}

// All ranks make the same calls in the same order, and then all have a result.
void Coordinator::go_on_if_all_are_there() {
  if (aborted_) return;
  for (const Rank& rank : ranks_) {
    if (!rank.meets && !rank.has_result) return;
  }
  if (!all_are_at_the_same_point() || !ranks_[0].meets) return;
  const auto value = [](const Rank& rank) { return std::string_view(*rank.meets).substr(1); };
  const auto call = static_cast<Call>(ranks_[0].meets->front());
  if (call == Call::broadcast) return answer_call(std::string(value(ranks_[0])));
  if (call == Call::gather) {
    std::string all;
    for (const Rank& rank : ranks_) all += value(rank);
    return answer_call(all);
  }
  if (!all_moments_are_plausible()) return;
  for (const Rank& rank : ranks_)
    latest_ns_ = std::max(latest_ns_, value_of<std::int64_t>(value(rank)));
  answer_call(std::string(bytes_of(latest_ns_)));
}

// If not, the rank is lost that is where the fewest are; of two halves, the one without rank 0.
bool Coordinator::all_are_at_the_same_point() {
  const auto point = [](const Rank& rank) { return rank.meets ? rank.meets->front() : kHasResult; };
  const auto there = [&](char where) {
    return std::ranges::count_if(ranks_, [&](const Rank& rank) { return point(rank) == where; });
  };
  char usual = point(ranks_[0]);
  for (const Rank& rank : ranks_) {
    if (there(point(rank)) > there(usual)) usual = point(rank);
  }
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    if (point(ranks_[r]) == usual) continue;
    drop_misbehaving_rank(r, ranks_[r].meets ? "a call that the other ranks do not make"
                                             : "a result while the other ranks go on");
    return false;
  }
  return true;
}

// A moment of which ranks want the latest is the end of a step that has just begun, or begins when
// the one before ends: the same time ahead for all. One far in the future would have all of them
// sleep until then.
bool Coordinator::all_moments_are_plausible() {
  constexpr double kSlack = 10e9;  // ns: what may hold a rank's message up
  std::vector<double> leads;
  for (const Rank& rank : ranks_) {
    const auto moment = static_cast<double>(value_of<std::int64_t>(rank.meets->substr(1)));
    leads.push_back(moment - static_cast<double>(std::max(rank.met_ns, latest_ns_)));
  }
  const double most = std::max(0.0, std::ranges::min(leads)) + kSlack;
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    if (leads[r] <= most) continue;
    drop_misbehaving_rank(r, "a moment that cannot be");
    return false;
  }
  return true;
}

void Coordinator::answer_call(const std::string& value) {
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    ranks_[r].meets.reset();
    // A rank that waits has read all that went before: there is room, or it is mad.
    if (!ranks_[r].link.connection->send_now(MessageKind::met, value))
      lose(r, std::string(kSilentEnd) + ", or takes no messages");
  }
}

void Coordinator::look_for_losses() {
  const std::int64_t now = measure::now_ns();
  // If this process was stopped itself, it has yet to read what the ranks sent meanwhile.
  const bool away = now - looked_ns_ > 4 * kBeatNs;
  looked_ns_ = now;
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    Rank& rank = ranks_[r];
    if (away) rank.heard_ns = now;
    if (away && rank.part_ns != 0) rank.part_ns = now;
    if (rank.state == State::working && now - rank.heard_ns > kSilenceNs)
      lose(r, "gave no sign of life: stopped, or out of reach");
    if (rank.state != State::lost && rank.part_ns != 0 && now - rank.part_ns > kMessageNs)
      drop_misbehaving_rank(r, "a message that does not end");
  }
  if (!watch_) return;
  if (const auto lost = watch_()) lose(static_cast<std::size_t>(lost->rank), lost->reason);
}

void Coordinator::lose(std::size_t r, const std::string& reason) {
  Rank& rank = ranks_[r];
  // The operating system may say better why a connection has ended.
  if (rank.state == State::lost && loss_.who == rank.link.name && loss_.why.starts_with(kSilentEnd))
    loss_ = {};
  if (loss_.who.empty()) loss_ = {rank.link.name, reason};
  rank.state = State::lost;
  abort_all();
}

void Coordinator::drop_misbehaving_rank(std::size_t r, const std::string& what) {
  if (ranks_[r].state == State::lost) return;
  ranks_[r].link.connection->shut_down();  // it ends itself, as an orphan
  ranks_[r].has_result = false;
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
    if (rank.state == State::working) rank.link.connection->send_now(MessageKind::abort, {});
  }
}

bool Coordinator::all_done() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& r) {
    return r.state == State::answered || r.state == State::lost;
  });
}

}  // namespace feedrate::ranks
