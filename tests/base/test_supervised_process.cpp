#include "base/supervised_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <thread>

namespace feedrate::tests {
namespace {

using Process = SupervisedProcess;
constexpr std::chrono::milliseconds kMoment{50};
constexpr std::chrono::seconds kLong{60};

int say(const std::string& text) {
  return write(STDOUT_FILENO, text.data(), text.size()) == std::ssize(text) ? 0 : 1;
}

int never_end() {
  while (true) pause();
}

// Zombies are there, too.
bool is_there(pid_t pid) { return kill(pid, 0) == 0; }

bool stands_still(Process& process) {
  EXPECT_FALSE(process.look());
  return process.stopped_for() > Process::Clock::duration::zero();
}

TEST(SupervisedProcess, AllThatItSaysIsRead) {
  const std::string much(300'000, 'x');  // more than a pipe holds
  Process process([&] { return say(much); }, Process::Output::captured);
  EXPECT_EQ(process.start_error(), 0);
  EXPECT_EQ(process.output(), much);
  EXPECT_EQ(process.wait(), 0);
  EXPECT_FALSE(is_there(process.pid()));
}

TEST(SupervisedProcess, MayBecomeAProgram) {
  std::vector<std::string> words = {"sh", "-c", "echo \"$0\"; echo stderr >&2; exit 3",
                                    "two words"};
  const std::vector<char*> arguments = exec_arguments(words);
  Process process([&] { return execvp(arguments.front(), arguments.data()); },
                  Process::Output::captured);
  EXPECT_EQ(process.output(), "two words\nstderr\n");
  EXPECT_EQ(process.wait(), 3);
}

TEST(SupervisedProcess, WhatItSaidIsPassedOnAndNoMoreWaitedFor) {
  testing::internal::CaptureStderr();
  Process silent(never_end, Process::Output::captured);
  silent.pass_on();
  const std::string report(60'000, 'x');  // fits into any pipe
  Process process([&] { return say("one\n") + say(report); }, Process::Output::captured);
  EXPECT_EQ(process.wait(), 0);
  process.pass_on();
  process.pass_on();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "one\n" + report);
}

TEST(SupervisedProcess, IsNotHeardBeyondTheDeadline) {
  const auto began = Process::Clock::now();
  Process process(
      [] {
        say("a part");
        return never_end();
      },
      Process::Output::captured);
  EXPECT_FALSE(process.output(began + kMoment));
  EXPECT_GE(Process::Clock::now(), began + kMoment);
  EXPECT_LT(Process::Clock::now(), began + kLong);
  EXPECT_FALSE(process.look()) << "it lives";
}

TEST(SupervisedProcess, IsNotHeardAfterAStop) {
  Process process(never_end, Process::Output::captured);
  std::stop_source stop;
  const std::jthread stops([&] {
    std::this_thread::sleep_for(kMoment);
    stop.request_stop();
  });
  const auto began = Process::Clock::now();
  EXPECT_FALSE(process.output(began + kLong, stop.get_token()));
  EXPECT_LT(Process::Clock::now(), began + kLong);
}

TEST(SupervisedProcess, DiesByASignal) {
  Process process([] { return raise(SIGTERM); }, Process::Output::captured);
  EXPECT_EQ(process.output(), "");
  EXPECT_EQ(process.wait(), 128 + SIGTERM);
  ASSERT_TRUE(process.look());
  EXPECT_EQ(WTERMSIG(*process.look()), SIGTERM);
  EXPECT_FALSE(is_there(process.pid()));
}

TEST(SupervisedProcess, EndsWithAnExceptionOfItsWork) {
  Process process([]() -> int { throw std::runtime_error("planted"); });
  EXPECT_EQ(process.wait(), 1);
}

TEST(SupervisedProcess, IsEndedAndLeavesNoZombie) {
  const auto enough = Process::Clock::now() + kLong;
  Process process(never_end);
  EXPECT_TRUE(is_there(process.pid()));
  process.end(enough);
  EXPECT_FALSE(is_there(process.pid()));
  Process ended([] { return 0; });
  while (!ended.look() && Process::Clock::now() < enough) std::this_thread::yield();
  EXPECT_FALSE(is_there(ended.pid()));
}

TEST(SupervisedProcess, ThatStandsStillIsSeenAndEnded) {
  Process process(never_end);
  const auto enough = Process::Clock::now() + kLong;
  for (const int signal : {SIGSTOP, SIGCONT, SIGSTOP}) {
    EXPECT_EQ(kill(process.pid(), signal), 0);
    while (stands_still(process) != (signal == SIGSTOP) && Process::Clock::now() < enough)
      std::this_thread::yield();
    EXPECT_EQ(stands_still(process), signal == SIGSTOP);
  }
  process.end(enough);
  ASSERT_TRUE(process.look());
  EXPECT_EQ(WTERMSIG(*process.look()), SIGKILL);
  EXPECT_FALSE(is_there(process.pid()));
}

TEST(SupervisedProcess, ThatCannotBeStartedSaysWhy) {
  rlimit files{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = files.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  Process process([] { return 0; }, Process::Output::captured);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
  EXPECT_EQ(process.start_error(), EMFILE);
  EXPECT_EQ(process.output(), "");
  EXPECT_EQ(process.wait(), 127);
}

}  // namespace
}  // namespace feedrate::tests
