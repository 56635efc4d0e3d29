#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "run/window.h"

namespace feedrate::tests {
namespace {

constexpr run::RunLimits kLimits{.warmup_seconds = 1,
                                 .max_warmup_seconds = 10,
                                 .min_steps = 20,
                                 .min_seconds = 5,
                                 .max_seconds = 100};

// Feeds a window with steps whose durations (seconds) and stock (samples in the queue) are given by
// functions of the step's number, until it is done.
struct Outcome {
  run::Window window;
  std::vector<device::StepRecord> steps;
  double drawn = 0;
  double imgs_per_s() const {
    double wall = 0;
    for (const double d : run::step_durations(steps, window.first_step(), window.last_step()))
      wall += d;
    return 10.0 * static_cast<double>(window.last_step() - window.first_step()) / wall;
  }
};
template <typename Duration, typename Stock>
Outcome drive(Duration duration, Stock stock, std::int64_t pass_steps = 0,
              run::SharedWindow appointment = {}) {
  Outcome o{run::Window(kLimits, pass_steps, appointment), {}};
  run::QueueBalance queue;
  std::int64_t now = 0, mark = 0;
  for (std::int64_t k = 0; k < 100000; ++k) {
    const std::int64_t start = now;
    now += std::llround(1e9 * duration(k));
    o.steps.push_back({start, now, 0});
    const std::int64_t consumed = 10 * (k + 1);
    o.drawn = queue.drawn(consumed + stock(k), consumed);
    if (o.window.update(o.steps, o.drawn) == run::Phase::done) break;
    if (o.window.mark() != mark) queue.open(consumed + stock(k), consumed);
    mark = o.window.mark();
  }
  return o;
}
const auto kNoStock = [](std::int64_t) { return std::int64_t{0}; };

// A pass of 100 steps, of which the last 20 lie in the queue.
TEST(Window, AColdPassEndsWhenAllIsMade) {
  const auto steps_of = [](std::int64_t made_at, double step_s) {
    run::Window window(kLimits, 100);
    std::vector<device::StepRecord> steps;
    std::int64_t now = 0;
    for (std::int64_t k = 0; k < 100; ++k) {
      const std::int64_t start = now;
      now += std::llround(1e9 * step_s);
      steps.push_back({start, now, 0});
      if (window.update(steps, 0, k >= made_at) == run::Phase::done) break;
    }
    return steps.size();
  };
  EXPECT_EQ(steps_of(80, 0.1), 81u);
  EXPECT_EQ(steps_of(80, 0.01), 81u) << "also where the window is then short";
  EXPECT_EQ(steps_of(0, 0.1), 3u) << "all was made before the window opened: a step is measured";
  EXPECT_EQ(steps_of(200, 0.1), 98u);
}

// Feeds steps of so many seconds until the window has `steps` of them.
double left_after(std::size_t steps, double step_s, std::int64_t pass_steps = 0) {
  run::Window window(kLimits, pass_steps);
  std::vector<device::StepRecord> all;
  std::int64_t now = 0;
  while (window.first_step() == 0 || all.size() < window.first_step() + steps) {
    const std::int64_t start = now;
    all.push_back({start, now += std::llround(1e9 * step_s), 0});
    window.update(all, 0.1);
  }
  return window.seconds_left(all);
}

// Steps that were slow at first and are even from then on: the last look must see that.
TEST(Window, LooksOnceMoreWhenTheWarmUpsTimeIsOver) {
  run::Window window(kLimits, 0);
  std::vector<device::StepRecord> all;
  std::int64_t now = 0;
  while (window.first_step() == 0 && all.size() < 1000) {
    const std::int64_t start = now;
    // Looks come after 16, 19, 22, 25, 29, 33 and 38 steps; 10 s are over after 37.
    all.push_back({start, now += all.size() < 18 ? 370'000'000 : 180'000'000, 0});
    window.update(all, 0);
  }
  EXPECT_LT(all.size(), 38u);
  EXPECT_TRUE(window.steady());
}

TEST(Window, TellsWhatItStillNeeds) {
  EXPECT_NEAR(left_after(10, 0.1), 4, 1e-6) << "5 s at least";
  EXPECT_NEAR(left_after(10, 2), 20, 1e-6) << "20 steps at least";
  EXPECT_LT(left_after(60, 0.1), 0) << "it waits for the queue to come to rest";
  EXPECT_NEAR(left_after(10, 9), 10, 1e-6) << "100 s at most";
  EXPECT_NEAR(left_after(10, 0.1, 52), 4, 1e-6) << "one pass";
  EXPECT_LT(run::Window(kLimits, 0).seconds_left({}), 0);
}

TEST(Window, SteadyStepsGiveTheirRate) {
  const Outcome o = drive([](std::int64_t) { return 0.1; }, kNoStock);
  EXPECT_TRUE(o.window.steady());
  EXPECT_NEAR(o.imgs_per_s(), 100, 1e-6);
  EXPECT_GE(o.window.last_step() - o.window.first_step(), 50u);
  EXPECT_GE(o.window.first_step(), 10u);
}

TEST(Window, SlowFirstStepsAreLeftOut) {
  const Outcome o = drive([](std::int64_t k) { return k < 5 ? 2.0 : 0.1; }, kNoStock);
  EXPECT_NEAR(o.imgs_per_s(), 100, 1e-6);
}

// 200 samples of stock keep the device busy at 100 images/s although only 80 are made: perfectly
// steady, and wrong. The true rate shows when the stock is gone.
TEST(Window, AFullQueueAtTheStartDoesNotFlatter) {
  const auto stock = [](std::int64_t k) { return std::max<std::int64_t>(0, 200 - 2 * k); };
  const Outcome o = drive([&](std::int64_t k) { return stock(k) > 0 ? 0.1 : 0.125; }, stock);
  EXPECT_NEAR(o.imgs_per_s(), 80, 0.4);
  EXPECT_LE(std::abs(o.drawn), 0.005);
}

TEST(Window, SpikesEveryNAreInTheMean) {
  const Outcome o = drive([](std::int64_t k) { return k % 5 == 4 ? 0.3 : 0.05; }, kNoStock);
  EXPECT_NEAR(o.imgs_per_s(), 100, 10);
}

TEST(Window, AnEndlessRampIsMeasuredAndSaidToBeUnsteady) {
  const Outcome o =
      drive([](std::int64_t k) { return 0.1 + 0.01 * static_cast<double>(k); }, kNoStock);
  EXPECT_FALSE(o.window.steady());
  EXPECT_GT(o.window.last_step(), o.window.first_step());
}

TEST(Window, AStockThatNeverRestsEndsAtTheLimit) {
  const Outcome o =
      drive([](std::int64_t) { return 0.1; }, [](std::int64_t k) { return 100000 - 2 * k; });
  EXPECT_GT(o.drawn, 0.1);
  EXPECT_NEAR(static_cast<double>(o.steps.back().end_ns) * 1e-9, 100, 15);
}

// 0.7 % of each window come out of the stock: not at rest, and no reason to go on for ever.
TEST(Window, AStockThatNearlyRestsEndsAtTwiceTheLength) {
  const Outcome o =
      drive([](std::int64_t) { return 0.1; }, [](std::int64_t k) { return 100'000 - k * 7 / 100; });
  EXPECT_NEAR(o.drawn, 0.007, 0.002);
  EXPECT_EQ(o.window.last_step() - o.window.first_step(), 100u);
}

TEST(QueueBalance, IsOfTheTimeSinceTheWindowBegan) {
  run::QueueBalance queue;
  EXPECT_EQ(queue.drawn(100, 50), 0) << "no window yet";
  queue.open(100, 50);
  EXPECT_EQ(queue.drawn(100, 50), 0);
  EXPECT_DOUBLE_EQ(queue.drawn(190, 150), 0.1) << "10 of 100 came out of the stock";
  EXPECT_DOUBLE_EQ(queue.drawn(250, 150), -0.5) << "50 went into it";
  queue.open(-1, 0);
  EXPECT_EQ(queue.drawn(-1, 100), 0) << "nothing is produced";
}

// Seconds.
run::SharedWindow appointment(double opens, double leaves) {
  return {std::llround(1e9 * opens), std::llround(1e9 * leaves)};
}
double end_of(const Outcome& o, std::size_t steps) {
  return 1e-9 * static_cast<double>(o.steps[steps - 1].end_ns);
}

TEST(Window, AnAppointmentIsKept) {
  const Outcome o = drive([](std::int64_t) { return 0.1; }, kNoStock, 0, appointment(7.25, 20));
  EXPECT_NEAR(end_of(o, o.window.first_step()), 7.3, 1e-6) << "with the next step";
  EXPECT_NEAR(end_of(o, o.window.last_step()), 12.3, 0.11) << "as long as any other window";
  EXPECT_NEAR(end_of(o, o.steps.size()), 20, 0.11) << "it stays until the others have measured";
  EXPECT_EQ(o.window.mark(), run::Window::kDone);
  EXPECT_TRUE(o.window.steady());
  EXPECT_NEAR(o.imgs_per_s(), 100, 1e-6);
}

// They run twice as long from there on: steps that are steady beside the others, and were so
// before.
TEST(Window, WhenTheOthersBeginToLoadIsForgotten) {
  const auto steps = [](std::int64_t k) { return k < 60 ? 0.05 : 0.1; };
  const Outcome o = drive(steps, kNoStock, 0, appointment(8, 14));
  EXPECT_TRUE(o.window.steady());
  EXPECT_NEAR(end_of(o, o.window.first_step()), 8, 0.11);
}

TEST(Window, AnAppointmentDoesNotWaitForSteadySteps) {
  const auto ramp = [](std::int64_t k) { return 0.1 + 0.01 * static_cast<double>(k); };
  const Outcome o = drive(ramp, kNoStock, 0, appointment(8, 0));
  EXPECT_FALSE(o.window.steady());
  EXPECT_LT(end_of(o, o.window.first_step()), 9);
}

// Whoever prepared for too long warms up all the same.
TEST(Window, WhoComesLateOpensLate) {
  const Outcome o = drive([](std::int64_t) { return 0.1; }, kNoStock, 0, appointment(1e-9, 0));
  EXPECT_NEAR(end_of(o, o.window.first_step()), kLimits.warmup_seconds, 0.11);
}

TEST(Window, AColdPassEndsBeforeTheSecondPass) {
  const Outcome o = drive([](std::int64_t) { return 0.1; }, kNoStock, 30);
  EXPECT_LE(o.window.last_step(), 30u);
  EXPECT_GE(o.window.last_step() - o.window.first_step(), 20u);
}

}  // namespace
}  // namespace feedrate::tests
