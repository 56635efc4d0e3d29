#include "diagnose/advice.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "base/text.h"

namespace feedrate::diagnose {
namespace {

using measure::Estimate;
using measure::Interval;

constexpr int kMostWorkers = 256;                // of one GPU
constexpr double kMarginOfResize = 256.0 / 224;  // of the shorter side, as pictures are stored
// CPUs that share a core do far less than twice as much together, and a busy machine's clocks fall.
constexpr double kCpuLow = 0.6, kCpuHigh = 1.05;

// A capacity and what is known of it.
struct Cap {
  double mean = std::numeric_limits<double>::infinity();
  double low = mean, high = mean;
  std::string name;
};

Cap cap_of(const std::optional<Estimate>& rate, const std::string& name) {
  if (!rate) return {};
  const Interval ci95 = rate->ci95.value_or(Interval{rate->mean, rate->mean});
  return {rate->mean, ci95.low, ci95.high, name};
}

class Adviser {
 public:
  Adviser(const Evidence& e, const Diagnosis& d, const Surroundings& s) : e_(e), d_(d), s_(s) {
    ladder_ = e.ladder();
    now_ = cap_of(rate_of(ladder_, e.own_rung()), "now");
    device_ = device_cap();
    cpu_ = cpu_cap(d.cpu.ms * 1e-3 + e.mean_step_cpu_s());
  }

  std::vector<Remedy> all() {
    more_workers();
    keep_in_memory(Rung::encoded, "the files' bytes");
    keep_in_memory(Rung::decoded, "decoded pictures");
    keep_in_memory(Rung::sample, "finished samples");
    precached_tensors();
    undecoded_pictures();
    reads_beside();
    one_file();
    more_prefetch();
    smaller_pictures();
    augment_on_device();
    decode_on_device();
    larger_batch();
    faster_stage();
    std::erase_if(found_, [&](const Remedy& r) { return r.predicted.mean < kWorthIt * now_.mean; });
    std::ranges::stable_sort(found_, std::greater<>{},
                             [](const Remedy& r) { return r.predicted.mean; });
    return std::move(found_);
  }

 private:
  // What the device could take. Where it alone limits, that is what it takes now.
  Cap device_cap() const {
    if (binds("device") && !binds("workers") && !binds("CPU"))
      return {now_.mean, now_.low, now_.high, "the device"};
    Cap least = cap_of(rate_of(ladder_, Rung::synthetic), "the device");
    // Loaders beside it may slow it; real batches are copied and normalised.
    for (const Rung rung : {Rung::discard, Rung::host}) {
      const Cap cap = cap_of(rate_of(ladder_, rung), "the device");
      if (cap.mean < least.mean) least = cap;
    }
    return least;
  }
  bool binds(const char* resource) const {
    const auto& all = d_.finding.resources;
    return std::ranges::find(all, resource) != all.end();
  }
  // Where loaders alone were measured with one for each CPU, in proportion to that: CPUs that share
  // a core do less than twice as much together, and nothing else shows how much.
  Cap cpu_cap(double cpu_s_per_image) const {
    if (cpu_s_per_image <= 0) return {};
    const auto measured = rate_of(ladder_, Rung::cpus);
    const double of_loaders_s = 1e-3 * d_.cpu.ms, busy = e_.mean_cpus_busy();
    if (!measured || of_loaders_s <= 0 || busy <= 0) {
      const double all = e_.servers.cpus / cpu_s_per_image;
      return {all, kCpuLow * all, kCpuHigh * all, "the CPUs"};
    }
    Cap cap = cap_of(measured, "the CPUs");
    // What they leave of the CPUs, more of them would use.
    const double share = of_loaders_s / cpu_s_per_image / std::min(busy, 1.0);
    cap.mean *= share, cap.low *= share, cap.high *= share;
    return cap;
  }
  double wall_ms(std::string_view stage) const { return part_of(d_.service, stage); }
  double cpu_ms(std::string_view stage) const { return part_of(d_.cpu, stage); }
  static double part_of(const ServiceTimes& times, std::string_view stage) {
    const auto its = std::ranges::find(times.parts, stage, &ServiceTimes::Part::name);
    return its == times.parts.end() ? 0 : its->ms;
  }
  double slept_slope() const {
    for (const Slope& slope : d_.slopes)
      if (slope.place == measure::Place::worker && !slope.burns)
        return std::clamp(slope.slope.mean, 0.5, 1.0);
    return 1;
  }

  // The smallest of them limits. What limits now is one of the caps only where a remedy leaves it.
  void add(std::string name, std::map<std::string, std::string> changes, std::string why,
           std::vector<Cap> caps) {
    const auto least = std::ranges::min_element(caps, {}, &Cap::mean);
    Estimate predicted{.mean = least->mean};
    Interval ci95{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    for (const Cap& cap : caps) {
      ci95.low = std::min(ci95.low, cap.low);
      ci95.high = std::min(ci95.high, cap.high);
    }
    if (std::isfinite(ci95.low) && std::isfinite(ci95.high)) predicted.ci95 = ci95;
    if (!least->name.empty()) why += "; then " + least->name + " would limit";
    found_.push_back(
        {std::move(name), std::move(changes), std::move(why), predicted, std::nullopt, ""});
  }

  // The workers' own rate, if a sample took `ms` of one of `workers` (of all GPUs).
  Cap workers_cap(double workers, double ms) const {
    const double rate = 1e3 * workers / ms;
    return {rate, 0.95 * rate, 1.05 * rate, "the workers"};
  }
  // Where workers bind: what they reach now, times how much less of their time a sample takes.
  Cap scaled(double factor) const {
    const double rate = now_.mean * std::pow(factor, slept_slope());
    const double low = now_.low * std::pow(factor, 0.9 * slept_slope());
    return {rate, low, now_.high * factor, "the workers"};
  }

  // If a sample took `ms` of one worker.
  Cap workers_if_they_bind(double ms) const {
    return binds("workers") ? scaled(d_.service.ms / std::max(ms, 1e-3)) : Cap{};
  }

  void more_workers() {
    const double cpu_free_ms = d_.service.ms - wall_ms(kCpuWait);
    if (!binds("workers") || cpu_free_ms <= 0) return;
    const double most = std::min(device_.mean, cpu_.mean);
    const int gpus = e_.settings.gpus, now = e_.settings.workers;
    // 2 % more: the last worker must not be the one that is waited for.
    const double needed = 1.02 * most * cpu_free_ms * 1e-3 / gpus;
    const int workers = static_cast<int>(std::clamp(std::ceil(needed), 1.0, double{kMostWorkers}));
    if (workers <= now) return;
    add("more workers", {{"workers", std::to_string(workers)}},
        format("a sample takes %.3g ms of one worker", cpu_free_ms),
        {now > 0 ? scaled(static_cast<double>(workers) / now)
                 : workers_cap(static_cast<double>(workers) * gpus, cpu_free_ms),
         cpu_, device_});
  }

  // Of the whole dataset; 0: unknown.
  double kept_bytes(Rung rung) const {
    const plan::CellSettings& settings = e_.settings;
    const int copies = settings.emulated() ? 1 : settings.gpus;  // ranks that are processes
    if (rung == Rung::encoded) return copies * s_.samples * s_.bytes_per_sample;
    if (rung == Rung::sample)
      return copies * s_.samples * static_cast<double>(settings.batch_spec().sample_elements());
    if (settings.mixed_sizes) return 0;
    return copies * 3.0 * s_.samples * settings.image_size.width * settings.image_size.height;
  }

  void keep_in_memory(Rung rung, const char* what) {
    constexpr double kShareOfMemory = 0.8;
    const auto rate = rate_of(ladder_, rung);
    const double bytes = kept_bytes(rung);
    if (!rate || (s_.memory_available > 0 && bytes > kShareOfMemory * s_.memory_available)) return;
    std::string why = "a rung of the ladder";
    if (bytes > 0) why += format("; takes %s MB of memory", thousands(1e-6 * bytes).c_str());
    if (rung == Rung::sample) why += "; their crops are then always the same";
    add("keep " + std::string(what) + " in memory", {{"cache", std::string(name_of(rung))}}, why,
        {cap_of(rate, "")});
  }

  void precached_tensors() {
    const auto kept = rate_of(ladder_, Rung::sample);
    if (!kept || e_.settings.data == "tensor" || d_.service.ms <= 0) return;
    if (s_.bytes_per_sample <= 0) return;
    const double bytes = static_cast<double>(e_.settings.batch_spec().sample_bytes());
    // At most in proportion to the bytes: a file costs something by itself.
    const double read_ms = wall_ms("read") * std::max(1.0, bytes / s_.bytes_per_sample);
    const double collate_ms = wall_ms("collate");
    Cap workers = workers_cap(e_.servers.workers, std::max(read_ms + collate_ms, 1e-3));
    workers.high = cap_of(kept, "").high;
    add("precached tensors", {{"data", "tensor"}, {"image-size", ""}},
        format("they are read, not decoded: %.0f kB each instead of %.0f", 1e-3 * bytes,
               1e-3 * s_.bytes_per_sample),
        {cap_of(kept, "the device"), workers});
  }

  void reads_beside() {
    const double waits_ms = wall_ms("read") - cpu_ms("read");
    if (!binds("workers") || !s_.takes_engines || e_.settings.io != "buffered" ||
        waits_ms < 0.1 * d_.service.ms)
      return;
    const double rest = std::max(d_.service.ms - waits_ms, 0.05 * d_.service.ms);
    add("several reads at a time", {{"io", "uring"}, {"io-depth", "8"}},
        format("workers wait %.3g ms of %.3g for each read", waits_ms, d_.service.ms),
        {scaled(d_.service.ms / rest), cpu_, device_});
  }

  // Bigger files that need no decoder.
  void undecoded_pictures() {
    const plan::CellSettings& s = e_.settings;
    const bool is_raw = s.data == "raw" || s.data == "tensor";
    if (is_raw || s.mixed_sizes || !(binds("workers") || binds("CPU"))) return;
    const double bytes = 3.0 * s.image_size.width * s.image_size.height;
    const double more = bytes / std::max(1.0, s_.bytes_per_sample) - 1;
    if (s_.bytes_per_sample <= 0 || more < 0) return;
    const double rest_ms = d_.service.ms - wall_ms("decode") + more * wall_ms("read");
    const double rest_cpu_ms = d_.cpu.ms - cpu_ms("decode") + more * cpu_ms("read");
    add("store decoded pictures", {{"data", "raw"}},
        format("they need no decoding: %.0f kB each instead of %.0f", 1e-3 * bytes,
               1e-3 * s_.bytes_per_sample),
        {workers_if_they_bind(rest_ms), cpu_cap(1e-3 * rest_cpu_ms + e_.mean_step_cpu_s()),
         device_});
  }

  // One open file instead of one for each sample.
  void one_file() {
    const double opens_ms = e_.mean_open_share() * wall_ms("read");
    if (!binds("workers") || e_.settings.container != "files" || opens_ms <= 0) return;
    add("all samples in one file", {{"container", "packed"}},
        format("workers open files for %.3g ms of %.3g", opens_ms, d_.service.ms),
        {scaled(d_.service.ms / std::max(d_.service.ms - opens_ms, 1e-3)), cpu_, device_});
  }

  // Where nothing is slow on average, and yet the device waits: uneven batches.
  void more_prefetch() {
    const auto& all = e_.rounds.back().capacities;
    const auto loader = std::ranges::find(all, "loader", &Capacity::resource);
    const bool is_uneven = d_.finding.resources == std::vector<std::string>{"harness"};
    if (!is_uneven || loader == all.end() || e_.settings.workers == 0) return;
    const Cap loaders{loader->imgs_per_s, now_.low, loader->imgs_per_s, "the workers"};
    add("twice the prefetch", {{"prefetch", std::to_string(2 * e_.settings.prefetch)}},
        "the workers could make more: their batches come unevenly", {loaders, cpu_, device_});
  }

  void smaller_pictures() {
    const plan::CellSettings& s = e_.settings;
    const bool is_bound = binds("workers") || binds("CPU") || binds("storage");
    if (s.mixed_sizes || s.data == "tensor" || !is_bound) return;
    const double side = std::min(s.image_size.width, s.image_size.height);
    const double wanted =
        std::round(kMarginOfResize * std::max(s.input_size.width, s.input_size.height));
    if (side < 1.5 * wanted) return;
    const double scale = wanted / side, pixels = scale * scale;
    const codec::PixelSize size{static_cast<int>(std::lround(s.image_size.width * scale)),
                                static_cast<int>(std::lround(s.image_size.height * scale))};
    const double saved_ms = (1 - pixels) * (wall_ms("decode") + 0.5 * wall_ms("read"));
    const double saved_cpu_ms = (1 - pixels) * cpu_ms("decode");
    const Cap workers = workers_if_they_bind(d_.service.ms - saved_ms);
    const Cap cpu = cpu_cap(1e-3 * (d_.cpu.ms - saved_cpu_ms) + e_.mean_step_cpu_s());
    // Small pictures have more detail to a pixel, so their files shrink by less.
    Cap storage{now_.mean / pixels, now_.low / scale, now_.high / pixels, "the storage"};
    if (!binds("storage")) storage = {};
    add("store pictures nearer to the input's size", {{"image-size", codec::to_string(size)}},
        format("decoding %s takes %.3g ms of %.3g", codec::to_string(s.image_size).c_str(),
               wall_ms("decode"), d_.service.ms),
        {workers, storage, cpu, device_});
  }

  void augment_on_device() {
    if (e_.settings.device_kind != "cuda" || e_.settings.augment_on_device ||
        e_.settings.data == "tensor" || !(binds("workers") || binds("CPU")))
      return;
    const double rest = d_.service.ms - wall_ms("augment");
    const Cap cpu = cpu_cap(1e-3 * (d_.cpu.ms - cpu_ms("augment")) + e_.mean_step_cpu_s());
    add("augment on the device", {{"augment-on", "device"}},
        "its steps become longer by what augmenting takes there, which is not known before",
        {workers_if_they_bind(rest), cpu, device_});
  }

  void decode_on_device() {
    const plan::CellSettings& s = e_.settings;
    if (s.device_kind != "cuda" || s.decode_on_device || s.data != "jpeg" || s.loader == "dali" ||
        !(binds("workers") || binds("CPU")))
      return;
    const double wall = wall_ms("decode") + wall_ms("augment");
    const double cpu = cpu_ms("decode") + cpu_ms("augment");
    add("decode on the device", {{"decoder", "nvjpeg"}},
        "it augments as well; what that takes of it is not known before",
        {workers_if_they_bind(d_.service.ms - wall),
         cpu_cap(1e-3 * (d_.cpu.ms - cpu) + e_.mean_step_cpu_s()), device_});
  }

  // Averaging the gradients takes the same time whatever the batch.
  void larger_batch() {
    const double share = e_.mean_all_reduce_share();
    if (!binds("device") || share < 0.1) return;
    const double factor = 1 / (1 - share / 2);
    const Cap device{now_.mean * factor, now_.low * factor, now_.high * factor, "the device"};
    add("twice the batch", {{"batch-size", std::to_string(2 * e_.settings.batch_size)}},
        format("averaging gradients takes %.0f %% of a step", 100 * share), {device, cpu_});
  }

  // What a remedy would be worth that nobody has yet: the named stage in half the time.
  void faster_stage() {
    if (d_.finding.names.size() != 1 || d_.service.ms <= 0) return;
    const std::string& stage = d_.finding.names.front();
    const double wall = wall_ms(stage), cpu = cpu_ms(stage);
    if (wall <= 0) return;
    if (binds("workers")) {
      add(stage + " in half the time", {}, format("%.3g ms of %.3g", wall, d_.service.ms),
          {scaled(1 / (1 - wall / 2 / d_.service.ms)), device_});
    } else if (binds("CPU") && d_.cpu.ms > 0) {
      const double factor = 1 / (1 - cpu / 2 / (d_.cpu.ms + 1e3 * e_.mean_step_cpu_s()));
      add(stage + " in half the CPU time", {}, format("%.3g ms of %.3g", cpu, d_.cpu.ms),
          {{now_.mean * factor, now_.low * factor, now_.high * factor, "the CPUs"}, device_});
    }
  }

  const Evidence& e_;
  const Diagnosis& d_;
  const Surroundings& s_;
  std::vector<Round> ladder_;
  Cap now_, device_, cpu_;
  std::vector<Remedy> found_;
};

}  // namespace

std::string Remedy::options() const {
  std::string text;
  for (const auto& [axis, value] : changes)
    if (!value.empty()) text += (text.empty() ? "--" : " --") + axis + " " + value;
  return text;
}

std::vector<int> Remedy::workers_to_try() const {
  const auto its = changes.find("workers");
  if (its == changes.end()) return {};
  const int predicted = std::stoi(its->second);
  std::vector<int> all;
  for (const double share : {0.5, 0.75, 1.0, 1.5}) {
    const int workers = std::max(1, static_cast<int>(std::lround(share * predicted)));
    if (all.empty() || workers > all.back()) all.push_back(workers);
  }
  return all;
}

std::optional<int> Remedy::enough_workers() const {
  if (by_workers.empty()) return std::nullopt;
  double best = 0;
  for (const auto& [workers, rate] : by_workers) best = std::max(best, rate.mean);
  const auto enough = std::ranges::find_if(
      by_workers, [&](const auto& tried) { return tried.second.mean >= kAsGood * best; });
  const bool is_last = std::next(enough) == by_workers.end() && by_workers.size() > 1;
  return is_last ? std::nullopt : std::optional(enough->first);
}

std::vector<Remedy> advice_of(const Evidence& evidence, const Diagnosis& diagnosis,
                              const Surroundings& surroundings) {
  return evidence.rounds.empty() ? std::vector<Remedy>{}
                                 : Adviser(evidence, diagnosis, surroundings).all();
}

}  // namespace feedrate::diagnose
