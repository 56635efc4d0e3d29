#include "ranks/meet_ranks.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "measure/clock.h"
#include "ranks/hello.h"
#include "ranks/patience.h"
#include "ranks/tcp.h"

namespace feedrate::ranks {
namespace {

using Json = nlohmann::json;

// The coordinator's part of clock_offset(). False: the rank has gone, or is too slow to be of use.
bool tell_time(Connection& rank) {
  const std::int64_t deadline = measure::now_ns() + 5'000'000'000;
  for (int told = 0; told < kClockExchanges && measure::now_ns() < deadline && !rank.closed();) {
    pollfd wanted{.fd = rank.descriptor(), .events = POLLIN, .revents = 0};
    poll(&wanted, 1, 100);
    if (const auto asked = rank.receive(/*wait=*/false);
        !asked || asked->kind != MessageKind::clock)
      continue;
    rank.send(MessageKind::clock, bytes_of(measure::now_ns()));
    if (++told == kClockExchanges) return true;
  }
  return false;
}

class Rendezvous {
 public:
  Rendezvous(const Launch& launch, const RunIdentity& identity)
      : launch_(launch),
        identity_(identity),
        listener_(
            listen_at(launch.local_size == launch.size ? launch.host : kAnyAddress, launch.port)),
        links_(static_cast<std::size_t>(launch.size) - 1) {}
  ~Rendezvous() { close(listener_); }

  std::vector<RankLink> wait(std::int64_t patience_ns, std::stop_token stop) {
    const std::int64_t deadline = measure::now_ns() + patience_ns;
    while (missing() != 0) {
      if (stop.stop_requested()) return {};
      if (measure::now_ns() > deadline) {
        refuse("rank " + std::to_string(missing()),
               "did not come to " + launch_.host + ":" + std::to_string(launch_.port) + " within " +
                   std::to_string(patience_ns / 1'000'000'000) + " s",
               launch_.launcher + " said that there are " + std::to_string(launch_.size) +
                   " ranks: see what it says of that one");
      }
      look();
      beat();
    }
    return std::move(links_);
  }

 private:
  // The first rank that is not there; 0: all are.
  int missing() const {
    for (std::size_t i = 0; i < links_.size(); ++i) {
      if (!links_[i].connection) return static_cast<int>(i) + 1;
    }
    return 0;
  }

  // Sends a sign of life to the ranks that are there and wait for the others.
  void beat() {
    if (measure::now_ns() - beat_ns_ < kBeatNs) return;
    beat_ns_ = measure::now_ns();
    for (const RankLink& link : links_) {
      if (link.connection) link.connection->send(MessageKind::beat);
    }
  }

  void look() {
    std::vector<pollfd> wanted = {{.fd = listener_, .events = POLLIN, .revents = 0}};
    for (const auto& stranger : strangers_)
      wanted.push_back({.fd = stranger->descriptor(), .events = POLLIN, .revents = 0});
    poll(wanted.data(), wanted.size(), 100);
    for (auto& stranger : strangers_) {
      if (const auto message = stranger->receive(false)) greet(std::move(stranger), *message);
    }
    std::erase_if(strangers_, [](const auto& s) { return !s || s->closed(); });
    for (int stream = accept_at(listener_); stream >= 0; stream = accept_at(listener_)) {
      strangers_.push_back(std::make_unique<Connection>(stream));
    }
  }

  // Closes a connection that does not send what a rank sends.
  void greet(std::unique_ptr<Connection> stranger, const Message& message) {
    const Json hello = Json::parse(message.body, nullptr, /*allow_exceptions=*/false);
    if (message.kind != MessageKind::hello || !hello.is_object() ||
        hello.value("protocol", "") != kProtocol)
      return;
    try {
      welcome(std::move(stranger), hello);
    } catch (const Json::exception&) {  // not what a rank says
    }
  }

  void welcome(std::unique_ptr<Connection> stranger, const Json& hello) {
    const int rank = hello.value("rank", -1);
    const std::string name = "rank " + std::to_string(rank) + " on " + hello.value("host", "?") +
                             " (pid " + std::to_string(hello.value("pid", 0)) + ")";
    if (rank < 1 || hello.value("size", 0) != launch_.size)
      return refuse(name, "belongs to another run, with another number of ranks",
                    "give each run a MASTER_PORT of its own");
    if (rank >= launch_.size || links_[static_cast<std::size_t>(rank) - 1].connection)
      return refuse(name, "has connected twice", "give each run a MASTER_PORT of its own");
    if (hello.value("program", "") != identity_.program)
      return refuse(name, "runs another program than rank 0",
                    "install the same one on all machines");
    if (hello.value("options", "") != identity_.options)
      return refuse(name, "was started with other options than rank 0",
                    "give all ranks the same command line");
    const bool same_clock = hello.value("boot", "") == boot_id();
    stranger->send(MessageKind::welcome, Json{{"same_clock", same_clock}}.dump());
    if (!same_clock && !tell_time(*stranger)) return;
    links_[static_cast<std::size_t>(rank) - 1] = {std::move(stranger), name};
  }

  [[noreturn]] void refuse(const std::string& who, const std::string& why,
                           const std::string& remedy) {
    // The others end when their connections close; only this process says what is wrong.
    throw Error(who, why, remedy);
  }

  const Launch& launch_;
  const RunIdentity& identity_;
  const int listener_;
  std::vector<RankLink> links_;
  std::vector<std::unique_ptr<Connection>> strangers_;
  std::int64_t beat_ns_ = 0;
};

}  // namespace

std::vector<RankLink> meet_ranks(const Launch& launch, const RunIdentity& identity,
                                 std::int64_t patience_ns, std::stop_token stop) {
  return Rendezvous(launch, identity).wait(patience_ns, std::move(stop));
}

}  // namespace feedrate::ranks
