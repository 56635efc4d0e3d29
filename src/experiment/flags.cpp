#include "experiment/flags.h"

#include <algorithm>
#include <cmath>

#include "experiment/flag_list.h"
#include "experiment/rank_record.h"
#include "experiment/record.h"
#include "measure/clock.h"
#include "measure/steady_state.h"

namespace feedrate {
namespace {

using Json = nlohmann::ordered_json;

// Half the least that was asked for, or a twentieth of the images out of stock: no rate of anything.
constexpr double kFarTooShort = 0.5, kMostlyStock = 0.05;

void flag_window(FlagList& flags, const RankResult& rank, const RunOptions& options) {
  const double window = window_seconds(rank), from_stock = std::abs(rank.drawn_from_queue);
  const auto steps = static_cast<int>(rank.last - rank.first);
  const auto shorter = [&](double share) { return steps < share * options.limits.min_steps || window < share * options.limits.min_seconds; };
  flags.add(!rank.steady, "unsteady", "warning",
            static_cast<int>(rank.first) > kSteadyNeeds
                ? "the steps were still changing when the warm-up's time was over"
                : "the warm-up's time was over after " + std::to_string(rank.first) + " steps; whether steps are steady shows after " +
                      std::to_string(kSteadyNeeds + 1),
            "raise --max-warmup-seconds");
  flags.add(is_changing(step_durations(rank.steps, rank.first, rank.last)), "unsteady", "warning", "the steps changed within the measured window",
            "warm up longer (--warmup-seconds), or see what changed: batch_times of the report");
  flags.add(shorter(1), "short_window", shorter(kFarTooShort) ? "serious" : "warning",
            std::to_string(steps) + " steps in " + std::to_string(window) + " s were measured",
            "raise --max-seconds, or make a larger dataset (a cold run is one pass)");
  flags.add(from_stock > 0.01, "queue_not_at_rest", from_stock > kMostlyStock ? "serious" : "warning",
            percent(from_stock) + " of the window's images " +
                (rank.drawn_from_queue > 0 ? "came out of the stock of the queues: the true rate is lower"
                                           : "went into the stock of the queues: the true rate is higher"),
            "raise --max-seconds, lower --prefetch, or make a larger dataset (a cold run is one pass)");
}

// What the program itself costs must not pass for the device's pace.
void flag_emulated(FlagList& flags, const CellResult& result, const CellSettings& settings) {
  const DeviceDescription& device = result.ranks.front().device;
  flags.add(!device.caveat.empty(), "scaled_rate", "warning", device.caveat,
            "give the rate of this size: --device emulated:IMGS_PER_S");
  if (settings.feed == Feed::streamed) return;
  const double asked = device.step_ms > 0 ? 1e3 * settings.batch_size * settings.gpus / device.step_ms : 0;
  const double reached = imgs_per_s(result);
  flags.add(asked == 0 || reached < 0.99 * asked, "harness_bound", "serious",
            "without any loading " + std::to_string(std::llround(reached)) + " images/s were reached, not the device's rate: the program itself is the limit",
            "raise --batch-size, or emulate a slower device");
}

// Where "warm" and "cold" are what they say.
void flag_page_cache(FlagList& flags, const CellResult& result, const CellSettings& settings) {
  const double before = result.page_cache_before;
  flags.add((settings.page_cache == "cold" || settings.page_cache == "warm") && before < 0,
            "page_cache", "serious", "whether the files lay in the page cache cannot be told (they are not yours to write)",
            "run as their owner, or use --page-cache as-is");
  flags.add(settings.page_cache == "warm" && before >= 0 && before < 0.95, "page_cache", "warning",
            "only " + percent(before) + " of the dataset lay in the page cache at the start",
            "use a dataset that fits into memory, or --page-cache as-is");
  double asked = 0;
  for (const RankResult& rank : result.ranks) asked += static_cast<double>(rank.stages[Stage::read].bytes);
  const double fetched = storage_read_bytes(result.ranks);
  flags.add(settings.page_cache == "warm" && asked > 0 && fetched > 0.05 * asked, "page_cache", "serious",
            percent(fetched / std::max(asked, 1.0)) + " of the bytes that were read came from storage: they had left the page cache",
            "see what else wants the memory, or use a dataset that fits into it");
  if (settings.page_cache != "cold") return;
  flags.add(fetched >= 0 && fetched < 0.8 * asked, "page_cache", "serious",
            "only " + percent(fetched / std::max(asked, 1.0)) + " of the bytes that were read came from storage: the rest lay in a cache",
            "see what else reads these files, or caches them below the page cache");
  flags.add(true, "client_cold", "note", "cold is this machine's page cache; what a storage server or a drive keeps in its own is not seen",
            "use a dataset several times as large as those caches");
}

}  // namespace

Json flags_of(const CellResult& result, const RunOptions& options) {
  FlagList flags;
  const CellSettings settings = settings_of(result.cell);
  const bool emulated = split_device(settings.device).first == "emulated";
  flags.add(emulated, "emulated", "note", "no GPU trained: the device took real batches at a published or given rate",
            "run with --device cuda for a measured ceiling");
  flags.add(options.plant, "planted", "serious", "service times were planted in stages", "run without planted times");
  if (result.status != Status::ok) return flags.take();
  flag_window(flags, result.ranks.front(), options);
  if (result.bad.count > 0) {
    flags.add(true, "bad_samples", "serious",
              std::to_string(result.bad.count) + " times a sample could not be made and the next one took its place; the first: " +
                  result.bad.first,
              "replace the damaged files: `feedrate verify` lists them");
  }
  flag_machine(flags, result.ranks);
  if (emulated) flag_emulated(flags, result, settings);
  // The window's rule sees what our queues hold; DALI's own, of `prefetch` batches, it does not.
  const auto steps = static_cast<double>(result.ranks.front().last - result.ranks.front().first);
  flags.add(settings.loader == "dali" && settings.feed == Feed::streamed && steps < 100.0 * settings.prefetch, "unseen_queue", "note",
            "DALI may have begun the window with up to " + std::to_string(settings.prefetch) + " finished batches, " +
                percent(settings.prefetch / std::max(steps, 1.0)) + " of it",
            "measure longer (--min-steps of 100 times --prefetch), or use a smaller --prefetch");
  flags.add(settings.loader == "dali" && settings.feed == Feed::streamed, "lenient_decoder", "note",
            "DALI trains on damaged JPEGs without a word", "check the files: `feedrate verify`");
  const int threads = settings.feed == Feed::streamed ? settings.workers * settings.gpus : 0;
  const int cpus = cpus_of(result.ranks);
  flags.add(threads > 2 * cpus, "oversubscribed", "note",
            std::to_string(threads) + " loader threads share " + std::to_string(cpus) + " CPUs",
            "workers beyond the CPUs help only where they wait for storage");
  flag_page_cache(flags, result, settings);
  return flags.take();
}

}  // namespace feedrate
