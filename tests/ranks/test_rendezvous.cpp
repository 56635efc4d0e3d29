#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <deque>
#include <filesystem>
#include <iterator>
#include <thread>

#include "base/error.h"
#include "measure/clock.h"
#include "ranks/greeting.h"
#include "ranks/join_ranks.h"
#include "ranks/meet_ranks.h"
#include "ranks/meeting_point.h"
#include "ranks/tcp.h"
#include "tests/message_of.h"
#include "tests/mutated.h"

namespace feedrate::tests {
namespace {

constexpr std::int64_t kPatience = 20'000'000'000;

const ranks::Secret kSecret{"the ranks of this test"};

ranks::Launch launch_at(int port, int rank, int size) {
  return {.launcher = "mpirun", .rank = rank, .size = size, .host = "127.0.0.1", .port = port};
}

// Ports that nothing else of the tests uses; another process may.
int next_port() {
  static int port = 21000 + getpid() % 9000;
  return ++port;
}

TEST(Rendezvous, AllRanksComeInAnyOrderAndStrangersAreLetGo) {
  const int port = next_port();
  std::vector<std::jthread> others;
  for (const int rank : {2, 1}) {
    others.emplace_back([=] {
      if (rank == 1) {
        int stranger = -1;
        while ((stranger = ranks::connect_to("127.0.0.1", port)) < 0)
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
        EXPECT_GT(send(stranger, "GET / HTTP/1.1\r\n\r\n", 18, MSG_NOSIGNAL), 0);
        close(stranger);
      }
      const auto group = ranks::join_ranks(launch_at(port, rank, 3), {"p", "o"}, kPatience);
      ASSERT_TRUE(group);
      EXPECT_EQ(group->rank(), rank);
      EXPECT_EQ(group->on_common_clock(5), 5) << "one machine has one clock";
      EXPECT_FALSE(group->next_task());
    });
  }
  const auto links = ranks::meet_ranks(launch_at(port, 0, 3), {"p", "o"}, kPatience, {});
  ASSERT_EQ(links.size(), 2u);
  EXPECT_THAT(links[0].name, testing::StartsWith("rank 1 on "));
  EXPECT_THAT(links[1].name, testing::StartsWith("rank 2 on "));
  for (const ranks::RankLink& link : links) link.connection->send(ranks::MessageKind::end);
}

// A rank that hears nothing from rank 0 ends its process, here this test's. So rank 0 must also
// send signs of life to ranks that wait for the others.
TEST(Rendezvous, WhoComesEarlyWaitsForTheLate) {
  const int port = next_port();
  std::vector<std::jthread> others;
  for (const int rank : {1, 2}) {
    others.emplace_back([=] {
      if (rank == 2) std::this_thread::sleep_for(std::chrono::milliseconds(4500));
      const auto group =
          ranks::join_ranks(launch_at(port, rank, 3), {}, kPatience, /*silence_ns=*/2'500'000'000);
      ASSERT_TRUE(group);
      EXPECT_FALSE(group->next_task());
    });
  }
  const auto links = ranks::meet_ranks(launch_at(port, 0, 3), {}, kPatience, {});
  ASSERT_EQ(links.size(), 2u);
  for (const ranks::RankLink& link : links) link.connection->send(ranks::MessageKind::end);
}

TEST(Rendezvous, AnotherServiceThatSaysNothingIsNoRank0) {
  const int port = next_port();
  const int silent = ranks::listen_at("127.0.0.1", port).descriptor;
  EXPECT_THAT(message_of([=] { ranks::join_ranks(launch_at(port, 1, 2), {}, 300'000'000); }),
              testing::HasSubstr("found no rank 0"));
  close(silent);
}

TEST(Rendezvous, ARankThatDoesNotComeIsNamed) {
  EXPECT_THAT(
      message_of([] { ranks::meet_ranks(launch_at(next_port(), 0, 2), {}, 200'000'000, {}); }),
      testing::AllOf(testing::HasSubstr("rank 1"), testing::HasSubstr("did not come")));
}

TEST(Rendezvous, NobodyThereIsAnError) {
  EXPECT_THAT(message_of([] { ranks::join_ranks(launch_at(next_port(), 1, 2), {}, 200'000'000); }),
              testing::HasSubstr("found no rank 0"));
}

TEST(Rendezvous, APortInUseIsNamed) {
  const int port = next_port();
  const int taken = ranks::listen_at("127.0.0.1", port).descriptor;
  EXPECT_THAT(
      message_of([=] { ranks::meet_ranks(launch_at(port, 0, 2), {}, kPatience, {}); }),
      testing::AllOf(testing::HasSubstr(std::to_string(port)), testing::HasSubstr("MASTER_PORT")));
  close(taken);
}

// With the secret they have proven that they belong to this run, and it cannot go on.
TEST(Rendezvous, ProvenRanksThatDisagreeAreNamed) {
  const struct {
    ranks::RunIdentity identity;
    const char* reason;
  } cases[] = {{{"another", "o", kSecret}, "another program"},
               {{"p", "another", kSecret}, "other options"}};
  for (const auto& c : cases) {
    const int port = next_port();
    std::jthread other([&] {
      EXPECT_THAT(
          message_of([&] { ranks::join_ranks(launch_at(port, 1, 2), c.identity, kPatience); }),
          testing::AllOf(testing::HasSubstr("turned it away"), testing::HasSubstr(c.reason)));
    });
    EXPECT_THAT(message_of([&] {
                  ranks::meet_ranks(launch_at(port, 0, 2), {"p", "o", kSecret}, kPatience, {});
                }),
                testing::AllOf(testing::HasSubstr("rank 1"), testing::HasSubstr(c.reason)));
  }
}

// A meeting of two ranks at a port of its own, and those who are none of its ranks.
class Meeting {
 public:
  explicit Meeting(ranks::RunIdentity identity, int ranks = 2, bool one_machine = false)
      : identity_(std::move(identity)), size_(ranks), one_machine_(one_machine) {
    rank_0_ = std::jthread([this] {
      try {
        links_ = ranks::meet_ranks(launch(0), identity_, kPatience, {},
                                   [this](const std::string& line) { said_.push_back(line); });
      } catch (const std::exception& error) {
        error_ = error.what();
      }
    });
  }
  ranks::Launch launch(int rank) const {
    ranks::Launch launch = launch_at(port_, rank, size_);
    if (one_machine_) launch.local_size = size_;
    return launch;
  }
  int port() const { return port_; }
  const ranks::RunIdentity& identity() const { return identity_; }
  // A connection to rank 0, as anybody can have it.
  int call() const {
    int stream = -1;
    while ((stream = ranks::reach_rank_0(launch(1))) < 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return stream;
  }
  // Rank `rank` comes, and stays until rank 0 lets it go.
  void join(int rank) {
    others_.emplace_back([this, rank] {
      const auto group = ranks::join_ranks(launch(rank), identity_, kPatience);
      EXPECT_FALSE(group->next_task());
    });
  }
  // What rank 0 said to the user while it waited.
  std::vector<std::string> end() {
    rank_0_.join();
    for (const ranks::RankLink& link : links_) link.connection->send(ranks::MessageKind::end);
    others_.clear();
    links_.clear();
    EXPECT_EQ(error_, "");
    return said_;
  }

 private:
  const ranks::RunIdentity identity_;
  const int size_;
  const bool one_machine_;
  const int port_ = next_port();
  std::vector<std::string> said_;
  std::string error_;
  std::vector<ranks::RankLink> links_;
  std::jthread rank_0_;
  std::vector<std::jthread> others_;
};

// Rank 1's greeting by hand, up to its welcome; `thinks`: between the challenge and the hello.
// Nothing if rank 0 hangs up.
std::optional<ranks::Message> greet(const Meeting& meeting, ranks::Connection& connection,
                                    std::chrono::milliseconds thinks = {}) {
  const auto challenge = connection.receive(true);
  if (!challenge) return std::nullopt;
  std::this_thread::sleep_for(thinks);
  ranks::RanksGreeting greeting(meeting.identity().secret,
                                ranks::hello_of(meeting.launch(1), meeting.identity()));
  connection.send(ranks::MessageKind::hello, *greeting.hello(challenge->body));
  return connection.receive(true);
}

// Whether the other end hangs up.
bool is_hung_up_on(int stream) {
  std::array<char, 65536> rest;
  while (true) {
    const ssize_t n = recv(stream, rest.data(), rest.size(), 0);
    if (n <= 0) return n == 0 || errno == ECONNRESET;
  }
}

// The same without the secret: nobody has proven anything, and the wait goes on.
TEST(Rendezvous, OthersThatDisagreeAreTurnedAway) {
  Meeting meeting({"p", "o"});
  for (const ranks::RunIdentity& other : {ranks::RunIdentity{"another", "o"}, {"p", "another"}})
    EXPECT_THAT(message_of([&] { ranks::join_ranks(meeting.launch(1), other, kPatience); }),
                testing::HasSubstr("turned it away"));
  EXPECT_THAT(
      message_of([&] { ranks::join_ranks(meeting.launch(1), {"p", "o", kSecret}, 1'500'000'000); }),
      testing::HasSubstr("another secret, or none"));
  ranks::Launch larger = meeting.launch(1);
  larger.size = 8;
  EXPECT_THAT(message_of([&] { ranks::join_ranks(larger, {"p", "o"}, kPatience); }),
              testing::HasSubstr("another number of ranks"));
  meeting.join(1);
  EXPECT_THAT(meeting.end(),
              testing::AllOf(testing::Contains(testing::HasSubstr("and no secret")),
                             testing::Contains(testing::HasSubstr("127.0.0.1: turned away: it runs "
                                                                  "another program")),
                             testing::Contains(testing::HasSubstr("other options")),
                             testing::Contains(testing::HasSubstr("another number of ranks"))));
}

TEST(Rendezvous, WhoHasNotTheSecretStaysOut) {
  Meeting meeting({"p", "o", kSecret}, 3);
  for (const ranks::Secret& wrong : {ranks::Secret{}, ranks::Secret{"another secret of a run"}})
    EXPECT_THAT(
        message_of([&] { ranks::join_ranks(meeting.launch(1), {"p", "o", wrong}, 1'500'000'000); }),
        testing::HasSubstr("but one that has another secret, or none"));
  meeting.join(1);
  meeting.join(2);
  const auto said = meeting.end();
  ASSERT_EQ(said.size(), 2u) << "once for each address and reason, and how many they were";
  EXPECT_EQ(said[0], "127.0.0.1: turned away: it has not the secret of this run");
  EXPECT_THAT(said[1], testing::EndsWith(" connections were turned away while the ranks met"));
}

// A launcher may start a rank again that died while the others were awaited.
TEST(Rendezvous, ARankThatWentAwayMayComeAgain) {
  Meeting meeting({"p", "o", kSecret}, 3);
  for (int i = 0; i < 2; ++i) {
    ranks::Connection connection(meeting.call(), ranks::Connection::Trust::stranger);
    const auto answer = greet(meeting, connection);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->kind, ranks::MessageKind::welcome);
  }
  meeting.join(1);
  meeting.join(2);
  const auto said = meeting.end();
  EXPECT_THAT(said,
              testing::ElementsAre(testing::HasSubstr("went away while the others were awaited"),
                                   testing::HasSubstr("went away while the others were awaited")));
}

// It has its place, and says what only a coordinator says.
TEST(Rendezvous, ARankThatTalksWhileItWaitsLosesItsPlace) {
  Meeting meeting({"p", "o", kSecret}, 3);
  ranks::Connection connection(meeting.call(), ranks::Connection::Trust::stranger);
  ASSERT_TRUE(greet(meeting, connection));
  connection.trust();
  connection.send(ranks::MessageKind::task, "{}");
  while (connection.receive(true)) {  // until it is hung up on
  }
  meeting.join(1);
  meeting.join(2);
  EXPECT_THAT(meeting.end(), testing::SizeIs(1));
}

// A rank of the same user's other job, at the same port.
TEST(Rendezvous, AnotherJobsRankIsTurnedAway) {
  Meeting meeting({"p", "o"}, 2, /*one_machine=*/true);
  ranks::Launch other = meeting.launch(1);
  other.job = "4712";
  EXPECT_THAT(message_of([&] { ranks::join_ranks(other, {"p", "another"}, kPatience); }),
              testing::HasSubstr("turned it away: it is of another job"));
  meeting.join(1);
  meeting.end();
}

// Who waits at the port may be anybody: whatever he says, a rank takes no orders from one who
// cannot prove himself, does not end because of him, and finds rank 0 when that comes.
TEST(Rendezvous, ARankBelievesNobodyWithoutTheSecret) {
  const int port = next_port();
  std::vector<std::string> said;
  std::jthread rank([&] {
    const auto group =
        ranks::join_ranks(launch_at(port, 1, 2), {"p", "o", kSecret}, kPatience, ranks::kSilenceNs,
                          [&](const std::string& line) { said.push_back(line); });
    EXPECT_FALSE(group->next_task());
  });
  for (const bool welcomes : {true, false}) {
    const int listener = ranks::listen_at("127.0.0.1", port).descriptor;
    pollfd wanted{.fd = listener, .events = POLLIN, .revents = 0};
    poll(&wanted, 1, 10'000);
    ranks::Connection stranger(accept(listener, nullptr, nullptr),
                               ranks::Connection::Trust::stranger);
    close(listener);
    ranks::CoordinatorsGreeting greeting({});
    stranger.send(ranks::MessageKind::challenge, greeting.challenge());
    EXPECT_TRUE(stranger.receive(true));
    stranger.send(welcomes ? ranks::MessageKind::welcome : ranks::MessageKind::refused,
                  welcomes ? greeting.welcome(true) : greeting.refusal("was naughty"));
    EXPECT_FALSE(stranger.receive(true)) << "it has gone";
  }
  const auto links = ranks::meet_ranks(launch_at(port, 0, 2), {"p", "o", kSecret}, kPatience, {});
  ASSERT_EQ(links.size(), 1u);
  links[0].connection->send(ranks::MessageKind::end);
  rank.join();
  EXPECT_THAT(said, testing::ElementsAre(testing::HasSubstr("one that has another secret")))
      << "once";
}

TEST(Rendezvous, WithinAMachineTheKernelVouches) {
  Meeting meeting({"p", "o"}, 3, /*one_machine=*/true);
  meeting.join(1);
  meeting.join(2);
  EXPECT_THAT(meeting.end(), testing::IsEmpty()) << "neither a secret nor a warning is needed";
}

// 10,000 connections, each with something that is no hello, or with one that was changed on its
// way.
TEST(Strangers, WithMutatedHellosGetNowhere) {
  for (const bool one_machine : {false, true}) {
    const ranks::RunIdentity identity{"p", "o", one_machine ? ranks::Secret{} : kSecret};
    Meeting meeting(identity, 4, one_machine);
    meeting.join(1);
    meeting.join(2);
    Random random(7);
    for (int i = 0; i < 5'000; ++i) {
      ranks::Connection stranger(meeting.call(), ranks::Connection::Trust::stranger);
      const auto challenge = stranger.receive(true);
      if (!challenge) continue;  // one of too many
      ranks::RanksGreeting greeting(identity.secret, ranks::hello_of(meeting.launch(3), identity));
      const std::string sound = *greeting.hello(challenge->body);
      std::string body = mutated(sound, random);
      if (body == sound) continue;
      const auto length = static_cast<std::uint32_t>(body.size());
      std::string frame(ranks::bytes_of(length));
      frame.append(1, static_cast<char>(ranks::MessageKind::hello)).append(body);
      if (random.below(4) == 0) frame = mutated(frame, random);
      send(stranger.descriptor(), frame.data(), frame.size(), MSG_NOSIGNAL);
    }
    meeting.join(3);
    const auto said = meeting.end();
    EXPECT_LE(said.size(), 20u) << "each address and reason once";
  }
}

TEST(Strangers, WhoSendAGigabyteAreHungUpOn) {
  Meeting meeting({"p", "o", kSecret});
  const int stream = meeting.call();
  const std::string block(1 << 20, 'x');
  std::int64_t sent = 0;
  while (sent < (1 << 30)) {
    const ssize_t n = send(stream, block.data(), block.size(), MSG_NOSIGNAL);
    if (n <= 0) break;
    sent += n;
  }
  EXPECT_LT(sent, 64 << 20) << "what the kernel holds";
  EXPECT_TRUE(is_hung_up_on(stream));
  close(stream);
  meeting.join(1);
  meeting.end();
}

// 100 that say nothing, one that says a byte a second: each leaves after some seconds, and a true
// rank comes in meanwhile.
TEST(Strangers, WhoHoldConnectionsKeepNobodyOut) {
  Meeting meeting({"p", "o", kSecret}, 3);
  std::vector<int> silent;
  for (int i = 0; i < 100; ++i) silent.push_back(meeting.call());
  const std::int64_t start = measure::now_ns();
  std::jthread slow([&] {
    const int stream = meeting.call();
    std::string hello("\0\1\0\0\1", 5);  // of 256 bytes: at two a second it takes two minutes
    hello.resize(261, 'x');
    for (std::size_t i = 0; i < hello.size(); ++i) {
      if (send(stream, &hello[i], 1, MSG_NOSIGNAL) <= 0) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }
    EXPECT_LT(measure::now_ns() - start, 20'000'000'000) << "it may not go on for ever";
    close(stream);
  });
  meeting.join(1);
  slow.join();
  for (const int stream : silent) EXPECT_TRUE(is_hung_up_on(stream)), close(stream);
  for (int& stream : silent) stream = meeting.call();
  meeting.join(2);  // late, and 100 strangers hold connections
  meeting.end();
  for (const int stream : silent) close(stream);
}

int connected_from(const char* address, int port) {
  const int stream = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in from{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {}, .sin_zero = {}};
  inet_pton(AF_INET, address, &from.sin_addr);
  sockaddr_in to = from;
  inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  if (bind(stream, reinterpret_cast<const sockaddr*>(&from), sizeof from) == 0 &&
      connect(stream, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0)
    return stream;
  close(stream);
  return -1;
}

// Connections without end from one address; the rank is far away, or slow.
TEST(Strangers, WhoFloodFromOneAddressKeepNobodyOut) {
  Meeting meeting({"p", "o", kSecret}, 3);
  close(meeting.call());  // rank 0 is there
  std::jthread flood([&](std::stop_token stop) {
    std::deque<int> streams;
    while (!stop.stop_requested()) {
      if (const int stream = connected_from("127.0.0.2", meeting.port()); stream >= 0)
        streams.push_back(stream);
      for (; streams.size() > 500; streams.pop_front()) close(streams.front());
    }
    for (const int stream : streams) close(stream);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  for (int i = 0; i < 5; ++i) {
    ranks::Connection connection(meeting.call(), ranks::Connection::Trust::stranger);
    const auto answer = greet(meeting, connection, std::chrono::milliseconds(300));
    ASSERT_TRUE(answer) << "hung up on at try " << i;
    EXPECT_EQ(answer->kind, ranks::MessageKind::welcome);
  }
  meeting.join(1);
  meeting.join(2);
  EXPECT_THAT(meeting.end(), testing::Contains(testing::HasSubstr("127.0.0.2: turned away: it was "
                                                                  "one of too many at once")));
}

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

// More than may wait at once: the oldest leaves.
TEST(Strangers, HoldABoundedNumberOfDescriptors) {
  const std::ptrdiff_t before = open_descriptors();
  Meeting meeting({"p", "o", kSecret});
  std::vector<int> streams;
  for (int i = 0; i < 400; ++i) streams.push_back(meeting.call());
  EXPECT_TRUE(is_hung_up_on(streams.front()));
  EXPECT_LE(open_descriptors() - before - 400, 128 + 8) << "rank 0's, in this process";
  meeting.join(1);
  EXPECT_THAT(meeting.end(), testing::Contains(testing::HasSubstr("was one of too many at once")));
  for (const int stream : streams) close(stream);
}

}  // namespace
}  // namespace feedrate::tests
