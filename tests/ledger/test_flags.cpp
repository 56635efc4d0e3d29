#include <gmock/gmock.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "measure/nvml.h"
#include "tests/ledger/made_up_ranks.h"

namespace feedrate::tests {
namespace {

std::string severity_of(const nlohmann::ordered_json& record, const char* flag) {
  for (const auto& f : record["flags"]) {
    if (f["name"] == flag) return f["severity"];
  }
  return "";
}

std::string reason_of(const nlohmann::ordered_json& record, const char* flag) {
  for (const auto& f : record["flags"]) {
    if (f["name"] == flag) return f["reason"];
  }
  return "";
}

TEST(Flags, ShowAGpuThatWasHeldBack) {
  run::RankResult hot = rank_of(0), calm = rank_of(0);
  for (int second = 0; second < 4; ++second) {
    hot.gpu.push_back({(10 + second) * kMs,
                       {.utilisation_percent = 99,
                        .sm_mhz = 1200,
                        .temperature_c = 91,
                        .throttle_reasons = second == 0 ? measure::kThrottleHot : 0}});
    calm.gpu.push_back(
        {(10 + second) * kMs, {.utilisation_percent = 98, .sm_mhz = 1980, .temperature_c = 50}});
  }
  const auto record = record_of({calm, hot});
  const auto& gpu = record["ranks"][1]["gpu"];
  EXPECT_EQ(gpu["throttled"], "hardware thermal slowdown");
  EXPECT_EQ(gpu["sm_mhz"].size(), 4u);
  EXPECT_EQ(gpu["temperature_c"][0], 91);
  EXPECT_EQ(gpu["power_w"][0], -1) << "what it does not say";
  EXPECT_EQ(record["ranks"][0]["gpu"]["throttled"], "");
  EXPECT_EQ(severity_of(record, "gpu_shared"), "") << "unknown";
  calm.gpu[2].state.compute_processes = 1;
  EXPECT_EQ(severity_of(record_of({calm, hot}), "gpu_shared"), "") << "the run's own";
  hot.gpu[1].state.compute_processes = 3;
  EXPECT_EQ(severity_of(record_of({calm, hot}), "gpu_shared"), "warning");
  std::size_t found = 0;
  for (const auto& flag : record["flags"]) {
    if (flag["name"] != "throttled") continue;
    ++found;
    EXPECT_EQ(flag["severity"], "serious");
    EXPECT_NE(flag["reason"].get<std::string>().find("rank 1 "), std::string::npos) << flag;
    EXPECT_NE(flag["reason"].get<std::string>().find("25.0 %"), std::string::npos) << flag;
  }
  EXPECT_EQ(found, 1u);
}

TEST(Flags, TellWhatTheMachineDidMeanwhile) {
  run::RankResult rank = rank_of(0);
  rank.host.psi_memory_some = 0.02;
  rank.host.cpu_other_processes = 0.2;
  for (const double mhz : {3000.0, 3000.0, 2600.0, 2400.0, 2400.0, 2400.0})
    rank.host_series.push_back({20 * kMs, {.cpu_mhz = mhz}});
  auto record = record_of({rank});
  EXPECT_EQ(severity_of(record, "memory_pressure"), "warning");
  EXPECT_EQ(severity_of(record, "noisy_neighbour"), "warning");
  EXPECT_EQ(severity_of(record, "clock_changed"), "warning");
  EXPECT_EQ(record["monitors"]["series"]["cpu_mhz"].size(), 6u);
  rank = rank_of(0);
  for (int second = 0; second < 6; ++second) {
    rank.host_series.push_back({20 * kMs, {}});
    rank.gpu.push_back({20 * kMs, {.sm_mhz = second < 3 ? 1980 : 1700}});
  }
  record = record_of({rank});
  EXPECT_EQ(severity_of(record, "memory_pressure"), "") << "unknown pressure raises no flag";
  EXPECT_EQ(severity_of(record, "clock_changed"), "warning") << "the GPU's";
  rank.gpu.erase(rank.gpu.begin());
  rank.host_series.clear();
  EXPECT_EQ(severity_of(record_of({rank}), "clock_changed"), "") << "single readings tell nothing";
}

TEST(Flags, NameThePowerLimitThatAGpuWasAt) {
  run::RankResult rank = rank_of(0);
  for (int second = 0; second < 4; ++second) {
    rank.gpu.push_back(
        {20 * kMs, {.power_limit_w = 700, .throttle_reasons = measure::kThrottlePowerCap}});
  }
  EXPECT_NE(reason_of(record_of({rank}), "power_capped").find("power limit of 700 W for 100.0 %"),
            std::string::npos);
  for (auto& sample : rank.gpu) sample.state.power_limit_w = -1;
  EXPECT_NE(reason_of(record_of({rank}), "power_capped").find("power limit for 100.0 %"),
            std::string::npos);
}

TEST(Flags, ARunOfItsStockOrOfHalfItsLengthIsNoRate) {
  run::RankResult rank = rank_of(0);
  rank.drawn_from_queue = -0.06;
  EXPECT_EQ(severity_of(record_of({rank}), "queue_not_at_rest"), "serious");
  run::RunOptions options;
  options.limits.min_steps = 40, options.limits.min_seconds = 0.4;
  const auto of = [&](int steps) {
    return severity_of(record_of({rank_of(0, steps + 1)}, options), "short_window");
  };
  EXPECT_EQ(of(40), "");
  options.limits.min_steps = 80;
  EXPECT_EQ(of(40), "warning");
  options.limits.min_steps = 81;
  EXPECT_EQ(of(40), "serious");
  options.limits.min_steps = 40, options.limits.min_seconds = 0.9;
  EXPECT_EQ(of(40), "serious");
  options.limits.min_steps = 2, options.limits.min_seconds = 0.01;
  EXPECT_EQ(of(20), "") << "whoever asks for fewer";
  EXPECT_EQ(of(19), "warning") << "has no interval below 20";
  EXPECT_EQ(of(10), "warning");
  EXPECT_EQ(of(9), "serious") << "and no rate below 10";
}

// Steps of 10 ms. What ended the window is what makes a longer one.
TEST(Flags, AShortWindowsRemedyIsWhatEndedIt) {
  const auto remedies = [](const char* page_cache, int steps, const run::RunLimits& limits) {
    const plan::AxisValues axes = {{"device", {"emulated:1000"}},
                                   {"data", {"jpeg"}},
                                   {"page-cache", {page_cache}},
                                   {"batch-size", {"8"}}};
    run::RunOptions options;
    options.limits = limits;
    const auto record = json_of(result_of(axes, {.ranks = {rank_of(0, steps + 1)}}), options);
    std::set<std::string> found;
    for (const auto& flag : record["flags"]) {
      if (flag["name"] == "short_window") found.insert(flag["remedy"]);
    }
    return found;
  };
  using Remedies = std::set<std::string>;
  const Remedies longer = {"raise --max-seconds, or shorten the steps with a smaller --batch-size"},
                 more_steps = {"raise --min-steps"},
                 more_data = {"make a larger dataset (a cold run is one pass)"};
  EXPECT_EQ(remedies("warm", 15, {.min_steps = 5, .min_seconds = 0.1}), more_steps);
  EXPECT_EQ(remedies("warm", 15, {.min_seconds = 0.1, .max_seconds = 0.15}), longer);
  EXPECT_EQ(remedies("warm", 30, {.min_steps = 40, .max_seconds = 0.3}), longer);
  EXPECT_EQ(remedies("cold", 30, {.min_seconds = 5}), more_data);
  EXPECT_EQ(remedies("cold", 15, {.min_steps = 5, .min_seconds = 0.1}), more_data);
  EXPECT_EQ(remedies("cold", 15, {.min_seconds = 5, .max_seconds = 0.14}), longer);
}

TEST(Flags, TheQueueOfTheWorstRankCounts) {
  run::RankResult resting = rank_of(0, 41), living = rank_of(0, 41);
  resting.drawn_from_queue = 0.001, living.drawn_from_queue = 0.02;
  const auto record = record_of({resting, resting, living, resting});
  EXPECT_EQ(record["queue"]["rank"], 2);
  EXPECT_EQ(record["queue"]["drawn_fraction"], 0.02);
  EXPECT_NEAR(record["queue"]["drawn_mean"].get<double>(), (3 * 0.001 + 0.02) / 4, 1e-12);
  EXPECT_EQ(severity_of(record, "queue_not_at_rest"), "warning");
  const double rate = record["imgs_per_s"];
  EXPECT_NEAR(record["ci95"][0].get<double>(), 0.98 * rate, 1e-6 * rate) << "wider by it";
  EXPECT_NEAR(record["ci95"][1].get<double>(), 1.02 * rate, 1e-6 * rate);
  living.drawn_from_queue = 0.004;
  EXPECT_EQ(severity_of(record_of({resting, living}), "queue_not_at_rest"), "");
}

TEST(Flags, PicturesWithStrayBytesAreTold) {
  const auto record = [](const pipeline::NotedTotals& stray) {
    const plan::AxisValues axes = {
        {"device", {"emulated:1000"}}, {"data", {"jpeg"}}, {"batch-size", {"8"}}};
    return json_of(result_of(axes, {.ranks = {rank_of(0, 41)}, .stray_bytes = stray}));
  };
  const auto three = record({.is_counted = true, .samples = {0, 3, 7}});
  EXPECT_EQ(three["pictures_with_stray_bytes"], 3);
  EXPECT_EQ(severity_of(three, "stray_bytes"), "note");
  EXPECT_EQ(reason_of(three, "stray_bytes"),
            "3 pictures hold stray bytes; they decode as in Pillow");
  EXPECT_EQ(reason_of(record({.is_counted = true, .samples = {5}}), "stray_bytes"),
            "1 picture holds stray bytes; it decodes as in Pillow");
  const auto none = record({.is_counted = true, .samples = {}}), unseen = record({});
  EXPECT_EQ(none["pictures_with_stray_bytes"], 0);
  EXPECT_TRUE(unseen["pictures_with_stray_bytes"].is_null());
  for (const auto& quiet : {none, unseen}) EXPECT_EQ(severity_of(quiet, "stray_bytes"), "");
}

TEST(Flags, AStragglerIsSaid) {
  EXPECT_EQ(severity_of(record_of({rank_of(1, 41), rank_of(0, 41)}), "straggler"), "warning");
  EXPECT_EQ(severity_of(record_of({rank_of(1, 41), rank_of(1, 41)}), "straggler"), "");
}

// Those of one machine, for instance.
TEST(Flags, RanksThatStraggleTogetherAreSaid) {
  const auto slow = rank_of(0, 41), fast = rank_of(1, 41);
  const auto record = record_of({fast, fast, slow, slow});
  EXPECT_EQ(severity_of(record, "straggler"), "warning");
  EXPECT_EQ(record["straggler"]["rank"], 2);
  EXPECT_EQ(severity_of(record_of({fast, slow, slow, slow}), "straggler"), "")
      << "one that is early holds nobody up";
}

TEST(Flags, WhatNobodyCanSeeOfTheHostIsSaid) {
  run::RankResult rank = rank_of(0);
  rank.host = {};
  const auto record = record_of({rank, rank});
  EXPECT_EQ(severity_of(record, "host_unseen"), "note");
  EXPECT_EQ(record["monitors"]["cpu_steal"], -1);
  EXPECT_EQ(severity_of(record, "noisy_neighbour"), "");
  rank.host.cpu_busy = 0;
  EXPECT_EQ(severity_of(record_of({rank}), "host_unseen"), "");
}

TEST(Flags, WhatStoodStillIsNoRate) {
  run::RankResult stopped = rank_of(0, 41);
  stopped.standstills.stopped_s = 0.1;
  const auto record = record_of({rank_of(0, 41), stopped});
  EXPECT_EQ(severity_of(record, "stopped"), "serious");
  EXPECT_EQ(record["valid"], false);
  stopped.standstills = {.stopped_s = 0.001, .suspended_s = 0};
  EXPECT_EQ(severity_of(record_of({stopped}), "stopped"), "") << "0.25 % of the window";
  stopped.standstills = {.stopped_s = 0, .suspended_s = 7};
  EXPECT_EQ(severity_of(record_of({stopped}), "stopped"), "serious") << "the machine slept";
}

TEST(Flags, EachMachineIsLookedAt) {
  run::RankResult here = rank_of(0, 41), there = rank_of(0, 41);
  there.place.host = "node2";
  there.host.cpu_steal = 0.2;
  const auto record = record_of({here, there});
  EXPECT_EQ(severity_of(record, "cpu_steal"), "warning");
  EXPECT_EQ(record["other_machines"][0]["host"], "node2");
  for (const auto& flag : record["flags"]) {
    if (flag["name"] == "cpu_steal") {
      EXPECT_EQ(flag["reason"].get<std::string>().find("node2: the hypervisor"), 0u);
    }
  }
}

TEST(Flags, ARunWhoseCeilingMustNotBeQuotedSaysSo) {
  const plan::AxisValues axes = {
      {"device", {"emulated:1000"}}, {"data", {"jpeg"}}, {"batch-size", {"8"}}};
  const auto of = [&](const char* unfit) {
    return json_of(result_of(axes, {.ranks = {rank_of(0, 41)}}), {},
                   judge::Ceiling{800, {}, unfit});
  };
  EXPECT_EQ(severity_of(of("stopped"), "ceiling_unfit"), "warning");
  EXPECT_EQ(of("stopped")["valid"], of("")["valid"]) << "its rate may be right";
  EXPECT_NE(of("stopped")["verdict"].get<std::string>().find("no ceiling tells"),
            std::string::npos);
  EXPECT_EQ(severity_of(of(""), "ceiling_unfit"), "");
}

TEST(Flags, ARunAboveItsCeilingIsNoRate) {
  const auto severity = [](double ceiling) {
    const plan::AxisValues axes = {
        {"device", {"emulated:1000"}}, {"data", {"jpeg"}}, {"batch-size", {"8"}}};
    return severity_of(
        json_of(result_of(axes, {.ranks = {rank_of(0, 41)}}), {}, judge::Ceiling{ceiling, {}}),
        "ceiling_exceeded");
  };
  EXPECT_EQ(severity(790), "") << "it reaches 800 images/s";
  EXPECT_EQ(severity(770), "warning");
  EXPECT_EQ(severity(327), "serious");
}

TEST(Flags, AGpusStepThatIsNotTheCeilingsSaysSo) {
  const auto severity = [](double ceiling, const char* kind) {
    run::RankResult rank = rank_of(0, 41);  // 800 images/s
    rank.device.kind = kind;
    const plan::AxisValues axes = {
        {"device", {"emulated:1000"}}, {"data", {"jpeg"}}, {"batch-size", {"8"}}};
    const run::DeviceRate rate{ceiling, measure::Interval{0.999 * ceiling, 1.001 * ceiling}};
    return severity_of(
        json_of(result_of(axes, {.ranks = {rank}}), {}, judge::Ceiling{ceiling, rate}),
        "step_differs");
  };
  EXPECT_EQ(severity(800, "cuda"), "");
  EXPECT_EQ(severity(780, "cuda"), "warning") << "shorter: the ceiling is too low";
  EXPECT_EQ(severity(820, "cuda"), "note");
  EXPECT_EQ(severity(780, "cpu"), "") << "loaders take from a CPU's steps";
}

TEST(Flags, AStepOfOtherKernelsSaysSo) {
  const auto reason = [](const char* here, const char* there) {
    run::RankResult rank = rank_of(0, 41);
    rank.device.kind = "cuda", rank.device.kernels = here;
    const plan::AxisValues axes = {
        {"device", {"emulated:1000"}}, {"data", {"jpeg"}}, {"batch-size", {"8"}}};
    const run::DeviceRate rate{820, measure::Interval{819, 821}};
    const auto json =
        json_of(result_of(axes, {.ranks = {rank}}), {}, judge::Ceiling{820, rate, "", there});
    EXPECT_EQ(json["device"].value("kernels_xxh3", ""), here);
    for (const auto& flag : json["flags"])
      if (flag["name"] == "step_differs") return flag["reason"].get<std::string>();
    return std::string("no flag");
  };
  const std::string longer = "copies and launches beside it, or another clock";
  EXPECT_THAT(reason("0123", "0123"), testing::EndsWith(longer + "; its kernels are the same"));
  for (const char* there : {"4567", ""})
    EXPECT_THAT(reason("0123", there), testing::EndsWith(longer + ", or other kernels"));
}

TEST(Flags, ASliceOfAGpuIsNotTheGpu) {
  run::RankResult rank = rank_of(0, 41);
  rank.device.name = "NVIDIA H100 80GB HBM3";
  EXPECT_EQ(severity_of(record_of({rank}), "gpu_slice"), "");
  rank.device.name += " MIG 1g.10gb";
  EXPECT_EQ(severity_of(record_of({rank}), "gpu_slice"), "note");
}

// Two ranks in a control group that may use one and a half of their three CPUs.
TEST(Flags, AQuotaBoundsWhatTheCpusCanDo) {
  run::RankResult rank = rank_of(0, 41);
  rank.place.cpus = {0, 1, 2};
  rank.place.quota = {1.5, "/job"};
  EXPECT_EQ(record_of({rank, rank})["threads"]["cpu_capacity"], 1.5);
  run::RankResult other = rank;
  other.place.quota.group = "/another";
  EXPECT_EQ(record_of({rank, other})["threads"]["cpu_capacity"], 3.0);
  other.place.quota = {};
  EXPECT_EQ(record_of({rank, other})["threads"]["cpu_capacity"], 3.0);
}

TEST(Flags, NeighboursOnTheRunsOwnCpusCount) {
  run::RankResult rank = rank_of(0);
  rank.host.cpu_other_processes = 0.06;
  EXPECT_EQ(severity_of(record_of({rank}), "noisy_neighbour"), "");
  rank.host.usable_cpus_other_processes = 0.9;
  const auto record = record_of({rank});
  EXPECT_EQ(severity_of(record, "noisy_neighbour"), "warning");
  EXPECT_EQ(record["monitors"]["usable_cpus_other_processes"], 0.9);
}

// dm-crypt, network storage, interrupts: nobody can end them.
TEST(Flags, WhatTheKernelDoesIsNoNeighbour) {
  run::RankResult rank = rank_of(0);
  rank.host.cpu_busy = 0.5, rank.host.cpu_other_processes = 0.3;
  EXPECT_THAT(reason_of(record_of({rank}), "noisy_neighbour"),
              testing::EndsWith("took 30.0 % of the CPUs (the kernel's own threads and "
                                "interrupts, which cannot be told apart here, included)"));
  rank.host.cpu_kernel_threads = 0.22;
  auto record = record_of({rank});
  EXPECT_EQ(severity_of(record, "noisy_neighbour"), "");
  EXPECT_EQ(record["monitors"]["cpu_kernel_threads"], 0.22);
  EXPECT_EQ(record["monitors"]["cpu_other_processes"], 0.3);
  rank.host.cpu_kernel_threads = 0.1;
  EXPECT_EQ(reason_of(record_of({rank}), "noisy_neighbour"),
            "other processes took at least 20.0 % of the CPUs; the kernel's own threads and "
            "interrupts, up to 10.0 % more, are left out");
  rank.host.usable_cpus_other_processes = 0.9, rank.host.usable_cpus_kernel_threads = 0.85;
  EXPECT_THAT(reason_of(record_of({rank}), "noisy_neighbour"),
              testing::HasSubstr("took at least 20.0 %"));
  rank.host.cpu_other_processes = 0.1;
  EXPECT_EQ(severity_of(record_of({rank}), "noisy_neighbour"), "");
}

// A kernel that counts interrupts as the time of the run's own threads, too.
TEST(Flags, NeighboursThatMayHaveTakenTooMuchAreNoted) {
  run::RankResult rank = rank_of(0);
  rank.host.cpu_busy = 0.5, rank.host.cpu_other_processes = 0.13;
  rank.host.cpu_kernel_threads = 0.05, rank.host.cpu_interrupts = 0.04;
  const auto record = record_of({rank});
  EXPECT_EQ(severity_of(record, "noisy_neighbour"), "note");
  EXPECT_THAT(reason_of(record, "noisy_neighbour"),
              testing::StartsWith("other processes took between 8.0 and 12.0 % of the CPUs: this"));
  EXPECT_EQ(record["monitors"]["cpu_interrupts"], 0.04);
  rank.host.cpu_interrupts = 0.01;
  EXPECT_EQ(severity_of(record_of({rank}), "noisy_neighbour"), "");
  rank.host.usable_cpus_other_processes = 0.13;
  rank.host.usable_cpus_kernel_threads = rank.host.usable_cpus_interrupts = 0.05;
  EXPECT_THAT(reason_of(record_of({rank}), "noisy_neighbour"),
              testing::HasSubstr("between 8.0 and 13.0 % of the CPUs that it may use: "));
  rank.host.cpu_kernel_threads = 0.01;
  EXPECT_EQ(severity_of(record_of({rank}), "noisy_neighbour"), "warning");
}

// Their neighbours belong with what the kernel did on the same CPUs.
TEST(Flags, OfRanksWithCpusOfTheirOwnTheMostCrowdedIsSaid) {
  run::RankResult first = rank_of(0), second = rank_of(0);
  second.place.pid = 4712, second.place.cpus = {3, 4};
  for (run::RankResult* rank : {&first, &second})
    rank->host.cpu_busy = 0.5, rank->host.cpu_other_processes = 0.3;
  first.host.cpu_kernel_threads = 0.1;
  first.host.usable_cpus_other_processes = first.host.usable_cpus_kernel_threads = 0.3;
  second.host.usable_cpus_other_processes = 0.25;  // it does not look at the kernel's threads
  const auto record = record_of({first, second});
  EXPECT_EQ(record["monitors"]["usable_cpus_other_processes"], 0.25);
  EXPECT_EQ(record["monitors"]["usable_cpus_kernel_threads"], 0.1);
  EXPECT_THAT(reason_of(record, "noisy_neighbour"),
              testing::StartsWith("other processes took at least 15.0 % of the CPUs that it may "
                                  "use"));
}

// `dd` on the device that the files lie on.
TEST(Flags, ANeighbourOnTheStorageIsSaid) {
  const auto record_with = [](double own, std::int64_t device, std::int64_t asked) {
    run::RankResult rank = rank_of(0);
    rank.stages[measure::Stage::read] = {1, 1, 8, asked};
    rank.host.storage_read_bytes = own;
    if (device > 0) rank.storage_counters = {{"xfs.read", -1, 5 * device}, {"vdb", 0, device}};
    return record_of({rank});
  };
  const auto of = [&](double own, std::int64_t device, std::int64_t asked = 170'000'000) {
    return severity_of(record_with(own, device, asked), "storage_shared");
  };
  const auto record = record_with(170e6, 202'000'000, 170'000'000);
  EXPECT_EQ(severity_of(record, "storage_shared"), "warning");
  EXPECT_EQ(record["monitors"]["storage_other_read_bytes"], 32'000'000);
  EXPECT_EQ(reason_of(record, "storage_shared"),
            "other programs read 32.0 MB of vdb, 18.8 % of the 170.0 MB that the run read of it");
  EXPECT_EQ(of(170e6, 178'000'000), "") << "below a twentieth";
  EXPECT_EQ(of(170e6, 179'000'000), "warning");
  EXPECT_EQ(of(20e6, 23'000'000, 20'000'000), "") << "a few megabytes";
  EXPECT_EQ(of(1e6, 90'000'000), "") << "the run lives on the page cache";
  EXPECT_EQ(of(170e6, 0), "") << "no device: a network's storage, or tmpfs";
  EXPECT_EQ(of(-1, 202'000'000), "") << "nobody counts what the run reads";
}

// Two workers, four reads each, of a megabyte: all of them ended in the window, none began before.
TEST(Flags, WhatWasUnderWayWhenAColdPassBeganIsItsOwn) {
  const auto of = [](const char* page_cache, std::int64_t device, double max_seconds = 120) {
    run::RankResult rank = rank_of(0);
    rank.stages[measure::Stage::read] = {1, 1, 100, 100'000'000};
    rank.host.storage_read_bytes = 100e6;
    rank.storage_counters = {{"vdb", 0, device}};
    run::CellResult result =
        result_of({{"device", {"emulated:1000"}}, {"data", {"jpeg"}}}, {.ranks = {rank}});
    result.settings.page_cache = page_cache;
    result.settings.workers = 2, result.settings.io_depth = 4;
    std::vector<std::string> differences;
    run::RunOptions options;
    options.limits.max_seconds = max_seconds;
    judge::FlagFacts facts{result, options, {}, {}, {}, differences};
    const auto flags = judge::flags_of(facts);
    return std::ranges::count(flags, "storage_shared", &judge::Flag::name);
  };
  EXPECT_EQ(of("cold", 108'000'000), 0);
  EXPECT_EQ(of("cold", 108'000'000, 0.01), 1) << "it ended before the pass did";
  EXPECT_EQ(of("as-is", 108'000'000), 1) << "as much is under way at its end";
  EXPECT_EQ(of("cold", 114'000'000), 1);
}

TEST(Flags, RanksOfOneMachineAreNoNeighboursOnItsStorage) {
  run::RankResult first = rank_of(0), second = rank_of(0);
  second.place.pid = 4712;
  first.storage_counters = {{"vdb", 0, 200'000'000}};
  for (run::RankResult* rank : {&first, &second}) {
    rank->stages[measure::Stage::read] = {1, 1, 8, 100'000'000};
    rank->host.storage_read_bytes = 100e6;
  }
  EXPECT_EQ(record_of({first, second})["monitors"]["storage_other_read_bytes"], 0);
  second.place.host = "node2";
  EXPECT_EQ(record_of({first, second})["monitors"]["storage_other_read_bytes"], -1)
      << "what the first machine's ranks read is told with the others'";
}

TEST(Flags, AQuotaThatStoppedTheRunIsSaid) {
  run::RankResult rank = rank_of(0);
  rank.host.cpu_quota_stopped = 0.01;
  EXPECT_EQ(severity_of(record_of({rank}), "cpu_quota"), "");
  rank.host.cpu_quota_stopped = 0.3;
  const auto record = record_of({rank});
  EXPECT_EQ(severity_of(record, "cpu_quota"), "warning");
  EXPECT_EQ(record["monitors"]["cpu_quota_stopped"], 0.3);
}

TEST(Flags, WarmIsWhatDidNotComeFromStorage) {
  run::RankResult rank = rank_of(0);
  rank.stages[measure::Stage::read].bytes = 1000;
  const auto of = [&](double fetched) {
    rank.host.storage_read_bytes = fetched;
    const plan::AxisValues axes = {
        {"device", {"emulated:1000"}}, {"data", {"jpeg"}}, {"page-cache", {"warm"}}};
    return severity_of(
        json_of(result_of(axes, {.ranks = {rank}, .page_cache = {.state = "warm", .before = 1}})),
        "page_cache");
  };
  EXPECT_EQ(of(0), "");
  EXPECT_EQ(of(-1), "") << "cannot be told";
  EXPECT_EQ(of(40), "");
  EXPECT_EQ(of(60), "serious");
}

// A program that is the limit is so in all of the ceiling's blocks.
TEST(Flags, TheProgramIsTheLimitWhereTheCeilingsMiddleBlockIsSlow) {
  const auto with_slow_blocks = [](std::size_t slow) {
    run::RankResult rank = rank_in_pairs(5);
    rank.device = {.name = "emulated", .kind = "emulated", .step_ms = 10};
    for (const run::BlockSpan& block : rank.blocks) {
      if (!block.is_ceiling || slow == 0) continue;
      rank.steps[static_cast<std::size_t>(block.last) - 1].end_ns += 5 * kMs;
      --slow;
    }
    const plan::AxisValues axes = {
        {"device", {"emulated:800"}}, {"data", {"jpeg"}}, {"batch-size", {"8"}}};
    return severity_of(json_of(result_of(axes, {.ranks = {rank}})), "harness_bound");
  };
  EXPECT_EQ(with_slow_blocks(0), "");
  EXPECT_EQ(with_slow_blocks(2), "") << "two of five: something took a CPU for a moment";
  EXPECT_EQ(with_slow_blocks(3), "serious");
}

TEST(Flags, SeriousOnesMakeARecordInvalid) {
  run::RankResult rank = rank_of(0);
  rank.drawn_from_queue = 0.04;
  const auto warned = record_of({rank});
  EXPECT_EQ(severity_of(warned, "queue_not_at_rest"), "warning");
  EXPECT_TRUE(warned["valid"] == (severity_of(warned, "harness_bound") != "serious"));
  rank.gpu.push_back({20 * kMs, {.throttle_reasons = measure::kThrottleHot}});
  EXPECT_EQ(record_of({rank})["valid"], false);
}

TEST(Flags, AColdRunWhoseBytesCameFromACacheIsInvalid) {
  const auto cold = [](double fetched) {
    run::RankResult rank = rank_of(0);
    rank.stages[measure::Stage::read] = {1, 1, 8, 1000};
    rank.host.storage_read_bytes = fetched;
    const plan::AxisValues axes = {{"device", {"emulated:1000"}},
                                   {"data", {"jpeg"}},
                                   {"batch-size", {"8"}},
                                   {"page-cache", {"cold"}}};
    return json_of(
        result_of(axes, {.ranks = {rank}, .page_cache = {.state = "cold", .before = 0}}));
  };
  EXPECT_EQ(severity_of(cold(500), "page_cache"), "serious");
  EXPECT_EQ(severity_of(cold(4096), "page_cache"), "");
  EXPECT_EQ(severity_of(cold(-1), "page_cache"), "") << "cannot be told";
  EXPECT_EQ(severity_of(cold(4096), "client_cold"), "note");
}

// A file system may take O_DIRECT and read through a cache of its own all the same.
TEST(Flags, DirectReadsThatCameFromACacheAreInvalid) {
  const auto direct = [](double fetched) {
    run::RankResult rank = rank_of(0);
    rank.stages[measure::Stage::read] = {1, 1, 8, 2'000'000};
    rank.host.storage_read_bytes = fetched;
    const plan::AxisValues axes = {{"device", {"emulated:1000"}},
                                   {"data", {"jpeg"}},
                                   {"batch-size", {"8"}},
                                   {"io", {"direct"}}};
    return json_of(result_of(axes, {.ranks = {rank}, .page_cache = {.state = "bypassed"}}));
  };
  EXPECT_EQ(severity_of(direct(500'000), "page_cache"), "serious");
  EXPECT_EQ(severity_of(direct(2'100'000), "page_cache"), "");
  EXPECT_EQ(severity_of(direct(2'100'000), "client_cold"), "note");
  const auto record = direct(500'000);
  for (const auto& flag : record["flags"]) {
    if (flag["name"] == "page_cache") {
      EXPECT_EQ(flag["reason"],
                "the process read 0.5 MB from storage, and needed 2.0 MB: the rest (75.0 %) lay in "
                "a cache");
    }
  }
}

TEST(Flags, FilesOfTmpfsAreSaidToLieInMemory) {
  run::RankResult rank = rank_of(0);
  rank.stages[measure::Stage::read] = {1, 1, 8, 2'000'000};
  rank.host.storage_read_bytes = 0;
  const plan::AxisValues axes = {
      {"device", {"emulated:1000"}}, {"data", {"jpeg"}}, {"batch-size", {"8"}}, {"io", {"direct"}}};
  const auto record = json_of(result_of(
      axes, {.ranks = {rank}, .page_cache = {.state = "bypassed", .file_system = "tmpfs"}}));
  std::string reason;
  for (const auto& flag : record["flags"])
    if (flag["name"] == "page_cache") reason = flag["reason"];
  EXPECT_EQ(reason,
            "the process read 0.0 MB from storage, and needed 2.0 MB: the rest (100.0 %) lay in "
            "memory, as all files of tmpfs do");
}

run::PageCache cold_with(const std::string& loops, double before, double after) {
  return {
      .state = "cold", .before = 0, .loops = loops, .loops_before = before, .loops_after = after};
}

// A loop device reads its file through the page cache as well.
TEST(Flags, ALoopDeviceWhoseFileIsInMemoryIsNotCold) {
  const auto of = [](run::PageCache cache, std::vector<measure::StorageCounter> counters = {}) {
    run::RankResult rank = rank_of(0);
    rank.stages[measure::Stage::read] = {1, 1, 8, 1000};
    rank.host.storage_read_bytes = 1000;
    rank.storage_counters = std::move(counters);
    const plan::AxisValues axes = {
        {"device", {"emulated:1000"}}, {"data", {"jpeg"}}, {"batch-size", {"8"}}};
    return severity_of(json_of(result_of(axes, {.ranks = {rank}, .page_cache = cache})),
                       "page_cache");
  };
  EXPECT_EQ(of(cold_with("", -1, -1)), "") << "there is none";
  EXPECT_EQ(of(cold_with("loop0", 0.01, 1)), "") << "the run itself has read it";
  EXPECT_EQ(of(cold_with("loop0", 0.06, 1)), "serious");
  EXPECT_EQ(of(cold_with("loop0", -1, -1)), "warning") << "this user may not look";
  run::PageCache direct = cold_with("loop0", 0, 1);
  direct.state = "bypassed";
  EXPECT_EQ(of(direct), "serious") << "what one pass leaves there serves the next";
  const auto chain = [](std::int64_t lowest) {
    return std::vector<measure::StorageCounter>{
        {"xfs.read", -1, 5000}, {"loop0", 0, 1000}, {"vda", 1, lowest}};
  };
  EXPECT_EQ(of(cold_with("loop0", 0, 1), chain(900)), "");
  EXPECT_EQ(of(cold_with("loop0", 0, 1), chain(700)), "serious") << "it lay in the page cache";
  EXPECT_EQ(of(cold_with("", -1, -1), chain(700)), "") << "no file is below: compressed, perhaps";
  const std::vector<measure::StorageCounter> raid = {
      {"md0", 0, 1000}, {"loop0", 1, 500}, {"sdb", 1, 500}, {"vda", 2, 500}};
  EXPECT_EQ(of(cold_with("loop0", 0, 1), raid), "") << "the rest came from another one";
}

TEST(Flags, AColdDatasetThatMemoryCouldHoldIsALook) {
  const auto of = [](const char* state, std::uint64_t bytes, std::uint64_t memory) {
    const plan::AxisValues axes = {
        {"device", {"emulated:1000"}}, {"data", {"jpeg"}}, {"batch-size", {"8"}}};
    run::CellResult result =
        result_of(axes, {.ranks = {rank_of(0)},
                         .page_cache = {.state = state, .before = 0, .memory_bytes = memory}});
    result.dataset =
        std::make_shared<storage::DatasetVariant>(storage::DatasetVariant{.total_bytes = bytes});
    return json_of(std::move(result));
  };
  const auto record = of("cold", 49'000'000'000, 10'000'000'000);
  EXPECT_EQ(severity_of(record, "page_cache"), "warning");
  for (const auto& flag : record["flags"]) {
    if (flag["name"] == "page_cache") {
      EXPECT_EQ(flag["reason"],
                "the dataset (49.00 GB) is smaller than 5 times the memory (10.00 GB: RAM, or the "
                "control group's limit): enough for a look, not for a published result (MLPerf "
                "Storage asks for 5 times the host's memory)");
    }
  }
  EXPECT_EQ(severity_of(of("cold", 50'000'000'000, 10'000'000'000), "page_cache"), "");
  EXPECT_EQ(severity_of(of("cold", 1, 0), "page_cache"), "") << "unknown";
  EXPECT_EQ(severity_of(of("bypassed", 1, 1'000'000), "page_cache"), "") << "O_DIRECT";
}

TEST(Flags, WhatAServerKeepsIsSaidToBeUnknown) {
  const auto reason = [](const char* scope) {
    const plan::AxisValues axes = {
        {"device", {"emulated:1000"}}, {"data", {"jpeg"}}, {"batch-size", {"8"}}};
    const auto record = json_of(result_of(
        axes,
        {.ranks = {rank_of(0)},
         .page_cache = {.state = "cold", .before = 0, .scope = scope, .file_system = "nfs4"}}));
    std::string found;
    for (const auto& flag : record["flags"]) {
      if (flag["name"] == "client_cold") found = flag["reason"];
    }
    return found;
  };
  EXPECT_EQ(reason("client"),
            "cold is this client's page cache; what the server or program behind nfs4 keeps in a "
            "cache of its own is unknown");
  EXPECT_EQ(reason("host"),
            "cold is this machine's page cache; what a drive keeps in its own is not seen");
}

// As it was left: whatever ran before decides what comes from memory.
run::CellResult as_is(double fetched, run::PageCache cache) {
  run::RankResult rank = rank_of(0);
  rank.stages[measure::Stage::read] = {1, 1, 8, 1000};
  rank.host.storage_read_bytes = fetched;
  cache.state = "as-is";
  const plan::AxisValues axes = {
      {"device", {"emulated:1000"}}, {"data", {"jpeg"}}, {"batch-size", {"8"}}};
  return result_of(axes, {.ranks = {rank}, .page_cache = cache});
}

TEST(Flags, AsIsSaysWhatCameFromMemory) {
  EXPECT_EQ(severity_of(json_of(as_is(990, {})), "page_cache"), "");
  EXPECT_EQ(severity_of(json_of(as_is(-1, {})), "page_cache"), "warning") << "nobody counted";
  EXPECT_EQ(severity_of(json_of(as_is(0, {})), "page_cache"), "warning")
      << "a file system that never counts";
  EXPECT_EQ(severity_of(json_of(as_is(900, {})), "page_cache"), "warning");
}

// In pairs the loader stands while the ceiling's blocks run, and what it reads from does.
TEST(Flags, StorageThatRestedIsSaid) {
  const auto reason = [](double fetched, bool in_pairs, const char* state = "as-is") {
    run::CellResult result = as_is(fetched, {.before = 0.9});
    result.measurement->page_cache.state = state;
    if (in_pairs) result.measurement->pairs.emplace();
    return reason_of(json_of(std::move(result)), "page_cache");
  };
  const std::string rested = "which rested while the ceiling's blocks ran";
  EXPECT_NE(reason(990, true).find(rested), std::string::npos) << reason(990, true);
  EXPECT_EQ(reason(990, false), "");
  EXPECT_EQ(reason(40, true).find(rested), std::string::npos) << "4 % of what was read";
  EXPECT_EQ(reason(990, true, "cold").find(rested), std::string::npos);
}

TEST(Flags, ACeilingWhoseWorkersDidNotStandStillIsSaid) {
  const auto reason = [](int disturbed, int of) {
    run::CellResult result = as_is(990, {});
    auto& pairs = result.measurement->pairs.emplace().pairs;
    for (int i = 0; i < of; ++i)
      pairs.push_back({.cell_steps = 4,
                       .ceiling_steps = 4,
                       .cell_s = 1,
                       .ceiling_s = 1,
                       .ceiling_disturbed = i < disturbed});
    return reason_of(json_of(std::move(result)), "ceiling_disturbed");
  };
  EXPECT_EQ(reason(1, 10), "");
  EXPECT_NE(reason(2, 10).find("in 2 of 10 pairs workers still finished"), std::string::npos);
}

TEST(Flags, RepetitionsThatBeganUnlikeAreSaid) {
  const auto after = [](double share, const char* state = "as-is") {
    run::CellResult result = as_is(1000, {.before = 0.5});
    const run::PageCache first{.state = state, .before = share};
    const plan::Cell cell = result.cell;
    const ledger::Record record =
        ledger::make_record(std::move(result), {plan::PlannedRun{cell}, 0, {}, first, {}}, {});
    return severity_of(ledger::record_json(record, {}, {}), "page_cache");
  };
  EXPECT_EQ(after(0.5), "");
  EXPECT_EQ(after(0.44), "warning");
  EXPECT_EQ(after(0.5, "warm"), "serious") << "auto stood for something else";
}

TEST(Flags, AsIsSaysThatLaterPassesReadMemory) {
  const auto of = [](bool fits, std::uint64_t bytes) {
    run::CellResult result = as_is(1000, {.fits = fits});
    result.dataset =
        std::make_shared<storage::DatasetVariant>(storage::DatasetVariant{.total_bytes = bytes});
    return severity_of(json_of(std::move(result)), "page_cache");
  };
  EXPECT_EQ(of(true, 500), "") << "two passes";
  EXPECT_EQ(of(true, 400), "warning");
  EXPECT_EQ(of(false, 400), "");
}

// A user who asked for warm files must be told louder than one for whom it was chosen.
TEST(Flags, AWarmCacheThatNobodyCanSeeIsSaid) {
  const auto of = [](const char* asked) {
    const plan::AxisValues axes = {
        {"device", {"emulated:1000"}}, {"data", {"jpeg"}}, {"page-cache", {asked}}};
    return severity_of(
        json_of(result_of(axes, {.ranks = {rank_of(0)}, .page_cache = {.state = "warm"}})),
        "page_cache");
  };
  EXPECT_EQ(of("warm"), "serious");
  EXPECT_EQ(of("auto"), "warning");
}

TEST(Flags, AClosingCeilingThatMovedIsADrift) {
  const auto severity = [](double opening) {
    run::CellResult result =
        result_of({{"device", {"emulated:1000"}}, {"batch-size", {"8"}}}, {.ranks = {rank_of(0)}});
    const plan::Cell cell = result.cell;
    const ledger::Record record = ledger::make_record(
        std::move(result),
        {{cell, plan::Role::closing_ceiling}, 0, judge::Ceiling{opening, {}}, {}, {}}, {});
    const auto json = ledger::record_json(record, {}, {});
    EXPECT_FALSE(json.contains("ceiling_imgs_per_s")) << "a ceiling has none";
    return severity_of(json, "ceiling_drifted");
  };
  EXPECT_EQ(severity(800), "") << "it reaches 800 images/s";
  EXPECT_EQ(severity(780), "") << "2.6 % faster";
  EXPECT_EQ(severity(770), "warning") << "3.9 % faster";
  EXPECT_EQ(severity(840), "warning") << "4.8 % slower";
}

TEST(Flags, JobsThatDidNotMeasureAtTheSameTimeAreNotToBeQuoted) {
  const auto record_with = [](std::optional<double> overlap) {
    run::CellResult result = result_of({{"device", {"emulated:1000"}}}, {.ranks = {rank_of(0)}});
    const plan::Cell cell = result.cell;
    ledger::RunContext context{.run = {cell}};
    context.jobs = ledger::JobsPart{
        .of = 3, .job = overlap ? 2 : 0, .copy = 1, .overlap = overlap, .base_seed = 7};
    return ledger::record_json(ledger::make_record(std::move(result), std::move(context), {}), {},
                               {});
  };
  EXPECT_EQ(severity_of(record_with(0.9), "jobs_not_overlapping"), "");
  EXPECT_EQ(severity_of(record_with(0.89), "jobs_not_overlapping"), "serious");
  EXPECT_EQ(severity_of(record_with(0), "jobs_not_overlapping"), "serious");
  EXPECT_EQ(severity_of(record_with({}), "jobs_not_overlapping"), "") << "alone";
  const nlohmann::ordered_json together = record_with(0.97)["jobs"],
                               alone = record_with({})["jobs"];
  const nlohmann::ordered_json expected = {{"of", 3},  {"together", true}, {"base_seed", 7},
                                           {"job", 2}, {"copy", 1},        {"overlap", 0.97}};
  EXPECT_EQ(together, expected);
  EXPECT_EQ(alone, (nlohmann::ordered_json{{"of", 3}, {"together", false}, {"base_seed", 7}}));
  EXPECT_FALSE(record_of({rank_of(0)}).contains("jobs")) << "of a plain run";
}

// What a reader of axes.json takes a rule for.
TEST(Flags, RulesHaveIdsOfTheirOwn) {
  std::set<std::string_view> ids;
  for (const judge::FlagRule& rule : judge::flag_rules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    EXPECT_FALSE(rule.remedy.empty()) << rule.id;
    EXPECT_TRUE(!rule.serious || rule.severity != judge::Severity::serious) << rule.id;
  }
}

}  // namespace
}  // namespace feedrate::tests
