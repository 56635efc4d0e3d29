#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "base/error.h"
#include "ranks/join_ranks.h"
#include "ranks/meet_ranks.h"
#include "ranks/tcp.h"
#include "tests/message_of.h"

namespace feedrate::tests {
namespace {

constexpr std::int64_t kPatience = 20'000'000'000;

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
  const int silent = ranks::listen_at("127.0.0.1", port);
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
  const int taken = ranks::listen_at("127.0.0.1", port);
  EXPECT_THAT(
      message_of([=] { ranks::meet_ranks(launch_at(port, 0, 2), {}, kPatience, {}); }),
      testing::AllOf(testing::HasSubstr(std::to_string(port)), testing::HasSubstr("MASTER_PORT")));
  close(taken);
}

TEST(Rendezvous, RanksThatDisagreeAreNamed) {
  const struct {
    ranks::RunIdentity identity;
    const char* reason;
  } cases[] = {{{"another", "o"}, "another program"}, {{"p", "another"}, "other options"}};
  for (const auto& c : cases) {
    const int port = next_port();
    std::jthread other([&] {
      EXPECT_FALSE(ranks::join_ranks(launch_at(port, 1, 2), c.identity, kPatience))
          << "rank 0 says why";
    });
    EXPECT_THAT(
        message_of([&] { ranks::meet_ranks(launch_at(port, 0, 2), {"p", "o"}, kPatience, {}); }),
        testing::AllOf(testing::HasSubstr("rank 1"), testing::HasSubstr(c.reason)));
  }
}

}  // namespace
}  // namespace feedrate::tests
