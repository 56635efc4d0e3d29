#include "ranks/join_ranks.h"

#include <poll.h>

#include "base/error.h"
#include "measure/clock.h"
#include "ranks/hello.h"
#include "ranks/tcp.h"

namespace feedrate::ranks {
namespace {

// How far the coordinator's clock is ahead of ours, by the exchange that took least time (as NTP
// does: RFC 5905, section 8, for one server).
std::int64_t clock_offset(Connection& connection) {
  std::int64_t shortest = 0, offset = 0;
  for (int i = 0; i < kClockExchanges; ++i) {
    const std::int64_t asked = measure::now_ns();
    connection.send(MessageKind::clock);
    const auto answer = connection.receive(/*wait=*/true);
    const std::int64_t answered = measure::now_ns();
    if (!answer || answer->body.size() != sizeof(std::int64_t))
      throw Error("rank 0", "went away while the clocks were compared");
    if (i == 0 || answered - asked < shortest) {
      shortest = answered - asked;
      offset = value_of<std::int64_t>(answer->body) - (asked + (answered - asked) / 2);
    }
  }
  return offset;
}

}  // namespace

std::unique_ptr<SocketGroup> join_ranks(const Launch& launch, const RunIdentity& identity,
                                        std::int64_t patience_ns, std::int64_t silence_ns) {
  const std::int64_t deadline = measure::now_ns() + patience_ns;
  const auto nobody = [&] {
    return Error("rank " + std::to_string(launch.rank),
                 "found no rank 0 at " + launch.host + ":" + std::to_string(launch.port),
                 "see what rank 0 says; check MASTER_ADDR and MASTER_PORT");
  };
  int stream = -1;
  while ((stream = connect_to(launch.host, launch.port)) < 0) {
    if (measure::now_ns() > deadline) throw nobody();
    measure::sleep_until_ns(measure::now_ns() + 100'000'000);
  }
  Connection connection(stream);
  connection.send(MessageKind::hello, hello_of(launch, identity).dump());
  auto answer = connection.receive(/*wait=*/false);
  while (!answer && !connection.closed()) {  // another service may listen there, and say nothing
    if (measure::now_ns() > deadline) throw nobody();
    pollfd wanted{.fd = stream, .events = POLLIN, .revents = 0};
    poll(&wanted, 1, 100);
    answer = connection.receive(/*wait=*/false);
  }
  if (!answer || answer->kind != MessageKind::welcome) return nullptr;
  const nlohmann::json welcome = nlohmann::json::parse(answer->body, nullptr, false);
  const bool same_clock = !welcome.is_object() || welcome.value("same_clock", true);
  const std::int64_t ahead_ns = same_clock ? 0 : clock_offset(connection);
  return std::make_unique<SocketGroup>(std::move(connection), launch.rank, launch.size, launch.host,
                                       launch.local_rank, ahead_ns, silence_ns);
}

}  // namespace feedrate::ranks
