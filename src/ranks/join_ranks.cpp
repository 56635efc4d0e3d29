#include "ranks/join_ranks.h"

#include <poll.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "measure/clock.h"
#include "ranks/greeting.h"
#include "ranks/meeting_point.h"

namespace feedrate::ranks {
namespace {

constexpr std::int64_t kAgainNs = 100'000'000;       // between two attempts
constexpr std::int64_t kAttemptNs = 10'000'000'000;  // rank 0 may have many to look at

// The next message that is no sign of life; nothing if the other end is gone or `deadline` came.
std::optional<Message> next_message(Connection& connection, std::int64_t deadline) {
  while (!connection.closed() && measure::now_ns() < deadline) {
    if (auto message = connection.receive(/*wait=*/false)) {
      if (message->kind != MessageKind::beat) return message;
      continue;
    }
    pollfd wanted{.fd = connection.descriptor(), .events = POLLIN, .revents = 0};
    if (!connection.closed()) poll(&wanted, 1, 100);
  }
  return std::nullopt;
}

// How far the coordinator's clock is ahead of ours, by the exchange that took least time (as NTP
// does: RFC 5905, section 8, for one server). The coordinator begins, when all ranks are there.
std::int64_t clock_offset(Connection& connection, std::int64_t deadline) {
  const auto time = [&] {
    const auto answer = next_message(connection, deadline);
    if (!answer || answer->kind != MessageKind::clock)
      throw Error("rank 0", "went away while the clocks were compared");
    return value_of<std::int64_t>(answer->body);
  };
  time();
  std::int64_t shortest = 0, offset = 0;
  for (int i = 0; i < kClockExchanges; ++i) {
    const std::int64_t asked = measure::now_ns();
    connection.send(MessageKind::clock);
    const std::int64_t theirs = time();
    const std::int64_t answered = measure::now_ns();
    if (i == 0 || answered - asked < shortest) {
      shortest = answered - asked;
      offset = theirs - (asked + (answered - asked) / 2);
    }
  }
  return offset;
}

// One rank's way to its group.
class Joining {
 public:
  Joining(const Launch& launch, const RunIdentity& identity, std::int64_t patience_ns,
          const Say& say)
      : launch_(launch),
        identity_(identity),
        deadline_(measure::now_ns() + patience_ns),
        say_(say) {}

  struct Joined {
    Connection connection;
    bool same_clock;
  };
  // Comes again where rank 0 is not there yet, or let go of the connection without a word, as it
  // does when too many are there at once.
  Joined join() {
    while (measure::now_ns() < deadline_) {
      if (const int stream = reach_rank_0(launch_); stream >= 0) {
        if (auto joined = greet(Connection(stream, Connection::Trust::stranger)))
          return std::move(*joined);
      }
      measure::sleep_until_ns(measure::now_ns() + (met_.empty() ? kAgainNs : kAgainNs * 10));
    }
    throw Error(name(), "found no rank 0 at " + place() + (met_.empty() ? "" : ", but " + met_),
                proof_failed_ ? "give all ranks the same FEEDRATE_SECRET_FILE (docs/distributed.md)"
                              : "see what rank 0 says; check MASTER_ADDR and MASTER_PORT");
  }
  std::int64_t deadline() const { return deadline_; }

 private:
  std::string name() const { return "rank " + std::to_string(launch_.rank); }
  std::string place() const { return launch_.host + ":" + std::to_string(launch_.port); }

  // Nothing: no rank 0 of ours is there, or it does not let us in now.
  std::optional<Joined> greet(Connection connection) {
    RanksGreeting greeting(identity_.secret, hello_of(launch_, identity_));
    const std::int64_t deadline = std::min(deadline_, measure::now_ns() + kAttemptNs);
    const auto challenge = next_message(connection, deadline);
    const auto hello = challenge && challenge->kind == MessageKind::challenge
                           ? greeting.hello(challenge->body)
                           : std::nullopt;
    if (!hello) {
      if (challenge || !connection.fault().empty()) meet("another program");
      return std::nullopt;
    }
    connection.send(MessageKind::hello, *hello);
    const auto answer = next_message(connection, deadline);
    if (!answer) return std::nullopt;
    const auto proven = greeting.read_answer(answer->body);
    if (!proven) {
      proof_failed_ = true;
      meet("one that has another secret, or none");
      return std::nullopt;
    }
    if (answer->kind != MessageKind::welcome) {
      throw Error(name(), "rank 0 at " + place() + " turned it away: it " + printable(*proven, 200),
                  "see what rank 0 says");
    }
    connection.trust();
    return Joined{std::move(connection), RanksGreeting::is_same_clock(*proven)};
  }

  // Somebody was there in the place of rank 0; it may yet come.
  void meet(const std::string& who) {
    if (say_ && met_ != who) say_(name() + ": at " + place() + " there is no rank 0 but " + who);
    met_ = who;
  }

  const Launch& launch_;
  const RunIdentity& identity_;
  const std::int64_t deadline_;
  const Say& say_;
  std::string met_;  // who was there in the place of rank 0
  bool proof_failed_ = false;
};

}  // namespace

std::unique_ptr<SocketGroup> join_ranks(const Launch& launch, const RunIdentity& identity,
                                        std::int64_t patience_ns, std::int64_t silence_ns,
                                        const Say& say) {
  Joining joining(launch, identity, patience_ns, say);
  auto [connection, same_clock] = joining.join();
  const std::int64_t ahead_ns =
      same_clock ? 0 : clock_offset(connection, joining.deadline() + patience_ns);
  return std::make_unique<SocketGroup>(std::move(connection), launch.rank, launch.size, launch.host,
                                       launch.local_rank, ahead_ns, silence_ns);
}

}  // namespace feedrate::ranks
