#include <gmock/gmock.h>
#include <sys/socket.h>

#include <functional>
#include <thread>

#include "base/error.h"
#include "measure/clock.h"
#include "ranks/coordinator.h"
#include "ranks/socket_group.h"
#include "tests/message_of.h"

namespace feedrate::tests {
namespace {

// Ranks as threads of the test, each behind a stream of its own; `body` is what each does with
// every task.
class Ranks {
 public:
  using Body = std::function<std::string(ranks::SocketGroup& group, const std::string& task)>;
  Ranks(int count, const Body& body) {
    for (int r = 0; r < count; ++r) {
      int ends[2];
      EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
      links_.push_back({std::make_unique<ranks::Connection>(ends[0]), "rank " + std::to_string(r)});
      threads_.emplace_back([=] {
        ranks::SocketGroup group(ranks::Connection(ends[1]), r, count, "127.0.0.1", r);
        while (const auto task = group.next_task()) {
          try {
            group.finish(body(group, *task));
          } catch (const std::exception& error) {
            group.fail(error.what());
          }
        }
      });
    }
  }
  std::vector<ranks::RankLink> links() { return std::move(links_); }

 private:
  std::vector<ranks::RankLink> links_;
  std::vector<std::jthread> threads_;
};

// A rank that still has a task when its coordinator goes ends its process, which here is the
// test's.
void outlast(std::int64_t deadline) { measure::sleep_until_ns(deadline); }

constexpr std::int64_t kGrace = 10'000'000'000;

TEST(Coordinator, CarriesTheRanksCalls) {
  Ranks ranks(3, [](ranks::SocketGroup& group, const std::string& task) {
    const double real = group.all_reduce_max(0.5 * group.rank());
    const std::int64_t whole = group.all_reduce_max(std::int64_t{-7} + group.rank());
    const std::string text = group.broadcast("from " + std::to_string(group.rank()));
    group.barrier();
    return task + ": " + std::to_string(real) + " " + std::to_string(whole) + " " + text;
  });
  ranks::Coordinator coordinator(ranks.links(), {}, kGrace);
  for (const std::string task : {"one", "two"}) {
    const auto results = coordinator.run(task, {}, {});
    ASSERT_TRUE(results);
    EXPECT_THAT(*results, testing::Each(task + ": 1.000000 -5 from 0"));
  }
  coordinator.end();
}

TEST(Coordinator, HandsOnWhatTheFirstRankReports) {
  Ranks ranks(2, [](ranks::SocketGroup& group, const std::string&) {
    if (group.rank() == 0) group.report("half");
    group.barrier();
    return std::string();
  });
  ranks::Coordinator coordinator(ranks.links(), {}, kGrace);
  std::vector<std::string> seen;
  coordinator.run("", [&](const std::string& p) { seen.push_back(p); }, {});
  EXPECT_THAT(seen, testing::ElementsAre("half"));
}

// The others wait in a call for the one that fails; they end, and are ready for the next task.
TEST(Coordinator, NamesTheRankThatFailsAndGoesOn) {
  Ranks ranks(3, [](ranks::SocketGroup& group, const std::string& task) {
    if (task == "bad" && group.rank() == 1) throw Error("a file", "is torn");
    group.barrier();
    return std::string("fine");
  });
  ranks::Coordinator coordinator(ranks.links(), {}, kGrace);
  EXPECT_THAT(message_of([&] { coordinator.run("bad", {}, {}); }),
              testing::HasSubstr("rank 1: a file: is torn"));
  const auto results = coordinator.run("good", {}, {});
  ASSERT_TRUE(results);
  EXPECT_THAT(*results, testing::Each("fine"));
}

TEST(Coordinator, EndsTheTaskWhenItIsStopped) {
  Ranks ranks(2, [](ranks::SocketGroup& group, const std::string&) -> std::string {
    while (true) group.barrier();
  });
  ranks::Coordinator coordinator(ranks.links(), {}, kGrace);
  std::stop_source stop;
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop.request_stop();
  });
  EXPECT_FALSE(coordinator.run("", {}, stop.get_token()));
}

// One rank is gone; another one, whose connection to it broke, tells of that first.
TEST(Coordinator, ALostRankIsTheCauseOfWhatTheOthersSay) {
  Ranks ranks(3, [](ranks::SocketGroup& group, const std::string&) -> std::string {
    if (group.rank() == 0) throw Error("Gloo", "connection closed by peer");
    if (group.rank() == 2)
      measure::sleep_until_ns(measure::now_ns() + 1'000'000'000);  // hangs in a library's call
    group.barrier();
    return {};
  });
  bool told = false;
  const std::int64_t start = measure::now_ns();
  ranks::Coordinator coordinator(
      ranks.links(),
      [&]() -> std::optional<ranks::LostRank> {
        if (told || measure::now_ns() - start < 100'000'000) return std::nullopt;
        told = true;
        return ranks::LostRank{2, "was killed (SIGKILL)"};
      },
      kGrace);
  EXPECT_THAT(message_of([&] { coordinator.run("", {}, {}); }),
              testing::HasSubstr("rank 2: was killed (SIGKILL)"));
  outlast(start + 1'500'000'000);
}

TEST(Coordinator, ARankThatDoesNotEndIsGivenUp) {
  Ranks ranks(2, [](ranks::SocketGroup& group, const std::string&) -> std::string {
    if (group.rank() == 0) throw Error("memory", "exhausted");
    measure::sleep_until_ns(measure::now_ns() + 1'500'000'000);
    return {};
  });
  ranks::Coordinator coordinator(ranks.links(), {}, /*grace_ns=*/300'000'000);
  const std::int64_t start = measure::now_ns();
  EXPECT_THAT(message_of([&] { coordinator.run("", {}, {}); }),
              testing::HasSubstr("rank 0: memory: exhausted"))
      << "the cause, not who is slow to end";
  EXPECT_LT(measure::now_ns() - start, 1'400'000'000);
  EXPECT_THAT(message_of([&] { coordinator.run("", {}, {}); }), testing::HasSubstr("lost before"));
  outlast(start + 2'000'000'000);
}

TEST(Coordinator, ARankWhoseStreamEndsIsLost) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  std::vector<ranks::RankLink> links;
  links.push_back({std::make_unique<ranks::Connection>(ends[0]), "rank 0 (pid 4711)"});
  std::jthread rank([&] {
    ranks::Connection connection(ends[1]);
    while (const auto message = connection.receive(true)) {
      if (message->kind == ranks::MessageKind::task) return;
    }
  });
  ranks::Coordinator coordinator(std::move(links), {}, kGrace);
  EXPECT_THAT(message_of([&] { coordinator.run("", {}, {}); }),
              testing::HasSubstr("rank 0 (pid 4711): ended without a word"));
}

}  // namespace
}  // namespace feedrate::tests
