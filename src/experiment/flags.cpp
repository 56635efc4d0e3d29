#include "experiment/flags.h"

#include <cmath>
#include <cstdio>

#include "experiment/record.h"
#include "measure/clock.h"
#include "measure/steady_state.h"

namespace feedrate {
namespace {

using Json = nlohmann::ordered_json;

std::string percent(double share) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
  return text;
}

class Flags {
 public:
  void add(bool raised, const char* name, const char* severity, const std::string& reason, const char* remedy) {
    if (raised) json_.push_back({{"name", name}, {"severity", severity}, {"reason", reason}, {"remedy", remedy}});
  }
  Json take() { return std::move(json_); }

 private:
  Json json_ = Json::array();
};

void flag_window(Flags& flags, const RankResult& rank, const RunOptions& options) {
  const double window = seconds(rank.steps[rank.last - 1].end_ns - rank.steps[rank.first - 1].end_ns);
  const auto steps = static_cast<int>(rank.last - rank.first);
  flags.add(!rank.steady, "unsteady", "warning",
            static_cast<int>(rank.first) > kSteadyNeeds
                ? "the steps were still changing when the warm-up's time was over"
                : "the warm-up's time was over after " + std::to_string(rank.first) + " steps; whether steps are steady shows after " +
                      std::to_string(kSteadyNeeds + 1),
            "raise --max-warmup-seconds");
  flags.add(steps < options.limits.min_steps || window < options.limits.min_seconds, "short_window", "warning",
            std::to_string(steps) + " steps in " + std::to_string(window) + " s were measured",
            "raise --max-seconds, or make a larger dataset (a cold run is one pass)");
  flags.add(std::abs(rank.drawn_from_queue) > 0.01, "queue_not_at_rest", "warning",
            percent(std::abs(rank.drawn_from_queue)) + " of the window's images " +
                (rank.drawn_from_queue > 0 ? "came out of the stock of the queues: the true rate is lower"
                                           : "went into the stock of the queues: the true rate is higher"),
            "raise --max-seconds, or lower --prefetch");
}

// What the program itself costs must not pass for the device's pace.
void flag_emulated(Flags& flags, const CellResult& result, const CellSettings& settings) {
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

void flag_host(Flags& flags, const HostUse& host) {
  flags.add(host.cpu_other_processes > 0.10, "noisy_neighbour", "warning",
            "other processes took " + percent(host.cpu_other_processes) + " of the CPUs",
            "end them, or run on a quiet machine");
  flags.add(host.cpu_steal > 0.02, "cpu_steal", "warning",
            "the hypervisor took " + percent(host.cpu_steal) + " of the CPUs", "run on a machine of your own");
}

}  // namespace

Json flags_of(const CellResult& result, const RunOptions& options) {
  Flags flags;
  const CellSettings settings = settings_of(result.cell);
  const bool emulated = split_device(settings.device).first == "emulated";
  flags.add(emulated, "emulated", "note", "no GPU trained: the device took real batches at a published or given rate",
            "run with --device cuda for a measured ceiling");
  flags.add(options.plant, "planted", "serious", "service times were planted in stages", "run without planted times");
  if (result.status != Status::ok) return flags.take();
  flag_window(flags, result.ranks.front(), options);
  if (result.bad && result.bad->count() > 0) {
    flags.add(true, "bad_samples", "serious",
              std::to_string(result.bad->count()) + " times a sample could not be made and the next one took its place; the first: " +
                  result.bad->first(),
              "replace the damaged files: `feedrate verify` lists them");
  }
  flag_host(flags, result.ranks.front().host);
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
  flags.add(threads > 2 * allowed_cpus(), "oversubscribed", "note",
            std::to_string(threads) + " loader threads share " + std::to_string(allowed_cpus()) + " CPUs",
            "workers beyond the CPUs help only where they wait for storage");
  flags.add((settings.page_cache == "cold" || settings.page_cache == "warm") && result.page_cache_before < 0,
            "page_cache", "serious", "whether the files lay in the page cache cannot be told (they are not yours to write)",
            "run as their owner, or use --page-cache as-is");
  flags.add(settings.page_cache == "warm" && result.page_cache_before >= 0 && result.page_cache_before < 0.95,
            "page_cache", "warning",
            "only " + percent(result.page_cache_before) + " of the dataset lay in the page cache at the start",
            "use a dataset that fits into memory, or --page-cache as-is");
  return flags.take();
}

}  // namespace feedrate
