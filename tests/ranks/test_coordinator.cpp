#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <limits>
#include <ostream>
#include <stop_token>
#include <string>
#include <thread>

#include "base/error.h"
#include "measure/clock.h"
#include "ranks/coordinator.h"
#include "ranks/socket_group.h"
#include "tests/message_of.h"
#include "tests/mutated.h"

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

// Every rank's result of a task.
std::vector<std::string> results_of(ranks::Coordinator& coordinator, const std::string& task) {
  std::vector<std::string> results(static_cast<std::size_t>(coordinator.size()));
  const ranks::TaskHooks hooks{.result = [&](int rank, const std::string& text) {
    results[static_cast<std::size_t>(rank)] = text;
  }};
  EXPECT_TRUE(coordinator.run(task, hooks, {}));
  return results;
}

// A rank that still has a task when its coordinator goes ends its process, which here is the
// test's.
void outlast(std::int64_t deadline) { measure::sleep_until_ns(deadline); }

// One rank that does what it likes with its stream, on a thread of the test.
class RawRank {
 public:
  explicit RawRank(std::function<void(int stream)> act) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    links_.push_back({std::make_unique<ranks::Connection>(ends[0]), "rank 0 (pid 4711)"});
    thread_ = std::jthread([stream = ends[1], act = std::move(act)] {
      act(stream);
      close(stream);
    });
  }
  std::vector<ranks::RankLink> links() { return std::move(links_); }

 private:
  std::vector<ranks::RankLink> links_;
  std::jthread thread_;
};

// The first message of a coordinator that is no sign of life. Its body is empty here.
void wait_for_task(int stream) {
  char header[5] = {};
  while (recv(stream, header, sizeof header, MSG_WAITALL) == sizeof header &&
         header[4] != static_cast<char>(ranks::MessageKind::task)) {
  }
}

constexpr std::int64_t kGrace = 10'000'000'000;

TEST(Coordinator, CarriesTheRanksCalls) {
  Ranks ranks(3, [](ranks::SocketGroup& group, const std::string& task) {
    const std::int64_t number = group.broadcast_number(7 + group.rank());
    const std::int64_t now = measure::now_ns();
    EXPECT_GE(group.all_reduce_latest(now), now);
    EXPECT_THAT(group.all_gather(10 * group.rank()), testing::ElementsAre(0, 10, 20));
    const std::string text = group.broadcast("from " + std::to_string(group.rank()));
    group.barrier();
    return task + ": " + std::to_string(number) + " " + text;
  });
  ranks::Coordinator coordinator(ranks.links(), {}, kGrace);
  for (const std::string task : {"one", "two"}) {
    EXPECT_THAT(results_of(coordinator, task), testing::Each(task + ": 7 from 0"));
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
  coordinator.run("", {.progress = [&](const std::string& p) { seen.push_back(p); }}, {});
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
  EXPECT_THAT(results_of(coordinator, "good"), testing::Each("fine"));
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
// Else a rank could not tell what it has measured so far from a failure.
TEST(Coordinator, WhoIsWokenFromACallFindsThatItWasToldToStop) {
  std::atomic<int> found{0}, woken{0};
  Ranks ranks(2, [&](ranks::SocketGroup& group, const std::string&) -> std::string {
    if (group.rank() == 0) throw Error("memory", "exhausted");
    const std::stop_token stop = group.stop_token();
    try {
      group.barrier();
    } catch (const Error&) {
      ++woken;
      if (stop.stop_requested()) ++found;
      throw;
    }
    return {};
  });
  ranks::Coordinator coordinator(ranks.links(), {}, kGrace);
  for (int i = 0; i < 500; ++i)
    EXPECT_THAT(message_of([&] { coordinator.run("", {}, {}); }), testing::HasSubstr("exhausted"));
  EXPECT_EQ(woken, 500);
  EXPECT_EQ(found, woken);
}

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
  RawRank rank([](int stream) { wait_for_task(stream); });
  ranks::Coordinator coordinator(rank.links(), {}, kGrace);
  EXPECT_THAT(message_of([&] { coordinator.run("", {}, {}); }),
              testing::HasSubstr("rank 0 (pid 4711): ended without a word"));
}

// A rank that goes mad is named, and its task ends soon, whatever it sends.
struct Madness {
  const char* name;
  std::function<void(int stream)> act;
  const char* reason;
};
std::string frame(std::uint32_t length, unsigned kind, std::string_view body) {
  return std::string(ranks::bytes_of(length)).append(1, static_cast<char>(kind)).append(body);
}
std::string frame(ranks::MessageKind kind, std::string_view body) {
  return frame(static_cast<std::uint32_t>(body.size()), static_cast<unsigned>(kind), body);
}
void shoot(int stream, const std::string& bytes, int times = 1) {
  for (int i = 0; i < times; ++i) {
    if (::send(stream, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) return;
  }
}

void PrintTo(const Madness& madness, std::ostream* stream) { *stream << madness.name; }

class MadRanks : public testing::TestWithParam<Madness> {};

TEST_P(MadRanks, AreNamed) {
  RawRank rank([](int stream) {
    wait_for_task(stream);
    GetParam().act(stream);
    std::string rest(4096, 0);
    while (recv(stream, rest.data(), rest.size(), 0) > 0) {
    }
  });
  ranks::Coordinator coordinator(rank.links(), {}, kGrace);
  const ranks::TaskHooks hooks{
      .progress = [](const std::string&) { throw std::runtime_error("no progress"); },
      .result = [](int, const std::string&) { throw std::runtime_error("no result"); }};
  const std::int64_t start = measure::now_ns();
  EXPECT_THAT(message_of([&] { coordinator.run("", hooks, {}); }),
              testing::AllOf(testing::HasSubstr("rank 0 (pid 4711): sent what no rank sends"),
                             testing::HasSubstr(GetParam().reason)));
  EXPECT_LT(measure::now_ns() - start, 10'000'000'000);
}

using ranks::MessageKind;
INSTANTIATE_TEST_SUITE_P(
    Coordinator, MadRanks,
    testing::Values(
        Madness{"Garbage", [](int s) { shoot(s, "GET / HTTP/1.1\r\n\r\n"); }, "unknown kind"},
        Madness{"AHugeMessage",
                [](int s) {
                  shoot(s, frame(0xffffffff, static_cast<unsigned>(MessageKind::result), "x"));
                },
                "4294967295 bytes"},
        Madness{"ALongBeat", [](int s) { shoot(s, frame(MessageKind::beat, "x")); }, "1 bytes"},
        Madness{"ATask", [](int s) { shoot(s, frame(MessageKind::task, "{}")); }, "coordinator's"},
        Madness{"AnUnknownCall", [](int s) { shoot(s, frame(MessageKind::meet, "?")); },
                "a call that there is not"},
        Madness{"ACallWithoutANumber", [](int s) { shoot(s, frame(MessageKind::meet, "l123")); },
                "a call that there is not"},
        Madness{"AGatherWithoutANumber", [](int s) { shoot(s, frame(MessageKind::meet, "g123")); },
                "a call that there is not"},
        Madness{"AnEmptyCall", [](int s) { shoot(s, frame(MessageKind::meet, "")); },
                "a call that there is not"},
        Madness{"AFlood", [](int s) { shoot(s, frame(MessageKind::beat, ""), 100'000); },
                "far too many messages"},
        Madness{"ALongReason",
                [](int s) { shoot(s, frame(MessageKind::failed, std::string(65'537, 'x'))); },
                "65537 bytes"},
        Madness{"AFloodOfResults", [](int s) { shoot(s, frame(MessageKind::result, "r"), 5'000); },
                "a result that makes no sense: no result"},
        Madness{"AResultThatTrickles",
                [](int s) {
                  shoot(s, frame(1 << 28, static_cast<unsigned>(MessageKind::result), "x"));
                  for (int i = 0; i < 200; ++i) {
                    shoot(s, std::string(1 << 20, 'x'));
                    std::this_thread::sleep_for(std::chrono::milliseconds(100));
                  }
                },
                "a message that does not end"},
        Madness{"FalseProgress", [](int s) { shoot(s, frame(MessageKind::progress, "p")); },
                "progress that makes no sense: no progress"}),
    [](const auto& madness) { return std::string(madness.param.name); });

// One of two ranks is mad.
class GoodAndMad {
 public:
  // `good`: what the other one does with its task.
  GoodAndMad(const Ranks::Body& good, std::function<void(int stream)> mad)
      : good_(1, good), mad_([mad = std::move(mad)](int stream) {
          wait_for_task(stream);
          mad(stream);
          std::this_thread::sleep_for(std::chrono::seconds(1));
        }) {}
  std::vector<ranks::RankLink> links() {
    std::vector<ranks::RankLink> links = good_.links();
    links.push_back(std::move(mad_.links().front()));
    links.back().name = "rank 1 (pid 4711)";
    return links;
  }

 private:
  Ranks good_;
  RawRank mad_;
};

TEST(Coordinator, TheOtherRanksResultsAreHandedOverAllTheSame) {
  GoodAndMad ranks(
      [](ranks::SocketGroup&, const std::string&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        return std::string("fine");
      },
      [](int stream) { shoot(stream, frame(MessageKind::result, "nonsense")); });
  ranks::Coordinator coordinator(ranks.links(), {}, kGrace);
  std::vector<std::string> arrived;
  const ranks::TaskHooks hooks{.result = [&](int rank, const std::string& text) {
    if (text == "nonsense") throw std::runtime_error("no number");
    arrived.push_back(std::to_string(rank) + text);
  }};
  EXPECT_THAT(message_of([&] { coordinator.run("", hooks, {}); }),
              testing::HasSubstr("rank 1 (pid 4711): sent what no rank sends: a result that makes "
                                 "no sense: no number"));
  EXPECT_THAT(arrived, testing::ElementsAre("0fine"));
}

// Well-formed, and yet they would have the other rank wait for ever, or sleep for centuries.
TEST(Coordinator, ARankOutOfStepIsNamed) {
  const std::int64_t never = std::numeric_limits<std::int64_t>::max();
  const std::pair<std::string, const char*> cases[] = {
      {frame(MessageKind::result, "early"), "a result while the other ranks go on"},
      {frame(MessageKind::meet, "b"), "a call that the other ranks do not make"},
      {frame(MessageKind::meet, "l" + std::string(ranks::bytes_of(never))),
       "a moment that cannot be"}};
  for (const auto& [bytes, reason] : cases) {
    GoodAndMad ranks(
        [](ranks::SocketGroup& group, const std::string&) {
          group.all_reduce_latest(measure::now_ns());
          return std::string();
        },
        [bytes = bytes](int stream) { shoot(stream, bytes); });
    ranks::Coordinator coordinator(ranks.links(), {}, kGrace);
    EXPECT_THAT(
        message_of([&] { coordinator.run("", {}, {}); }),
        testing::AllOf(testing::HasSubstr("rank 1 (pid 4711)"), testing::HasSubstr(reason)));
  }
}

// The others have ended, and one makes a call that is one too many: it is the one that is named.
TEST(Coordinator, ACallTooManyIsNotTheOthersFault) {
  GoodAndMad ranks([](ranks::SocketGroup&, const std::string&) { return std::string("fine"); },
                   [](int stream) { shoot(stream, frame(MessageKind::meet, "b")); });
  ranks::Coordinator coordinator(ranks.links(), {}, kGrace);
  std::string kept;
  const ranks::TaskHooks hooks{.result = [&](int, const std::string& text) { kept += text; }};
  EXPECT_THAT(message_of([&] { coordinator.run("", hooks, {}); }),
              testing::HasSubstr("rank 1 (pid 4711): sent what no rank sends: a call that the"));
  EXPECT_EQ(kept, "fine");
}

// More messages than are read in a turn: the rest is not left until the next one comes.
TEST(Coordinator, ReadsAllThatHasArrived) {
  RawRank rank([](int stream) {
    wait_for_task(stream);
    std::string bytes;
    for (int i = 0; i < 300; ++i) bytes += frame(MessageKind::beat, "");
    shoot(stream, bytes + frame(MessageKind::result, "fine"));
    std::this_thread::sleep_for(std::chrono::seconds(2));
  });
  ranks::Coordinator coordinator(rank.links(), {}, kGrace);
  const std::int64_t start = measure::now_ns();
  EXPECT_THAT(results_of(coordinator, ""), testing::ElementsAre("fine"));
  EXPECT_LT(measure::now_ns() - start, 2'000'000'000) << "before it hangs up";
}

// 10,000 messages with flipped bits, of another length, or cut off: each ends in a result or in an
// error, at once.
TEST(Coordinator, MutatedMessagesEndInAResultOrAnError) {
  Random random(24);
  const std::vector<std::string> sound = {frame(MessageKind::meet, "l" + std::string(8, '\1')),
                                          frame(MessageKind::meet, "b"),
                                          frame(MessageKind::progress, R"({"phase":1,"steps":3})"),
                                          frame(MessageKind::result, R"({"ranks":[]})"),
                                          frame(MessageKind::failed, "a line"),
                                          frame(MessageKind::beat, "")};
  for (int i = 0; i < 10'000; ++i) {
    const auto which = static_cast<std::size_t>(random.below(static_cast<int>(sound.size())));
    const std::string bytes = mutated(sound[which], random);
    RawRank rank([bytes](int stream) {
      wait_for_task(stream);
      shoot(stream, bytes);
    });
    ranks::Coordinator coordinator(rank.links(), {}, kGrace);
    std::string result;
    try {
      EXPECT_TRUE(coordinator.run(
          "", {.result = [&](int, const std::string& text) { result = text; }}, {}));
      EXPECT_LE(result.size(), 2 * bytes.size()) << "a result has arrived";
    } catch (const std::exception& error) {
      EXPECT_LT(std::string(error.what()).size(), 3000u) << "a line that can be read";
    }
  }
}

}  // namespace
}  // namespace feedrate::tests
