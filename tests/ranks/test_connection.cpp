#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "ranks/connection.h"

namespace feedrate::tests {
namespace {

struct Pair {
  Pair() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    left.emplace(ends[0]), right.emplace(ends[1]);
  }
  std::optional<ranks::Connection> left, right;
};

TEST(Connection, KeepsMessagesApartAndInOrder) {
  Pair pair;
  const std::string large(3'000'000, 'x');
  std::thread sender([&] {
    pair.left->send(ranks::MessageKind::task, "first");
    pair.left->send(ranks::MessageKind::beat);
    pair.left->send(ranks::MessageKind::result, large);
  });
  auto message = pair.right->receive(true);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->kind, ranks::MessageKind::task);
  EXPECT_EQ(message->body, "first");
  message = pair.right->receive(true);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->kind, ranks::MessageKind::beat);
  message = pair.right->receive(true);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->body, large);
  sender.join();
  EXPECT_FALSE(pair.right->receive(false)) << "nothing is there";
  EXPECT_FALSE(pair.right->closed());
}

TEST(Connection, AMessageInPiecesIsWaitedFor) {
  Pair pair;
  const char bytes[] = {3, 0, 0, 0, static_cast<char>(ranks::MessageKind::failed), 'a', 'b', 'c'};
  ASSERT_EQ(write(pair.left->descriptor(), bytes, 6), 6);
  EXPECT_FALSE(pair.right->receive(false));
  ASSERT_EQ(write(pair.left->descriptor(), bytes + 6, 2), 2);
  const auto message = pair.right->receive(false);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->body, "abc");
}

TEST(Connection, EndsWithTheOtherEnd) {
  Pair pair;
  pair.left->send(ranks::MessageKind::end);
  pair.left.reset();
  EXPECT_TRUE(pair.right->receive(true)) << "what was sent before is still there";
  EXPECT_FALSE(pair.right->receive(true));
  EXPECT_TRUE(pair.right->closed());
  EXPECT_FALSE(pair.right->send(ranks::MessageKind::beat));
}

TEST(Connection, WhoSpeaksAnotherLanguageIsHungUpOn) {
  Pair pair;
  const std::string request = "GET / HTTP/1.1\r\n\r\n";
  ASSERT_EQ(write(pair.left->descriptor(), request.data(), request.size()),
            static_cast<ssize_t>(request.size()));
  EXPECT_FALSE(pair.right->receive(true));
  EXPECT_TRUE(pair.right->closed());
}

// A coordinator whose terminal is held reads nothing: who reports progress does not wait for it,
// and there is still room to be seen for what comes later.
TEST(Connection, SaysWhetherTheOtherEndTakesWhatItIsSent) {
  Pair pair;
  const std::string progress(1000, 'p');
  int sent = 0;
  for (; pair.left->has_room(); ++sent) {
    ASSERT_LT(sent, 10'000);
    ASSERT_TRUE(pair.left->send(ranks::MessageKind::progress, progress));
  }
  EXPECT_GT(sent, 10);
  for (; sent > 0; --sent) ASSERT_TRUE(pair.right->receive(true));
  EXPECT_TRUE(pair.left->has_room());
}

// A result waits longer than the 5 s of other messages.
TEST(Connection, WaitsForAReaderThatIsHeldToTakeAResult) {
  Pair pair;
  int sent = 0;
  for (const std::string progress(1000, 'p');
       pair.left->send_now(ranks::MessageKind::progress, progress);)
    ++sent;
  std::thread reader([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5500));
    for (; sent > 0; --sent) ASSERT_TRUE(pair.right->receive(true));
    const auto message = pair.right->receive(true);
    ASSERT_TRUE(message);
    EXPECT_EQ(message->body, "result");
  });
  EXPECT_TRUE(pair.left->send(ranks::MessageKind::result, "result"));
  reader.join();
}

}  // namespace
}  // namespace feedrate::tests
