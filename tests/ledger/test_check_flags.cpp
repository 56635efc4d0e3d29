#include "ledger/check_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "base/text.h"
#include "plan/expand.h"

namespace feedrate::tests {
namespace {

using Json = nlohmann::ordered_json;
using judge::FlagRule;

// A record that calls for no flag: 200 steps of 10 ms on the CPU, of JPEGs that lie in memory.
Json calm_record() {
  return Json::parse(R"({
    "imgs_per_s": 800.0, "window_s": 2.0, "steps": 200, "warmup_steps": 50,
    "device_rate": {"imgs_per_s": 1000.0, "ci95": [990.0, 1010.0]},
    "ceiling_imgs_per_s": 1000.0, "ceiling_device_rate": {"imgs_per_s": 1000.0, "ci95": [999.0, 1001.0]},
    "device_idle_fraction": 0.2, "step_ms": {"mean": 10.0}, "cpu_wait_s": 0.0, "arrivals": null,
    "stages": [{"name": "read", "wall_s": 0.1, "cpu_s": 0.05, "items": 1600, "bytes": 1000000}],
    "queue": {"drawn_fraction": 0.0, "drawn_mean": 0.0, "rank": 0},
    "threads": {"cpus": 4, "cpu_capacity": 4.0}, "bad_samples": 0, "straggler": null,
    "monitors": {"cpu_busy": 0.5, "cpu_steal": 0.0, "cpu_other_processes": 0.0,
                 "psi_memory_some": 0.0, "cpu_quota_stopped": 0.0,
                 "usable_cpus_other_processes": 0.0, "storage_read_bytes": 0,
                 "storage_counters": null, "stopped_s": 0.0, "suspended_s": 0.0, "series": null},
    "device": {"name": "a CPU", "kind": "cpu"},
    "ranks": [{"window_s": 2.0, "gpu": null}],
    "flags": [], "limits": {"min_seconds": 1.0, "max_seconds": 60.0, "min_steps": 50},
    "dataset": {"bytes": 1000000, "page_cache": "warm", "fits_in_memory": true,
                "page_cache_before": 1.0, "page_cache_after": 1.0, "memory_bytes": 100000}})");
}

// A record that is cold, on one machine, of a dataset that fills its memory six times.
Json read_cold(const char* dataset, const char* monitors = "{}", const char* state = "cold") {
  Json patch = {{"dataset", {{"page_cache", state}, {"bytes", 6000000}, {"memory_bytes", 1000000}}},
                {"monitors", {{"storage_read_bytes", 1000000}}}};
  patch["dataset"].merge_patch(Json::parse(dataset));
  patch["monitors"].merge_patch(Json::parse(monitors));
  return patch;
}

// Reads that come from storage through a loop device, which counts so many bytes below it.
Json below_a_loop(std::int64_t bytes) {
  Json patch = read_cold(R"({"page_cache_backing_before": 0.0, "page_cache_backing_after": 0.0})");
  patch["monitors"]["storage_counters"] = {
      {{"name", "loop0"}, {"depth", 0}, {"read_bytes", 1000000}},
      {{"name", "vda"}, {"depth", 1}, {"read_bytes", bytes}}};
  return patch;
}

// Cold reads of 100 MB, beside others of so many bytes.
Json reads_beside_others(std::int64_t bytes) {
  Json patch = read_cold("{}");
  patch["stages"] = {{{"name", "read"},
                      {"wall_s", 0.1},
                      {"cpu_s", 0.05},
                      {"items", 1600},
                      {"bytes", 100'000'000}}};
  patch["monitors"]["storage_read_bytes"] = 100'000'000;
  patch["monitors"]["storage_other_read_bytes"] = bytes;
  return patch;
}

// Reads of a dataset as it is, of which so many bytes came from storage.
Json read_as_is(std::int64_t fetched, const char* dataset = "{}") {
  Json patch = {{"dataset", {{"page_cache", "as-is"}}},
                {"monitors", {{"storage_read_bytes", fetched}}}};
  patch["dataset"].merge_patch(Json::parse(dataset));
  return patch;
}

// A run in pairs, of which so many ceilings were disturbed; each block of the ceiling took so long.
Json measured_in_pairs(int disturbed, int of, double ceiling_s = 0.1) {
  Json pairs = {{"took_s", 2.0}};
  for (int p = 0; p < of; ++p) {
    for (const char* whose : {"cell", "ceiling"}) {
      pairs[std::string(whose) + "_steps"].push_back(10);
      pairs[std::string(whose) + "_s"].push_back(ceiling_s);
      pairs[std::string(whose) + "_busy_s"].push_back(0.1);
    }
    pairs["ceiling_disturbed"].push_back(p < disturbed);
  }
  return {{"pairs", pairs}, {"ceiling_fraction", 0.8}, {"ceiling_fraction_ci95", {0.79, 0.81}}};
}

// A GPU whose step takes so many times as long as at the ceiling.
Json beside_its_ceiling(double factor) {
  const double rate = 1000 / factor;
  return {{"device", {{"kind", "cuda"}}},
          {"device_rate", {{"imgs_per_s", rate}, {"ci95", {rate, rate}}}},
          {"ceiling_device_rate", {{"ci95", {1000.0, 1000.0}}}}};
}

Json merged(Json a, const Json& b) {
  a.merge_patch(b);
  return a;
}

Json change(const char* text) { return Json::parse(text); }

struct Planted {
  Json change;  // of calm_record(), by RFC 7396
  const char* flags;
  plan::AxisValues axes = {};
  double opening_imgs_per_s = 0;  // of the ceiling that opened the repetition; 0: none
};

const plan::AxisValues kEmulated = {{"device", {"emulated:1000"}}};
const plan::AxisValues kEmulatedCeiling = {{"device", {"emulated:1000"}}, {"data", {"synthetic"}}};
const plan::AxisValues kCuda = {{"device", {"cuda"}}};
const plan::AxisValues kOwnByOpencv = {
    {"decoder", {"opencv"}}, {"data", {"auto"}}, {"image-size", {"mixed"}}};

// Values on both sides of each threshold, less than a tenth away from it.
std::vector<Planted> planted() {
  const auto gpu = [](const char* readings) {
    return merged(change(R"({"device": {"kind": "cuda"}})"),
                  {{"ranks", {{{"window_s", 2.0}, {"gpu", Json::parse(readings)}}}}});
  };
  const Json emulated = change(R"({"device": {"kind": "emulated", "step_ms": 8.0}})");
  return {
      {change("{}"), ""},
      {emulated, "emulated note", kEmulated},
      // The window.
      {change(R"({"limits": {"min_steps": 190}})"), ""},
      {change(R"({"limits": {"min_steps": 210}})"), "short_window warning"},
      {change(R"({"limits": {"min_steps": 390}})"), "short_window warning"},
      {change(R"({"limits": {"min_steps": 410}})"), "short_window serious"},
      {change(R"({"limits": {"min_seconds": 2.1}})"), "short_window warning"},
      {change(R"({"limits": {"min_seconds": 4.1}})"), "short_window serious"},
      {change(R"({"steps": 21, "limits": {"min_steps": 5}})"), ""},
      {change(R"({"steps": 19, "limits": {"min_steps": 5}})"), "short_window warning"},
      {change(R"({"steps": 10, "limits": {"min_steps": 5}})"), "short_window warning"},
      {change(R"({"steps": 9, "limits": {"min_steps": 5}})"), "short_window serious"},
      {change(R"({"queue": {"drawn_fraction": 0.0049}})"), ""},
      {change(R"({"queue": {"drawn_fraction": -0.0051}})"), "queue_not_at_rest warning"},
      {change(R"({"queue": {"drawn_fraction": 0.049}})"), "queue_not_at_rest warning"},
      {change(R"({"queue": {"drawn_fraction": 0.051}})"), "queue_not_at_rest serious"},
      {change(R"({"bad_samples": 1})"), "bad_samples serious"},
      {change(R"({"bad_samples": 1, "bad_pictures": {"found": 1, "drawn": 2000, "of": 10500}})"),
       "bad_samples note"},
      {change(R"({"bad_samples": 9, "bad_pictures": {"found": 1, "drawn": 2000, "of": 9500}})"),
       "bad_samples warning"},
      {change(R"({"bad_samples": 9, "bad_pictures": {"found": 95, "drawn": 9500, "of": 10000}})"),
       "bad_samples warning"},
      {change(
           R"({"bad_samples": 999, "bad_pictures": {"found": 105, "drawn": 10000, "of": 10000}})"),
       "bad_samples serious"},
      {change(R"({"pictures_with_stray_bytes": 0})"), ""},
      {change(R"({"pictures_with_stray_bytes": 1})"), "stray_bytes note"},
      // The ceiling.
      {change(R"({"ceiling_imgs_per_s": 778.0})"), ""},
      {change(R"({"ceiling_imgs_per_s": 775.0})"), "ceiling_exceeded warning"},
      {change(R"({"ceiling_imgs_per_s": 729.0})"), "ceiling_exceeded warning"},
      {change(R"({"ceiling_imgs_per_s": 725.0})"), "ceiling_exceeded serious"},
      {merged(measured_in_pairs(0, 20), change(R"({"ceiling_imgs_per_s": 775.0,
        "ceiling_fraction_ci95": [0.99, 1.05]})")),
       ""},
      {merged(measured_in_pairs(0, 20), change(R"({"ceiling_imgs_per_s": 775.0,
        "ceiling_fraction_ci95": [1.01, 1.05]})")),
       "ceiling_exceeded warning"},
      {measured_in_pairs(9, 95), ""},
      {measured_in_pairs(10, 96), "ceiling_disturbed warning"},
      {change(R"({"ceiling_imgs_per_s": 1000.0})"), "", {}, 1000 / 1.029 * 0.8},
      {change(R"({"ceiling_imgs_per_s": 1000.0})"),
       "ceiling_drifted warning",
       {},
       1000 / 1.031 * 0.8},
      // A step that is longer, or shorter, than the ceiling's.
      {beside_its_ceiling(1.0095), "", kCuda},
      {beside_its_ceiling(1.0105), "step_differs note", kCuda},
      {beside_its_ceiling(0.9905), "", kCuda},
      {beside_its_ceiling(0.9895), "step_differs warning", kCuda},
      // The host.
      {change(R"({"monitors": {"cpu_other_processes": 0.096}})"), ""},
      {change(R"({"monitors": {"cpu_other_processes": 0.104}})"), "noisy_neighbour warning"},
      {change(R"({"monitors": {"usable_cpus_other_processes": 0.104}})"),
       "noisy_neighbour warning"},
      {change(R"({"monitors": {"cpu_other_processes": 0.3, "cpu_kernel_threads": 0.204}})"), ""},
      {change(R"({"monitors": {"cpu_other_processes": 0.3, "cpu_kernel_threads": 0.196}})"),
       "noisy_neighbour warning"},
      {change(R"({"monitors": {"cpu_other_processes": 0.096, "cpu_kernel_threads": 0.05,
                               "cpu_interrupts": 0.05}})"),
       ""},
      {change(R"({"monitors": {"cpu_other_processes": 0.104, "cpu_kernel_threads": 0.05,
                               "cpu_interrupts": 0.05}})"),
       "noisy_neighbour note"},
      {change(R"({"monitors": {"usable_cpus_other_processes": 0.3,
                               "usable_cpus_kernel_threads": 0.204}})"),
       ""},
      {change(R"({"monitors": {"usable_cpus_other_processes": 0.3,
                               "usable_cpus_kernel_threads": 0.196}})"),
       "noisy_neighbour warning"},
      {reads_beside_others(4'900'000), "client_cold note"},
      {reads_beside_others(5'100'000), "client_cold note, storage_shared warning"},
      // Of one pass over the dataset: two workers' reads were under way when it began.
      {reads_beside_others(5'100'000), "client_cold note", {{"page-cache", {"cold"}}}},
      {change(
           R"({"other_machines": [{"host": "b", "monitors": {"cpu_busy": 0.5, "cpu_steal": 1.0}}]})"),
       "cpu_steal warning"},
      {change(R"({"monitors": {"cpu_steal": 0.019}})"), ""},
      {change(R"({"monitors": {"cpu_steal": 0.021}})"), "cpu_steal warning"},
      {change(R"({"monitors": {"cpu_quota_stopped": 0.0095}})"), ""},
      {change(R"({"monitors": {"cpu_quota_stopped": 0.0107}})"), "cpu_quota warning"},
      {change(R"({"monitors": {"psi_memory_some": 0.0095}})"), ""},
      {change(R"({"monitors": {"psi_memory_some": 0.0107}})"), "memory_pressure warning"},
      {change(R"({"monitors": {"cpu_busy": -1}})"), "host_unseen note"},
      {change(R"({"monitors": {"stopped_s": 0.0095}})"), ""},
      {change(R"({"monitors": {"stopped_s": 0.0107}})"), "stopped serious"},
      {merged(measured_in_pairs(0, 20), change(R"({"monitors": {"stopped_s": 0.0107}})")),
       "ceiling_unfit warning, stopped serious"},
      {change(R"({"monitors": {"suspended_s": 0.5}})"), "stopped serious"},
      {change(R"({"monitors": {"series": {"cpu_mhz": [1000, 904]}}})"), ""},
      {change(R"({"monitors": {"series": {"cpu_mhz": [1000, 904, 904]}}})"), ""},
      {change(R"({"monitors": {"series": {"cpu_mhz": [1000, 904, 896]}}})"),
       "clock_changed warning"},
      // The ranks.
      {change(R"({"straggler": {"rank": 1, "others_wait_ms": 0.49}})"), ""},
      {change(R"({"straggler": {"rank": 1, "others_wait_ms": 0.51}})"), "straggler warning"},
      {change(R"({"threads": {"cpu_capacity": 1.05}})"), ""},
      {change(R"({"threads": {"cpu_capacity": 0.95}})"), "oversubscribed note"},
      // GPUs.
      {gpu(R"({"throttled": "power cap, hardware slowdown"})"),
       "power_capped note, throttled serious", kCuda},
      {gpu(R"({"throttled": "power cap"})"), "power_capped note", kCuda},
      {gpu(R"({"throttled": "", "compute_processes": [1, 2]})"), "gpu_shared warning", kCuda},
      {gpu(R"({"throttled": "", "sm_mhz": [1000, 1000, 951, 951, 951, 952]})"), "", kCuda},
      {gpu(R"({"throttled": "", "sm_mhz": [1000, 1000, 951, 951, 949, 948]})"),
       "clock_changed warning", kCuda},
      {merged(gpu("null"), change(R"({"device": {"name": "NVIDIA H100 MIG 1g.10gb"}})")),
       "gpu_slice note", kCuda},
      // An emulated device: 8 ms for 8 images are 1,000 images/s.
      {merged(emulated, change(R"({"imgs_per_s": 991.0, "dataset": null})")), "emulated note",
       kEmulatedCeiling},
      {merged(emulated, change(R"({"imgs_per_s": 989.0, "dataset": null})")),
       "emulated note, harness_bound serious", kEmulatedCeiling},
      {merged(measured_in_pairs(0, 20, 0.0811), emulated),
       "ceiling_unfit warning, emulated note, harness_bound serious", kEmulated},
      {merged(measured_in_pairs(0, 20, 0.0801), emulated), "emulated note", kEmulated},
      // The loader.
      {change(R"({"steps": 205, "window_s": 2.05})"),
       "lenient_decoder note",
       {{"loader", {"dali"}}, {"prefetch", {"2"}}}},
      {change(R"({"steps": 195, "window_s": 1.95})"),
       "lenient_decoder note, unseen_queue note",
       {{"loader", {"dali"}}, {"prefetch", {"2"}}}},
      {change(R"({"steps": 205, "window_s": 2.05})"),
       "",
       {{"loader", {"dali"}}, {"prefetch", {"2"}}, {"data", {"png"}}}},
      {change("{}"), "lenient_decoder note", {{"decoder", {"opencv"}}}},
      {change("{}"), "", {{"decoder", {"opencv"}}, {"data", {"png"}}}},
      {change(R"({"dataset": {"made": {"formats": "jpeg 1, png 11"}}})"), "lenient_decoder note",
       kOwnByOpencv},
      {change(R"({"dataset": {"made": {"formats": "png 12"}}})"), "", kOwnByOpencv},
      // The page cache.
      {change(R"({"dataset": {"page_cache_before": -1.0}})"),
       "page_cache serious",
       {{"page-cache", {"warm"}}}},
      {change(R"({"dataset": {"page_cache_before": -1.0}})"),
       "page_cache warning",
       {{"page-cache", {"auto"}}}},
      {change(R"({"dataset": {"page_cache_before": 0.96}})"), ""},
      {change(R"({"dataset": {"page_cache_before": 0.94}})"), "page_cache warning"},
      {change(R"({"monitors": {"storage_read_bytes": 49000}})"), ""},
      {change(R"({"monitors": {"storage_read_bytes": 51000}})"), "page_cache serious"},
      {read_cold("{}", R"({"storage_read_bytes": 810000})"), "client_cold note"},
      {read_cold("{}", R"({"storage_read_bytes": 790000})"),
       "client_cold note, page_cache serious"},
      {read_cold("{}", "{}", "bypassed"), "client_cold note"},
      {read_cold(R"({"page_cache_backing_before": 0.049})"), "client_cold note"},
      {read_cold(R"({"page_cache_backing_before": 0.051})"),
       "client_cold note, page_cache serious"},
      {read_cold(R"({"page_cache_backing_before": -1})"), "client_cold note, page_cache warning"},
      {read_cold(R"({"page_cache_backing_before": 0.0, "page_cache_backing_after": 0.06})", "{}",
                 "bypassed"),
       "client_cold note, page_cache serious"},
      {below_a_loop(810000), "client_cold note"},
      {below_a_loop(790000), "client_cold note, page_cache serious"},
      {read_cold(R"({"bytes": 5100000})"), "client_cold note"},
      {read_cold(R"({"bytes": 4900000})"), "client_cold note, page_cache warning"},
      {read_as_is(951000), ""},
      {read_as_is(949000), "page_cache warning"},
      {read_as_is(0, R"({"page_cache_before": 0.4})"), "page_cache warning"},
      {read_as_is(1000000, R"({"page_cache_before": 0.5, "page_cache_first": 0.548,
        "page_cache_first_state": "as-is"})"),
       ""},
      {read_as_is(1000000, R"({"page_cache_before": 0.5, "page_cache_first": 0.552,
        "page_cache_first_state": "as-is"})"),
       "page_cache warning"},
      {change(R"({"dataset": {"page_cache_first": 1.0, "page_cache_first_state": "as-is"}})"),
       "page_cache serious"},
      {read_as_is(1000000, R"({"bytes": 510000})"), ""},
      {read_as_is(1000000, R"({"bytes": 490000})"), "page_cache warning"},
      {merged(measured_in_pairs(0, 20), read_as_is(49000)), "page_cache warning"},
      {merged(measured_in_pairs(0, 20), read_as_is(51000)),
       "page_cache warning, page_cache warning"},
      // The sweep, and several jobs at once.
      {change(R"({"forced": ["seed"]})"), "mixed_ledger warning"},
      {change(R"({"forced": ["seed", "host"]})"), "mixed_ledger serious"},
      {change(R"({"jobs": {"overlap": 0.91}})"), ""},
      {change(R"({"jobs": {"overlap": 0.89}})"), "jobs_not_overlapping serious"},
      {change(R"({"jobs": {"overlap": null}})"), ""},
  };
}

plan::CellSettings settings_of(const plan::AxisValues& axes) {
  plan::AxisValues all = {{"device", {"cpu"}},
                          {"data", {"jpeg"}},
                          {"batch-size", {"8"}},
                          {"page-cache", {"warm"}},
                          {"workers", {"2"}}};
  for (const auto& [axis, values] : axes) all[axis] = values;
  if (all["data"].front() == "synthetic") all.erase("page-cache"), all.erase("workers");
  return plan::settings_of(plan::expand(all).at(0));
}

Json changed_record(const Planted& planted) { return merged(calm_record(), planted.change); }

// "name severity, ..." of the flags, as the rules raise them, in alphabetical order.
std::string flags_of(const Planted& planted, const std::vector<FlagRule>& rules) {
  const Json record = changed_record(planted);
  const ledger::RecordedFacts recorded = ledger::facts_from(record, settings_of(planted.axes));
  judge::FlagFacts facts = recorded.facts();
  if (planted.opening_imgs_per_s > 0) facts.opening_imgs_per_s = planted.opening_imgs_per_s;
  std::multiset<std::string> found;
  for (const judge::Flag& flag : judge::flags_of(facts, rules))
    found.insert(flag.name + " " + std::string(judge::name_of(flag.severity)));
  return listed(found);
}

std::vector<FlagRule> all_rules() {
  return {judge::flag_rules().begin(), judge::flag_rules().end()};
}

TEST(CheckFlags, PlantedFactsCallForTheirFlags) {
  for (const Planted& fact : planted())
    EXPECT_EQ(flags_of(fact, all_rules()), fact.flags) << fact.change;
}

// A threshold of a count can move by a tenth and pass no number.
bool is_count(const FlagRule& rule) { return rule.id == "gpu_shared"; }

TEST(CheckFlags, NoThresholdMovesByATenthUnnoticed) {
  const auto is_noticed = [](std::vector<FlagRule>& rules) {
    return std::ranges::any_of(
        planted(), [&](const Planted& fact) { return flags_of(fact, rules) != fact.flags; });
  };
  for (std::size_t r = 0; r < all_rules().size(); ++r) {
    for (const auto limit : {&FlagRule::threshold, &FlagRule::serious}) {
      for (const double factor : {0.9, 1.1}) {
        std::vector<FlagRule> rules = all_rules();
        std::optional<double>& moved = rules[r].*limit;
        if (!moved || *moved == 0 || is_count(rules[r])) continue;
        *moved *= factor;
        EXPECT_TRUE(is_noticed(rules)) << rules[r].id << " times " << factor;
      }
    }
  }
}

Json stated_flags(const std::string& text) {
  Json flags = Json::array();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(", ", at), text.size());
    const std::string one = text.substr(at, end - at);
    const std::size_t blank = one.find(' ');
    flags.push_back({{"name", one.substr(0, blank)}, {"severity", one.substr(blank + 1)}});
    at = end + 2;
  }
  return flags;
}

std::vector<std::string> problems_of(const Planted& planted, const std::string& stated) {
  Json record = changed_record(planted);
  record["flags"] = stated_flags(stated);
  return ledger::flag_problems(record, settings_of(planted.axes));
}

TEST(CheckFlags, ARecordWithTheFlagsOfItsNumbersHasNoFinding) {
  for (const Planted& fact : planted()) {
    if (fact.opening_imgs_per_s > 0) continue;
    EXPECT_THAT(problems_of(fact, fact.flags), testing::IsEmpty()) << fact.change;
  }
}

TEST(CheckFlags, AFlagThatWasTakenOutIsMissed) {
  for (const Planted& fact : planted()) {
    if (fact.opening_imgs_per_s > 0 || *fact.flags == '\0') continue;
    EXPECT_THAT(problems_of(fact, ""), testing::Not(testing::IsEmpty())) << fact.change;
  }
}

TEST(CheckFlags, AFlagThatNothingCallsForIsFound) {
  using testing::ElementsAre;
  const Planted calm{change("{}"), ""};
  EXPECT_THAT(problems_of(calm, "noisy_neighbour warning"),
              ElementsAre("the flag noisy_neighbour is there, and the record's own numbers do not "
                          "call for it"));
  EXPECT_THAT(problems_of(calm, "certified note"),
              ElementsAre("the flag certified is none that there is"));
  EXPECT_THAT(problems_of(calm, "planted note"),
              ElementsAre("the flag planted is \"note\", which it never is"));
  EXPECT_THAT(problems_of(calm, "emulated mild"), testing::Not(testing::IsEmpty()));
  EXPECT_THAT(problems_of({change(R"({"forced": ["host"]})"), ""}, "mixed_ledger warning"),
              ElementsAre("the flag mixed_ledger is warning, the record's own numbers make it "
                          "serious"));
  for (const char* of_another : {"ceiling_unfit warning", "ceiling_drifted warning"}) {
    EXPECT_THAT(problems_of({measured_in_pairs(0, 20), ""}, of_another), testing::SizeIs(1));
    EXPECT_THAT(problems_of(calm, of_another), testing::IsEmpty()) << "another record tells";
  }
  EXPECT_THAT(problems_of(calm, "gpu_unseen note"), testing::IsEmpty()) << "no record tells";
}

// Its file may be elsewhere, or anything: nothing opens it.
TEST(CheckFlags, ARecordingIsNotOpened) {
  plan::CellSettings replayed = settings_of(kEmulated);
  replayed.device_argument = "trace=/dev/zero#1";
  Json record = merged(calm_record(), measured_in_pairs(0, 20, 0.0811));
  record.merge_patch(change(R"({"device": {"kind": "emulated", "step_ms": 8.0}})"));
  for (const char* stated :
       {"emulated note", "ceiling_unfit warning, emulated note, harness_bound serious"}) {
    record["flags"] = stated_flags(stated);
    EXPECT_THAT(ledger::flag_problems(record, replayed), testing::IsEmpty()) << stated;
  }
  record["flags"] = stated_flags("");
  EXPECT_THAT(ledger::flag_problems(record, replayed), testing::SizeIs(1));
}

TEST(CheckFlags, NumbersThatNoRunHasAreRefused) {
  for (const char* patch :
       {R"({"steps": 1e300})", R"({"steps": -1})", R"({"pairs": {"ceiling_s": [0, 0]}})",
        R"({"pairs": {"ceiling_steps": [1e300, 1]}})", R"({"pairs": {"cell_steps": []}})"}) {
    const Json odd = merged(measured_in_pairs(0, 2), change(patch));
    EXPECT_ANY_THROW(problems_of({odd, ""}, "")) << patch;
  }
  EXPECT_NO_THROW(problems_of(
      {change(R"({"ranks": [{"gpu": {"sm_mhz": [1e300], "compute_processes": [-1e300]}}]})"), ""},
      ""));
}

// A share of 0.0204 is written as 0.02.
TEST(CheckFlags, WhereRoundingDecidesEitherIsRight) {
  const Planted edge{change(R"({"monitors": {"cpu_steal": 0.02}})"), ""};
  EXPECT_THAT(problems_of(edge, ""), testing::IsEmpty());
  EXPECT_THAT(problems_of(edge, "cpu_steal warning"), testing::IsEmpty());
  EXPECT_THAT(problems_of({change(R"({"monitors": {"cpu_busy": 0}})"), ""}, ""),
              testing::IsEmpty());
}

}  // namespace
}  // namespace feedrate::tests
