#include "ranks/meet_ranks.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "measure/clock.h"
#include "ranks/greeting.h"
#include "ranks/meeting_point.h"
#include "ranks/patience.h"

namespace feedrate::ranks {
namespace {

constexpr std::size_t kMostStrangers = 128;  // at least; ranks may all come at once
constexpr int kMostCallersATurn = 64;
constexpr int kMostBeatsATurn = 16;
constexpr int kMostSaid = 16;  // lines about ranks that went away
constexpr std::int64_t kFirstNewsNs = 10'000'000'000, kNewsNs = 30'000'000'000;
constexpr std::int64_t kGreetingNs = 5'000'000'000;  // from the call to the proof
constexpr int kLookMs = 100;

// A connection that has not proven itself yet.
struct Stranger {
  std::unique_ptr<Connection> connection;
  CoordinatorsGreeting greeting;
  std::string from;
  std::int64_t since_ns = 0;
};

std::string name_of(const Hello& hello) { return rank_name(hello.rank, hello.host, hello.pid); }

class Rendezvous {
 public:
  Rendezvous(const Launch& launch, const RunIdentity& identity, const Say& say)
      : launch_(launch),
        identity_(identity),
        say_(say),
        place_(std::make_unique<MeetingPoint>(launch, say)),
        turned_away_(say),
        ranks_(static_cast<std::size_t>(launch.size) - 1),
        most_strangers_(std::max(kMostStrangers, 2 * ranks_.size())) {}

  std::vector<RankLink> wait(std::int64_t patience_ns, std::stop_token stop) {
    const std::int64_t deadline = measure::now_ns() + patience_ns;
    while (!missing().empty()) {
      if (stop.stop_requested()) return {};
      if (measure::now_ns() > deadline) give_up(patience_ns);
      look();
      beat();
      say_who_is_missing(deadline);
    }
    for (const Stranger& stranger : strangers_)
      turned_away_.add(stranger.from, "had not proven itself when all ranks were there");
    turned_away_.close();
    place_.reset();  // nobody comes any more
    strangers_.clear();
    for (Rank& rank : ranks_) {
      if (!rank.same_clock && !tell_time(rank, stop)) return {};
    }
    std::vector<RankLink> links;
    for (Rank& rank : ranks_) links.push_back(std::move(rank.link));
    return links;
  }

 private:
  struct Rank {
    RankLink link;
    bool same_clock = true;
  };

  std::vector<int> missing() const {
    std::vector<int> ranks;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      if (!ranks_[i].link.connection) ranks.push_back(static_cast<int>(i) + 1);
    }
    return ranks;
  }
  std::string place() const { return launch_.host + ":" + std::to_string(launch_.port); }

  // "rank 1, rank 4 and 12 more"
  std::string missing_text() const {
    constexpr std::size_t kNamed = 8;
    std::vector<int> ranks = missing();
    const std::size_t more = ranks.size() - std::min(ranks.size(), kNamed);
    ranks.resize(ranks.size() - more);
    return listed(ranks, [](int rank) { return "rank " + std::to_string(rank); }) +
           (more == 0 ? "" : " and " + std::to_string(more) + " more");
  }

  void say_who_is_missing(std::int64_t deadline) {
    const std::int64_t now = measure::now_ns();
    if (!say_ || now < news_ns_) return;
    news_ns_ = now + kNewsNs;
    say_("waiting at " + place() + " for " + missing_text() +
         format(", %.0f s more", measure::seconds(deadline - now)));
  }

  [[noreturn]] void give_up(std::int64_t patience_ns) const {
    const std::string strangers = turned_away_.summary();
    throw Error(missing_text(),
                "did not come to " + place() + " within " +
                    std::to_string(patience_ns / 1'000'000'000) + " s" +
                    (strangers.empty() ? "" : " (" + strangers + ")"),
                turned_away_.had_no_proof()
                    ? "give all ranks the same FEEDRATE_SECRET_FILE (docs/distributed.md)"
                    : launch_.launcher + " says that there are " + std::to_string(launch_.size) +
                          " ranks: see the log of the missing one");
  }

  // Answers a rank on another machine that asks for the time: the coordinator's part of
  // clock_offset(). False if `stop` came first.
  bool tell_time(Rank& rank, const std::stop_token& stop) {
    const std::int64_t deadline = measure::now_ns() + kGreetingNs;
    Connection& connection = *rank.link.connection;
    connection.send_now(MessageKind::clock, {});
    for (int told = 0; told < kClockExchanges;) {
      if (stop.stop_requested()) return false;
      pollfd wanted{.fd = connection.descriptor(), .events = POLLIN, .revents = 0};
      poll(&wanted, 1, kLookMs);
      const auto asked = connection.receive(/*wait=*/false);
      if (asked && asked->kind == MessageKind::clock) {
        connection.send_now(MessageKind::clock, bytes_of(measure::now_ns()));
        ++told;
        continue;
      }
      if (!connection.fault().empty())
        throw Error(rank.link.name, "sent what no rank sends: " + connection.fault());
      if (connection.closed()) throw Error(rank.link.name, "ended without a word");
      if (measure::now_ns() > deadline)
        throw Error(rank.link.name, "did not compare its clock with rank 0's within 5 s");
      beat();
    }
    return true;
  }

  // Sends a sign of life to the ranks that are there and wait for the others.
  void beat() {
    if (measure::now_ns() - beat_ns_ < kBeatNs) return;
    beat_ns_ = measure::now_ns();
    for (const Rank& rank : ranks_) {
      if (rank.link.connection) rank.link.connection->send_now(MessageKind::beat, {});
    }
  }

  void look() {
    std::vector<pollfd> wanted = {{.fd = place_->listener(), .events = POLLIN, .revents = 0}};
    for (const Rank& rank : ranks_) {
      const int stream = rank.link.connection ? rank.link.connection->descriptor() : -1;
      wanted.push_back({.fd = stream, .events = POLLIN, .revents = 0});
    }
    for (const Stranger& stranger : strangers_)
      wanted.push_back({.fd = stranger.connection->descriptor(), .events = POLLIN, .revents = 0});
    poll(wanted.data(), wanted.size(), kLookMs);
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      if (wanted[1 + i].revents != 0) hear(ranks_[i]);
    }
    const std::int64_t now = measure::now_ns();
    std::deque<Stranger> all = std::exchange(strangers_, {});
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool spoke = wanted[1 + ranks_.size() + i].revents != 0;
      if (hear(all[i], spoke, now)) strangers_.push_back(std::move(all[i]));
    }
    if (wanted[0].revents != 0) admit();
  }

  // A rank that is there says nothing but that it is alive. If it goes away, another one may come
  // in its place: a launcher may start it again.
  void hear(Rank& rank) {
    Connection& connection = *rank.link.connection;
    bool alive = true;
    for (int i = 0; i < kMostBeatsATurn && alive; ++i) {
      const auto message = connection.receive(/*wait=*/false);
      if (!message) break;
      alive = message->kind == MessageKind::beat;
    }
    if (alive && !connection.closed()) return;
    if (say_ && ++gone_ <= kMostSaid)
      say_(rank.link.name + ": went away while the others were awaited; it may come again");
    rank = {};
  }

  // Whether to wait for more from this one.
  bool hear(Stranger& stranger, bool spoke, std::int64_t now) {
    if (spoke) {
      if (const auto message = stranger.connection->receive(/*wait=*/false)) {
        greet(stranger, *message);
        return false;
      }
      if (stranger.connection->closed()) {
        const std::string& fault = stranger.connection->fault();
        turned_away_.add(stranger.from,
                         fault.empty() ? "hung up before it had proven itself" : "sent " + fault);
        return false;
      }
    }
    if (now - stranger.since_ns <= kGreetingNs) return true;
    turn_away(stranger, "took more than 5 s to prove itself");
    return false;
  }

  // Lets new callers in. A stranger leaves where there would be too many: a rank proves itself at
  // once, and comes again if it was turned away all the same.
  void admit() {
    for (int i = 0; i < kMostCallersATurn; ++i) {
      const auto caller = place_->accept();
      if (!caller) return;
      if (caller->stream < 0) return make_room();
      auto connection = std::make_unique<Connection>(caller->stream, Connection::Trust::stranger);
      if (!caller->objection.empty()) {
        turned_away_.add(caller->from, caller->objection);
        continue;
      }
      if (strangers_.size() == most_strangers_) make_room();
      CoordinatorsGreeting greeting(identity_.secret);
      connection->send_now(MessageKind::challenge, greeting.challenge());
      strangers_.push_back(
          {std::move(connection), std::move(greeting), caller->from, measure::now_ns()});
    }
  }

  void make_room() {
    if (strangers_.empty()) {  // this process has no descriptor left for anybody
      measure::sleep_until_ns(measure::now_ns() + 10'000'000);
      return;
    }
    const auto leaves = std::ranges::find(strangers_, busiest_address(), &Stranger::from);
    turned_away_.add(leaves->from, "was one of too many at once");
    strangers_.erase(leaves);
  }

  // Of which most strangers come; of several, that of the oldest stranger. So a flood from one
  // address does not drive out a rank that is slow to answer.
  std::string busiest_address() const {
    std::map<std::string, int> count;
    for (const Stranger& stranger : strangers_) ++count[stranger.from];
    return std::ranges::max_element(strangers_, {},
                                    [&](const Stranger& s) { return count[s.from]; })
        ->from;
  }

  void turn_away(Stranger& stranger, const std::string& reason) {
    turned_away_.add(stranger.from, reason);
    stranger.connection->send_now(MessageKind::refused, stranger.greeting.refusal(reason));
  }

  void greet(Stranger& stranger, const Message& message) {
    if (message.kind != MessageKind::hello) return turn_away(stranger, "sent no hello");
    const auto hello = stranger.greeting.read_hello(message.body);
    if (!hello) {
      const std::string reason = identity_.secret
                                     ? "has not the secret of this run"
                                     : "sent no hello that this run expects (it may have a secret; "
                                       "rank 0 has none)";
      turned_away_.add_without_proof(stranger.from, reason);
      stranger.connection->send_now(MessageKind::refused, stranger.greeting.refusal(reason));
      return;
    }
    if (hello->size != launch_.size || hello->rank < 1 || hello->rank >= launch_.size)
      return turn_away(stranger, "is of another run, with another number of ranks");
    if (hello->job != launch_.job) return turn_away(stranger, "is of another job");
    Rank& rank = ranks_[static_cast<std::size_t>(hello->rank) - 1];
    if (rank.link.connection) hear(rank);  // it may have gone away just now
    if (rank.link.connection)
      return turn_away(stranger, "says that it is rank " + std::to_string(hello->rank) +
                                     ", which is there already");
    if (hello->program != identity_.program)
      return refuse(stranger, *hello, "runs another program than rank 0",
                    "install the same one on all machines");
    if (hello->options != identity_.options)
      return refuse(stranger, *hello, "was started with other options than rank 0",
                    "give all ranks the same command line");
    welcome(stranger, *hello, rank);
  }

  // A proven rank of this run that cannot take part ends it; anybody may claim to be one.
  void refuse(Stranger& stranger, const Hello& hello, const std::string& reason,
              const std::string& remedy) {
    if (!launch_.one_machine() && !identity_.secret) return turn_away(stranger, reason);
    stranger.connection->send_now(MessageKind::refused, stranger.greeting.refusal(reason));
    throw Error(name_of(hello), reason, remedy);
  }

  void welcome(Stranger& stranger, const Hello& hello, Rank& rank) {
    const bool same_clock = hello.boot == boot_id();
    if (!stranger.connection->send_now(MessageKind::welcome, stranger.greeting.welcome(same_clock)))
      return turned_away_.add(stranger.from, "went away while it was welcomed");
    stranger.connection->trust();
    rank = {{std::move(stranger.connection), name_of(hello)}, same_clock};
  }

  const Launch& launch_;
  const RunIdentity& identity_;
  const Say& say_;
  std::unique_ptr<MeetingPoint> place_;  // null once all are there
  TurnedAway turned_away_;
  std::vector<Rank> ranks_;
  const std::size_t most_strangers_;
  std::deque<Stranger> strangers_;  // the oldest first
  std::int64_t beat_ns_ = 0;
  std::int64_t news_ns_ = measure::now_ns() + kFirstNewsNs;  // when to say who is missing
  int gone_ = 0;                                             // ranks that went away again
};

void warn_without_secret(const Launch& launch, const RunIdentity& identity, const Say& say) {
  if (launch.one_machine() || identity.secret || !say) return;
  say("ranks on several machines, and no secret: whoever reaches " + launch.host + ":" +
      std::to_string(launch.port) +
      " can pass for a rank and falsify the results; set FEEDRATE_SECRET_FILE "
      "(docs/distributed.md)");
}

}  // namespace

std::vector<RankLink> meet_ranks(const Launch& launch, const RunIdentity& identity,
                                 std::int64_t patience_ns, std::stop_token stop, const Say& say) {
  Rendezvous rendezvous(launch, identity, say);
  warn_without_secret(launch, identity, say);
  return rendezvous.wait(patience_ns, std::move(stop));
}

}  // namespace feedrate::ranks
