#include "judge/patterns.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace feedrate::tests {
namespace {

using judge::Pattern;

// The steps of a made-up run: what the device computes, and what it waits.
struct MadeUp {
  std::vector<double> step, wait;
  int workers = 8;
  std::string loader = "batch";
  double loader_imgs_per_s = 0;

  void add(double busy_ms, double wait_ms) {
    step.push_back(busy_ms + wait_ms);
    wait.push_back(wait_ms);
  }
  std::vector<Pattern> patterns() const {
    return judge::patterns_of({step, wait, wait, 32, workers, 2, loader, loader_imgs_per_s});
  }
};

const Pattern* named(const std::vector<Pattern>& patterns, const std::string& name) {
  const auto found = std::ranges::find(patterns, name, &Pattern::name);
  return found == patterns.end() ? nullptr : &*found;
}
bool has(const MadeUp& run, const std::string& name) {
  const std::vector<Pattern> patterns = run.patterns();
  return named(patterns, name) != nullptr;
}

// Log-durations around 0, whose neighbours are correlated by r.
class Chance {
 public:
  explicit Chance(std::uint64_t seed, double spread = 0.1, double r = 0)
      : engine_(seed), spread_(spread), r_(r), at_(normal_(engine_)) {}
  double factor() {
    at_ = r_ * at_ + std::sqrt(1 - r_ * r_) * normal_(engine_);
    return std::exp(spread_ * at_);
  }
  double uniform() { return std::uniform_real_distribution<double>()(engine_); }
  double exponential() { return -std::log(1 - uniform()); }

 private:
  std::mt19937_64 engine_;
  std::normal_distribution<double> normal_;
  double spread_, r_, at_;
};

constexpr std::uint64_t kSeeds = 10;
constexpr int kLengths[] = {20, 50, 100, 300, 1000, 2000};

// `ms(i)` busy, `wait(i)` waiting, both with noise.
template <typename Busy, typename Wait>
MadeUp made_up(int steps, std::uint64_t seed, Busy busy, Wait wait) {
  Chance chance(seed);
  MadeUp run;
  for (int i = 0; i < steps; ++i) {
    const double ms = busy(i) * chance.factor();
    run.add(ms, wait(i) * chance.factor());
  }
  return run;
}

template <typename Busy, typename Wait>
int seeds_with(const std::string& name, int steps, Busy busy, Wait wait) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed)
    found += has(made_up(steps, seed, busy, wait), name);
  return found;
}

constexpr auto kNone = [](int) { return 0.0; };
constexpr auto kFlat = [](int) { return 50.0; };

// `length` long waits in a row, about every `apart` steps.
MadeUp with_bursts(int steps, std::uint64_t seed, int length, int apart) {
  Chance chance(seed);
  double next = apart * chance.exponential();
  int left = 0;
  MadeUp run = made_up(steps, seed, kFlat, [&](int i) {
    if (left == 0 && i >= next) left = length, next = i + length + apart * chance.exponential();
    return left > 0 ? --left, 60.0 : 0.0;
  });
  run.loader = "pool";
  return run;
}

// ---------------------------------------------------------------------------------- no chance

// Runs that are noise alone, of every length and spread; waits are noise, too, or what is beyond
// the mean step. All patterns are looked for.
int false_alarms(double least_spread, double most_spread, double r) {
  int alarms = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const double spread =
        least_spread * std::pow(most_spread / least_spread, static_cast<double>(seed % 7) / 6);
    Chance busy(1000 + seed, spread, r), waiting(5000 + seed, spread, r);
    MadeUp run{.workers = 2 + static_cast<int>(seed % 11), .loader_imgs_per_s = 1e6};
    for (int i = 0; i < kLengths[seed % std::size(kLengths)]; ++i) {
      const double ms = 70 * busy.factor();
      if (seed % 2 == 0) run.add(ms, 30 * waiting.factor());
      if (seed % 2 == 1) run.add(std::min(ms, 70.0), std::max(0.0, ms - 70));
    }
    alarms += !run.patterns().empty();
  }
  return alarms;
}

// Of 6000 runs each, 0.23, 0.13, 0.23 and 0.00 % had one.
TEST(Patterns, NoiseHasNone) {
  EXPECT_LE(false_alarms(0.05, 0.6, 0), 3) << "of 300 of independent steps";
  EXPECT_LE(false_alarms(0.05, 0.6, 0.3), 3) << "of 300 whose neighbours are alike";
  EXPECT_LE(false_alarms(0.05, 0.6, -0.3), 3) << "of 300 whose neighbours are unlike";
  EXPECT_EQ(false_alarms(0.01, 0.01, 0), 0) << "of 300 that are constant but for 1 %";
}

TEST(Patterns, ConstantStepsHaveNone) {
  for (const int steps : kLengths) {
    MadeUp run{.loader_imgs_per_s = 1e6};
    for (int i = 0; i < steps; ++i) run.add(40, 10);
    EXPECT_TRUE(run.patterns().empty()) << steps;
  }
}

TEST(Patterns, FewStepsHaveNone) {
  EXPECT_TRUE(judge::patterns_of({}).empty());
  for (int steps = 1; steps < 20; ++steps) {
    MadeUp run{.workers = 2, .loader_imgs_per_s = 1e6};
    for (int i = 0; i < steps; ++i) run.add(10, i % 2 == 0 ? 100 : 0);
    EXPECT_TRUE(run.patterns().empty()) << steps;
  }
}

TEST(Patterns, StepsThatAreNoNumbersHaveNone) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -1.0}) {
    MadeUp run = made_up(100, 1, kFlat, [](int i) { return i % 8 == 0 ? 200.0 : 0; });
    run.wait[50] = bad;
    EXPECT_TRUE(run.patterns().empty());
  }
  EXPECT_TRUE(judge::patterns_of({.step_ms = std::vector<double>(50, 0.0)}).empty());
}

// Every shape at every length: numbers alone, and the same again.
TEST(Patterns, AreTheSameForTheSameSteps) {
  for (const int steps : kLengths) {
    MadeUp run = made_up(
        steps, 3, [=](int i) { return i < steps / 8 ? 300.0 : 50 + 20.0 * i / steps; },
        [](int i) { return i % 8 == 0 ? 200.0 : 0; });
    run.loader_imgs_per_s = 1e6;
    const std::vector<Pattern> once = run.patterns(), again = run.patterns();
    ASSERT_EQ(once.size(), again.size());
    for (std::size_t i = 0; i < once.size(); ++i) {
      EXPECT_EQ(once[i].statistic, again[i].statistic);
      EXPECT_THAT(once[i].statistic, testing::Not(testing::HasSubstr("nan")));
      EXPECT_THAT(once[i].statistic, testing::Not(testing::HasSubstr("inf")));
      EXPECT_FALSE(once[i].sentence.empty());
    }
  }
}

// One cause has one name.
TEST(Patterns, HaveOneNameEach) {
  const auto names = [](const MadeUp& run) {
    std::string all;
    for (const Pattern& pattern : run.patterns()) all += pattern.name + " ";
    return all;
  };
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    EXPECT_EQ(names(made_up(200, seed, kFlat, [](int i) { return i % 8 == 3 ? 200.0 : 0; })),
              "spikes ");
    EXPECT_EQ(names(made_up(200, seed, [](int i) { return 50 + 0.1 * i; }, kNone)), "drift ");
    EXPECT_EQ(
        names(made_up(200, seed, [](int i) { return i < 10 ? 200.0 : 50; }, kNone)), "slow_start ");
    EXPECT_THAT(names(with_bursts(600, seed, 6, 30)), testing::AnyOf("bursts ", ""));
  }
}

TEST(Patterns, NeedNoWaits) {
  const MadeUp run = made_up(200, 1, [](int i) { return i % 8 == 0 ? 250.0 : 50; }, kNone);
  const auto found = judge::patterns_of({.step_ms = run.step, .workers = 8, .loader = "batch"});
  EXPECT_TRUE(named(found, "spikes"));
  const auto shorter = judge::patterns_of(
      {.step_ms = run.step, .data_wait_ms = std::vector<double>(7, 1.0), .workers = 8});
  EXPECT_TRUE(named(shorter, "spikes")) << "a series of another length is left out";
}

// ------------------------------------------------------------------------------------- spikes

TEST(Spikes, TheirPeriodIsFound) {
  for (const int period : {2, 3, 8, 30, 64}) {
    int right = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      MadeUp run = made_up(320, seed, kFlat,
                           [=](int i) { return i % period == period / 2 ? 25.0 * period : 0; });
      const auto found = run.patterns();
      const Pattern* spikes = named(found, "spikes");
      right += spikes && spikes->statistic.starts_with("period " + std::to_string(period) + " ");
    }
    EXPECT_EQ(right, kSeeds) << period;
  }
}

TEST(Spikes, AreComparedWithTheWorkers) {
  MadeUp run = made_up(200, 1, kFlat, [](int i) { return i % 8 == 7 ? 200.0 : 0; });
  const auto sentence = [&] {
    const auto found = run.patterns();
    const Pattern* spikes = named(found, "spikes");
    return spikes ? spikes->sentence : "";
  };
  EXPECT_THAT(sentence(), testing::HasSubstr("the number of workers: they finish"));
  run.loader = "pool";
  EXPECT_THAT(sentence(), testing::HasSubstr("shares a batch among them"));
  run.workers = 5;
  EXPECT_THAT(sentence(), testing::HasSubstr("not the number of workers (5)"));
}

TEST(Spikes, OfManyWorkersAreFound) {
  MadeUp run = made_up(800, 1, kFlat, [](int i) { return i % 96 == 7 ? 2000.0 : 0; });
  run.workers = 96;
  const auto found = run.patterns();
  const Pattern* spikes = named(found, "spikes");
  ASSERT_TRUE(spikes);
  EXPECT_THAT(spikes->statistic, testing::StartsWith("period 96 "));
}

TEST(Spikes, AreFoundInShortWindows) {
  EXPECT_GE(seeds_with("spikes", 32, kFlat, [](int i) { return i % 4 == 0 ? 200.0 : 0; }), 9);
}

TEST(Spikes, AtRandomOrTooSmallAreNone) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Chance chance(seed);
    found +=
        has(made_up(400, seed, kFlat, [&](int) { return chance.uniform() < 0.125 ? 200.0 : 0; }),
            "spikes");
  }
  EXPECT_EQ(found, 0);
  EXPECT_EQ(seeds_with("spikes", 400, kFlat, [](int i) { return i % 8 == 0 ? 6.0 : 0; }), 0)
      << "1.5 % of the window";
}

// ------------------------------------------------------------------------------------- bursts

TEST(Bursts, AreFound) {
  for (const int length : {4, 6, 10}) {
    int found = 0, single = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      found += has(with_bursts(600, seed, length, 5 * length), "bursts");
      single += has(with_bursts(600, seed, 1, 4), "bursts");
    }
    EXPECT_GE(found, 9) << length;
    EXPECT_EQ(single, 0) << "long waits that come alone";
  }
}

TEST(Bursts, OfNoTimeAreNone) {
  MadeUp run = with_bursts(600, 1, 6, 30);
  for (std::size_t i = 0; i < run.step.size(); ++i) {
    run.step[i] -= 0.9 * run.wait[i];
    run.wait[i] *= 0.1;
  }
  EXPECT_FALSE(has(run, "bursts"));
}

// The host waits, but the device has work from the step before.
TEST(Bursts, ThatTheDeviceDoesNotSeeAreNone) {
  const MadeUp run = with_bursts(600, 1, 6, 30);
  const std::vector<double> idle(run.wait.size(), 0.0);
  EXPECT_FALSE(named(judge::patterns_of({run.step, run.wait, idle, 32, 8, 2, "pool"}), "bursts"));
  EXPECT_TRUE(named(judge::patterns_of({run.step, run.wait, {}, 32, 8, 2, "pool"}), "bursts"));
}

// -------------------------------------------------------------------------------------- drift

TEST(Drift, IsFoundInBothDirections) {
  for (const double change : {-0.25, 0.25}) {
    for (const int steps : {200, 1000}) {
      const auto ramp = [=](int i) { return 50 * (1 + change * i / steps); };
      EXPECT_GE(seeds_with("drift", steps, ramp, kNone), 9) << change << " over " << steps;
      EXPECT_EQ(seeds_with("slow_start", steps, ramp, kNone), 0) << change << " over " << steps;
    }
  }
}

TEST(Drift, SaysWhichWay) {
  const auto statistic = [](double change) {
    const auto found =
        made_up(300, 1, [=](int i) { return 50 * (1 + change * i / 300); }, kNone).patterns();
    const Pattern* drift = named(found, "drift");
    return drift ? drift->sentence : "";
  };
  EXPECT_THAT(statistic(0.4), testing::HasSubstr("become slower"));
  EXPECT_THAT(statistic(-0.4), testing::HasSubstr("become faster"));
}

TEST(Drift, OfOneLateChangeIsFound) {
  EXPECT_GE(seeds_with("drift", 300, [](int i) { return i < 200 ? 50.0 : 75.0; }, kNone), 9);
}

TEST(Drift, TooSmallOrUpAndDownIsNone) {
  EXPECT_EQ(seeds_with(
                "drift", 1000, [](int i) { return 50 + 2.5 * i / 1000; }, kNone),
            0)
      << "1.6 % of the window";
  EXPECT_EQ(
      seeds_with("drift", 1000, [](int i) { return 50 + 20 * std::sin(i / 20.0); }, kNone), 0);
}

// --------------------------------------------------------------------------------- slow start

TEST(SlowStart, IsFoundWithItsLength) {
  for (const int first : {4, 10, 40}) {
    int found = 0, drifts = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const auto patterns =
          made_up(200, seed, [=](int i) { return i < first ? 200.0 : 50; }, kNone).patterns();
      const Pattern* start = named(patterns, "slow_start");
      found += start && start->statistic.starts_with("first " + std::to_string(first) + " ");
      drifts += named(patterns, "drift") != nullptr;
    }
    EXPECT_GE(found, 9) << first;
    EXPECT_EQ(drifts, 0) << "the rest is looked at without it";
  }
}

TEST(SlowStart, LaterOrFastStartsAreNone) {
  EXPECT_EQ(seeds_with("slow_start", 200, [](int i) { return i < 100 ? 80.0 : 50; }, kNone), 0);
  EXPECT_EQ(seeds_with("slow_start", 200, [](int i) { return i < 20 ? 20.0 : 50; }, kNone), 0);
  EXPECT_EQ(
      seeds_with("slow_start", 200, [](int i) { return i / 10 == 8 ? 200.0 : 50; }, kNone), 0);
}

TEST(SlowStart, DoesNotHideARhythm) {
  EXPECT_EQ(seeds_with(
                "spikes", 300, [](int i) { return i < 10 ? 500.0 : 50; },
                [](int i) { return i % 8 == 0 ? 200.0 : 0; }),
            kSeeds);
}

// ----------------------------------------------------------------------------- desynchronised

// Long waits of worker phase(i); the waiting of a round may be spread evenly instead.
template <typename Phase, typename Spread>
MadeUp rounds(int steps, std::uint64_t seed, Phase phase, Spread spread) {
  return made_up(steps, seed, kFlat, [=](int i) {
    const double evenly = spread(i);
    return 20 * evenly + (i % 8 == static_cast<int>(phase(i)) % 8 ? 160 * (1 - evenly) : 0);
  });
}
constexpr auto kNever = [](int) { return 0.0; };

TEST(Desynchronised, AWanderingRhythmIsFound) {
  for (const int steps : {200, 900}) {
    int even = 0, jump = 0, random = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      Chance chance(seed);
      double at = 0;
      const auto walk = [&](int) { return at += chance.uniform() < 8.0 / steps ? 1.0 : 0.0; };
      const auto found = [&](auto phase) {
        return has(rounds(steps, seed, phase, kNever), "desynchronised");
      };
      even += found([=](int i) { return 8.0 * i / steps; });
      jump += found([=](int i) { return i < steps / 2 ? 1.0 : 5.0; });
      random += found(walk);
    }
    EXPECT_GE(even, 9) << steps;
    EXPECT_GE(jump, 9) << steps;
    EXPECT_GE(random, 8) << steps << ": some walks stay near their start";
  }
}

TEST(Desynchronised, AFadingRhythmIsFound) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto patterns =
        rounds(
            400, seed, [](int) { return 3.0; }, [](int i) { return std::min(1.0, i / 250.0); })
            .patterns();
    const Pattern* p = named(patterns, "desynchronised");
    found += p && p->sentence.find("fades") != std::string::npos;
  }
  EXPECT_GE(found, 9);
}

TEST(Desynchronised, ARigidRhythmOrNoneIsNot) {
  int rigid = 0, even = 0, random = 0, other = 0, pool = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Chance chance(seed);
    const auto fixed = [](int) { return 3.0; };
    rigid += has(rounds(400, seed, fixed, kNever), "desynchronised");
    even += has(rounds(400, seed, fixed, [](int) { return 1.0; }), "desynchronised");
    random +=
        has(rounds(400, seed, [&](int) { return 8 * chance.uniform(); }, kNever), "desynchronised");
    other += has(made_up(400, seed, kFlat, [](int i) { return i % 9 == 0 ? 200.0 : 0; }),
                 "desynchronised");
    MadeUp wanders = rounds(400, seed, [](int i) { return i / 50.0; }, kNever);
    wanders.loader = "pool";
    pool += has(wanders, "desynchronised");
  }
  EXPECT_EQ(rigid + even + random + other + pool, 0)
      << rigid << " " << even << " " << random << " " << other << " " << pool;
}

// ------------------------------------------------------------------------------- uneven waits

MadeUp with_rare_waits(std::uint64_t seed, double capacity) {
  Chance chance(seed);
  MadeUp run =
      made_up(400, seed, kFlat, [&](int) { return chance.uniform() < 0.02 ? 400.0 : 0.1; });
  run.loader_imgs_per_s = capacity;
  return run;
}

TEST(UnevenWaits, AreFoundWhereTheLoaderIsFastEnough) {
  int found = 0, slow = 0, unknown = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {  // the device takes 640 img/s
    found += has(with_rare_waits(seed, 900), "uneven_waits");
    slow += has(with_rare_waits(seed, 600), "uneven_waits");
    unknown += has(with_rare_waits(seed, 0), "uneven_waits");
  }
  EXPECT_GE(found, 9);
  EXPECT_EQ(slow, 0);
  EXPECT_EQ(unknown, 0);
}

TEST(UnevenWaits, MemorylessOrFewWaitsAreNot) {
  int memoryless = 0, few = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Chance chance(seed);
    MadeUp run{.loader_imgs_per_s = 1e6}, little = run;
    for (int i = 0; i < kLengths[seed % 6]; ++i) {
      run.add(50, 20 * chance.exponential());
      little.add(50, i % 50 == 3 ? 50 : 0);
    }
    memoryless += has(run, "uneven_waits");
    few += has(little, "uneven_waits") && little.step.size() > 20;
  }
  EXPECT_EQ(memoryless, 0);
  EXPECT_EQ(few, 0) << "2 % of the time";
}

}  // namespace
}  // namespace feedrate::tests
