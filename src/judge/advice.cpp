#include "judge/advice.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "judge/caps.h"
#include "judge/reads_in_flight.h"

namespace feedrate::judge {
namespace {

using measure::Estimate;
using measure::Interval;

constexpr int kMostWorkers = 256;                // of one GPU
constexpr int kMostDepth = 1024;                 // see the axis io-depth
constexpr double kMarginOfResize = 256.0 / 224;  // of the shorter side, as pictures are stored

class Adviser {
 public:
  Adviser(const Evidence& e, const Diagnosis& d, const DataAndMemory& s)
      : e_(e), d_(d), s_(s), caps_(e, d) {}

  std::vector<Remedy> all() {
    more_workers();
    keep_in_memory(LadderRung::encoded, "the files' bytes");
    keep_in_memory(LadderRung::decoded, "decoded pictures");
    keep_in_memory(LadderRung::sample, "finished samples");
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
    std::erase_if(found_,
                  [&](const Remedy& r) { return r.predicted.mean < kWorthIt * caps_.now().mean; });
    std::ranges::stable_sort(found_, std::greater<>{},
                             [](const Remedy& r) { return r.predicted.mean; });
    return std::move(found_);
  }

 private:
  // The smallest of them limits. What limits now is one of the caps only where a remedy leaves it.
  void add(std::string name, std::map<std::string, std::string> changes, std::string why,
           std::vector<RateLimit> caps) {
    const auto least = std::ranges::min_element(caps, {}, &RateLimit::mean);
    Estimate predicted{.mean = least->mean};
    Interval ci95 = RateLimit{}.may_be.value();
    for (const RateLimit& cap : caps) {
      if (!cap.may_be) continue;
      ci95.low = std::min(ci95.low, cap.may_be->low);
      ci95.high = std::min(ci95.high, cap.may_be->high);
    }
    const bool is_known =
        std::ranges::all_of(caps, [](const RateLimit& c) { return c.may_be.has_value(); });
    if (is_known && std::isfinite(ci95.high)) predicted.ci95 = ci95;
    if (!least->name.empty()) why += "; then " + least->name + " would limit";
    found_.push_back(
        {std::move(name), std::move(changes), std::move(why), predicted, std::nullopt, ""});
  }

  // More reads at once than were ever asked of it. With few rounds no interval says so.
  std::string if_the_storage_serves_it() const {
    const auto& names = d_.finding.names;
    const bool waits_for_reads = std::ranges::find(names, "read") != names.end();
    return waits_for_reads && e_.reads_reach_storage()
               ? ", if the storage serves so many reads at once (not measured here; `feedrate "
                 "capacity` does)"
               : "";
  }

  void more_workers() {
    const double cpu_free_ms = d_.service.ms - caps_.wall_ms(kCpuWait);
    if (!(caps_.binds("workers") || caps_.binds(kReadsInFlight)) || cpu_free_ms <= 0) return;
    const double most = std::min(caps_.device().mean, caps_.cpus().mean);
    const int gpus = e_.settings.gpus, now = e_.settings.workers;
    // Workers that are not ours tell of no sample's time, but of what they reach together.
    const double each = e_.settings.workers_can_be_delayed()
                            ? 1e3 / cpu_free_ms
                            : caps_.now().mean / gpus / std::max(1, now);
    // 2 % more: the last worker must not be the one that is waited for.
    const double needed = 1.02 * most / gpus / each;
    const int workers = static_cast<int>(std::clamp(std::ceil(needed), 1.0, double{kMostWorkers}));
    if (workers <= now) return;
    add("more workers", {{"workers", std::to_string(workers)}},
        format("a sample takes %.3g ms of one worker", 1e3 / each) + if_the_storage_serves_it(),
        {now > 0 ? caps_.scaled(static_cast<double>(workers) / now)
                 : caps_.workers(static_cast<double>(workers) * gpus, cpu_free_ms),
         caps_.storage(), caps_.cpus(), caps_.device()});
  }

  // As a cache keeps it: stored tensors as they are, pixels in a byte for each value.
  double bytes_of_sample() const {
    const pipeline::BatchSpec spec = e_.settings.batch_spec();
    return static_cast<double>(e_.settings.data == "tensor" ? spec.sample_bytes()
                                                            : spec.sample_elements());
  }

  // Of the whole dataset; 0: unknown. Of pictures of many sizes, a low estimate: a JPEG has at most
  // about a byte for each pixel, and no other file is much larger than its pixels.
  double kept_bytes(LadderRung rung) const {
    const plan::CellSettings& settings = e_.settings;
    const int copies = settings.emulated() ? 1 : settings.gpus;  // ranks that are processes
    const double files = s_.samples * s_.bytes_per_sample;
    if (rung == LadderRung::encoded) return copies * files;
    if (rung == LadderRung::sample) return copies * s_.samples * bytes_of_sample();
    if (settings.mixed_sizes) return copies * (settings.data == "jpeg" ? 3.0 : 1.0) * files;
    return copies * 3.0 * s_.samples * settings.image_size.width * settings.image_size.height;
  }

  void keep_in_memory(LadderRung rung, const char* what) {
    constexpr double kShareOfMemory = 0.8;
    const auto rate = caps_.rung(rung);
    const double bytes = kept_bytes(rung);
    const auto gain = loss_between(e_.sound_ladder(), rung, e_.own_rung(), e_.images_per_step());
    if (!rate || !gain || !gain->is_shown()) return;
    if (s_.memory_available > 0 && bytes > kShareOfMemory * s_.memory_available) return;
    std::string why = "a rung of the ladder";
    const bool is_least = e_.settings.mixed_sizes && rung == LadderRung::decoded;
    if (bytes > 0)
      why += format("; takes %s%s MB of memory", is_least ? "at least " : "",
                    thousands(1e-6 * bytes).c_str());
    if (s_.memory_available <= 0) why += "; whether that fits is not known";
    if (rung == LadderRung::sample) why += "; their crops are then always the same";
    add("keep " + std::string(what) + " in memory", {{"cache", std::string(name_of(rung))}}, why,
        {cap_of(rate, "")});
  }

  void precached_tensors() {
    const auto kept = caps_.rung(LadderRung::sample);
    if (!kept || e_.settings.data == "tensor" || d_.service.ms <= 0) return;
    if (s_.bytes_per_sample <= 0) return;
    const double bytes = static_cast<double>(e_.settings.batch_spec().sample_bytes());
    // At most in proportion to the bytes: a file costs something by itself.
    const double read_ms = caps_.wall_ms("read") * std::max(1.0, bytes / s_.bytes_per_sample);
    const double collate_ms = caps_.wall_ms("collate");
    RateLimit workers = caps_.workers(e_.servers.workers, std::max(read_ms + collate_ms, 1e-3));
    if (kept->ci95 && workers.may_be) workers.may_be->high = kept->ci95->high;
    add("precached tensors", {{"data", "tensor"}, {"image-size", ""}},
        format("they are read, not decoded: %.0f kB each instead of %.0f", 1e-3 * bytes,
               1e-3 * s_.bytes_per_sample),
        {caps_.device(), cap_of(kept, ""), workers, caps_.storage(bytes / s_.bytes_per_sample)});
  }

  // What a worker that reads one sample after the other would read by, several at a time.
  const char* engine_with_depth() const {
    const std::string& io = e_.settings.io;
    return io == "direct" ? "uring-direct" : io.starts_with("uring") ? io.c_str() : "uring";
  }

  void reads_beside() {
    const double waits_ms = caps_.wall_ms("read") - caps_.cpu_ms("read");
    const bool is_bound = caps_.binds("workers") || caps_.binds(kReadsInFlight);
    if (!is_bound || !s_.takes_engines || waits_ms < 0.1 * d_.service.ms) return;
    const double rest = std::max(d_.service.ms - waits_ms, 0.05 * d_.service.ms);
    if (e_.settings.io_depth > 1) return twice_the_depth(rest);
    add("several reads at a time", {{"io", engine_with_depth()}, {"io-depth", "8"}},
        format("workers wait %.3g ms of %.3g for each read", waits_ms, d_.service.ms) +
            if_the_storage_serves_it(),
        {caps_.scaled(d_.service.ms / rest), caps_.storage(), caps_.cpus(), caps_.device()});
  }

  // `rest_ms`: what a sample takes of a worker that waits for no read.
  void twice_the_depth(double rest_ms) {
    const int depth = e_.settings.io_depth;
    plan::CellSettings deeper = e_.settings;
    deeper.io_depth = 2 * depth;
    const int now = e_.settings.reads_of_worker(), then = deeper.reads_of_worker();
    if (!caps_.binds(kReadsInFlight) || 2 * depth > kMostDepth || then <= now) return;
    const auto reads = reads_in_flight_of(e_);
    add(then == 2 * now ? "twice the reads in flight" : "more reads in flight",
        {{"io-depth", std::to_string(2 * depth)}},
        (reads ? in_words(*reads) : format("%s: %d of each worker", kReadsInFlight.data(), now)) +
            if_the_storage_serves_it(),
        {caps_.scaled(static_cast<double>(then) / now), caps_.workers(e_.servers.workers, rest_ms),
         caps_.storage(), caps_.cpus(), caps_.device()});
  }

  // Bigger files that need no decoder.
  void undecoded_pictures() {
    const plan::CellSettings& s = e_.settings;
    const bool is_raw = s.data == "raw" || s.data == "tensor";
    if (is_raw || s.mixed_sizes || !(caps_.binds("workers") || caps_.binds("CPU"))) return;
    const double bytes = 3.0 * s.image_size.width * s.image_size.height;
    const double more = bytes / std::max(1.0, s_.bytes_per_sample) - 1;
    if (s_.bytes_per_sample <= 0 || more < 0) return;
    const double rest_ms = d_.service.ms - caps_.wall_ms("decode") + more * caps_.wall_ms("read");
    const double rest_cpu_ms = d_.cpu.ms - caps_.cpu_ms("decode") + more * caps_.cpu_ms("read");
    add("store decoded pictures", {{"data", "raw"}},
        format("they need no decoding: %.0f kB each instead of %.0f", 1e-3 * bytes,
               1e-3 * s_.bytes_per_sample),
        {caps_.workers_if_they_bind(rest_ms), caps_.storage(1 + more), caps_.cpus_if(rest_cpu_ms),
         caps_.device()});
  }

  // One open file instead of one for each sample.
  void one_file() {
    const double opens_ms = e_.mean_open_share() * caps_.wall_ms("read");
    if (!caps_.binds("workers") || e_.settings.container != "files" || opens_ms <= 0) return;
    add("all samples in one file", {{"container", "packed"}},
        format("workers open files for %.3g ms of %.3g", opens_ms, d_.service.ms),
        {caps_.scaled(d_.service.ms / std::max(d_.service.ms - opens_ms, 1e-3)), caps_.storage(),
         caps_.cpus(), caps_.device()});
  }

  // Where nothing is slow on average, and yet the device waits: uneven batches.
  void more_prefetch() {
    const auto& all = e_.rounds.back().capacities;
    const auto loader = std::ranges::find(all, "loader", &Capacity::resource);
    const bool is_uneven = d_.finding.resources == std::vector<std::string>{"harness"};
    if (!is_uneven || loader == all.end() || e_.settings.workers == 0) return;
    RateLimit loaders{loader->imgs_per_s, caps_.now().may_be, "the workers"};
    if (loaders.may_be) loaders.may_be->high = loader->imgs_per_s;
    add("twice the prefetch", {{"prefetch", std::to_string(2 * e_.settings.prefetch)}},
        "the workers could make more: their batches come unevenly",
        {loaders, caps_.cpus(), caps_.device()});
  }

  void smaller_pictures() {
    const plan::CellSettings& s = e_.settings;
    const bool is_bound = caps_.binds("workers") || caps_.binds("CPU") || caps_.binds("storage");
    if (s.mixed_sizes || s.data == "tensor" || !is_bound) return;
    const double side = std::min(s.image_size.width, s.image_size.height);
    const double wanted =
        std::round(kMarginOfResize * std::max(s.input_size.width, s.input_size.height));
    if (side < 1.5 * wanted) return;
    const double scale = wanted / side, pixels = scale * scale;
    const codec::PixelSize size{static_cast<int>(std::lround(s.image_size.width * scale)),
                                static_cast<int>(std::lround(s.image_size.height * scale))};
    const double saved_ms = (1 - pixels) * (caps_.wall_ms("decode") + 0.5 * caps_.wall_ms("read"));
    const double saved_cpu_ms = (1 - pixels) * caps_.cpu_ms("decode");
    const RateLimit workers = caps_.workers_if_they_bind(d_.service.ms - saved_ms);
    const RateLimit cpu = caps_.cpus_if(d_.cpu.ms - saved_cpu_ms);
    // Small pictures have more detail to a pixel, so their files shrink by less.
    RateLimit storage = caps_.storage(pixels);
    if (storage.may_be) storage.may_be->low *= pixels / scale;
    add("store pictures nearer to the input's size", {{"image-size", codec::to_string(size)}},
        format("decoding %s takes %.3g ms of %.3g", codec::to_string(s.image_size).c_str(),
               caps_.wall_ms("decode"), d_.service.ms),
        {workers, storage, cpu, caps_.device()});
  }

  void augment_on_device() {
    if (e_.settings.device_kind != "cuda" || e_.settings.augment_on_device ||
        e_.settings.data == "tensor" || !(caps_.binds("workers") || caps_.binds("CPU")))
      return;
    const double rest = d_.service.ms - caps_.wall_ms("augment");
    const RateLimit cpu = caps_.cpus_if(d_.cpu.ms - caps_.cpu_ms("augment"));
    add("augment on the device", {{"augment-on", "device"}},
        "its steps become longer by what augmenting takes there, which is not known before",
        {caps_.workers_if_they_bind(rest), caps_.storage(), cpu, caps_.device()});
  }

  void decode_on_device() {
    const plan::CellSettings& s = e_.settings;
    if (s.device_kind != "cuda" || s.decode_on_device || s.data != "jpeg" ||
        !(caps_.binds("workers") || caps_.binds("CPU")))
      return;
    const double wall = caps_.wall_ms("decode") + caps_.wall_ms("augment");
    const double cpu = caps_.cpu_ms("decode") + caps_.cpu_ms("augment");
    add("decode on the device", {{"decoder", "nvjpeg"}},
        "it augments as well; what that takes of it is not known before",
        {caps_.workers_if_they_bind(d_.service.ms - wall), caps_.storage(),
         caps_.cpus_if(d_.cpu.ms - cpu), caps_.device()});
  }

  // Averaging the gradients takes the same time whatever the batch.
  void larger_batch() {
    const double share = e_.mean_all_reduce_share();
    if (!caps_.binds("device") || share < 0.1) return;
    const double factor = 1 / (1 - share / 2);
    const RateLimit device = caps_.now().times(factor, "the device");
    add("twice the batch", {{"batch-size", std::to_string(2 * e_.settings.batch_size)}},
        format("averaging gradients takes %.0f %% of a step", 100 * share), {device, caps_.cpus()});
  }

  // What a remedy would be worth that nobody has yet: the named stage in half the time.
  void faster_stage() {
    if (d_.finding.names.size() != 1 || d_.service.ms <= 0) return;
    const std::string& stage = d_.finding.names.front();
    const double wall = caps_.wall_ms(stage), cpu = caps_.cpu_ms(stage);
    if (wall <= 0) return;
    if (caps_.binds("workers")) {
      add(stage + " in half the time", {}, format("%.3g ms of %.3g", wall, d_.service.ms),
          {caps_.scaled(1 / (1 - wall / 2 / d_.service.ms)), caps_.storage(), caps_.device()});
    } else if (caps_.binds("CPU") && d_.cpu.ms > 0) {
      const double factor = 1 / (1 - cpu / 2 / (d_.cpu.ms + 1e3 * e_.mean_step_cpu_s()));
      add(stage + " in half the CPU time", {}, format("%.3g ms of %.3g", cpu, d_.cpu.ms),
          {caps_.now().times(factor, "the CPUs"), caps_.storage(), caps_.device()});
    }
  }

  const Evidence& e_;
  const Diagnosis& d_;
  const DataAndMemory& s_;
  const Caps caps_;
  std::vector<Remedy> found_;
};

}  // namespace

std::vector<Remedy> advice_of(const Evidence& evidence, const Diagnosis& diagnosis,
                              const DataAndMemory& surroundings) {
  return evidence.rounds.empty() ? std::vector<Remedy>{}
                                 : Adviser(evidence, diagnosis, surroundings).all();
}

}  // namespace feedrate::judge
