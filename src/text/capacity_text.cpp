#include "text/capacity_text.h"

#include <algorithm>
#include <cstdio>

#include "base/text.h"
#include "judge/capacity.h"
#include "text/quotable.h"
#include "text/result_text.h"

namespace feedrate::text {
namespace {

constexpr const char* kPageCache = "page cache";
constexpr const char* kInterrupted = "DO NOT QUOTE: interrupted before the search was over\n";

std::string gpus_text(const judge::GpusFed& fed) {
  std::string text = (fed.at_least ? "at least " : "") + session::counted_gpus(fed.gpus);
  if (!fed.at_least && fed.low != fed.high) text += format(" (95 %%: %d to %d)", fed.low, fed.high);
  return text;
}

// "at least 2 GPUs, fewer than 8 GPUs", of an interrupted search that has measured some.
std::string gpus_so_far(const judge::GpuSearch& search, double share) {
  const int fed = search.fed(share).gpus;
  const auto starved = search.starved(share);
  std::string text = fed > 0 ? "at least " + session::counted_gpus(fed) : "";
  if (starved)
    text += (text.empty() ? "fewer than " : ", fewer than ") + session::counted_gpus(*starved);
  return text;
}

std::string beside_steps(double host_cpu_ms) {
  return host_cpu_ms > 0 ? format(" beside steps of %g ms of CPU", host_cpu_ms) : "";
}

// "1,510", or "1,510 (95 %: 1,480 to 1,540)".
std::string rate_and_interval(const measure::Estimate& rate) {
  std::string text = thousands(rate.mean);
  if (rate.ci95)
    text += format(" (95 %%: %s to %s)", thousands(rate.ci95->low).c_str(),
                   thousands(rate.ci95->high).c_str());
  return text;
}

// "600 img/s (EMULATED; given on the command line)": a name ends in how it is emulated, in
// parentheses, which take the source in.
std::string name_and_source(const device::EmulatedDevice& device) {
  std::string text = device.name;
  const std::size_t end = text.ends_with(')') ? text.size() - 1 : text.size();
  return text.insert(end, "; " + device.source);
}

constexpr double kMost = 0.5;  // of the time

// The reads in flight with which the search began. How long a read takes stands before the rate
// only where that is what the rate comes from.
std::string first_text(const session::ReadsFound& reads) {
  const auto& [first, runs] = *reads.readings.begin();
  const bool is_one = first.count() == 1;
  std::string text = is_one ? "one read at a time"
                            : std::to_string(first.count()) + " reads at a time (" +
                                  session::reads_text(first) + ")";
  const session::Reading reading = session::median_of(runs);
  const std::string rate = thousands(reading.imgs_per_s) + " img/s";
  if (!reads.first_read_ms) return text + ": " + rate;
  const double ms = *reads.first_read_ms;
  if (ms * reading.imgs_per_s >= 1e3 * kMost * first.count())
    return text + format(is_one ? " takes %.3g ms" : " take %.3g ms each", ms) + ": " + rate;
  const bool is_decoding = reads.decodes && reading.read_share > 0 && reading.read_share < kMost;
  return text + ": " + rate + format(" (a read takes %.3g ms", ms) +
         (is_decoding ? ", the rest is decoding)" : ", which is not what takes most of the time)");
}

// What the search over reads in flight takes for no gain: "less than 5 % more".
std::string no_gain() {
  return format("less than %.0f %% more", 100 * (judge::InFlightSearch::kHelps - 1));
}

// Then it is no sign that the storage has no more to give.
std::string busy_text(const session::ReadsFound& reads) {
  const double busy = std::min(1.0, session::cpus_busy_with_more(reads));
  return busy < judge::kCpuBound ? "" : ", with CPUs that were " + percent(busy) + " busy";
}

std::string more_text(const session::ReadsFound& reads) {
  if (reads.more_adds_nothing)
    return reads.typed.workers ? "and a larger depth gave " + no_gain() + busy_text(reads) +
                                     "; more workers were not tried"
                               : "and more gave " + no_gain() + busy_text(reads);
  return "and more was not tried: " + (reads.limit.empty()
                                           ? "the search ends at " + session::reads_text(reads.most)
                                           : reads.limit);
}

std::string workers_of_each(const session::ReadsFound& reads) {
  return std::to_string(reads.chosen.workers) +
         (reads.chosen.workers == 1 ? " worker" : " workers") + " a GPU";
}

// Why nothing was searched for.
std::string unsearched_text(const session::ReadsFound& reads) {
  return reads.limit.empty() ? ", as typed; more was not tried"
                             : "; more was not tried: " + reads.limit;
}

// One reader has one read at a time, whatever the workers, which decode.
std::string one_reader_text(const session::ReadsFound& reads) {
  const std::string text = "one at a time, as " + reads.one_reader + " has one reader; ";
  if (!reads.is_searched) return text + workers_of_each(reads) + unsearched_text(reads);
  return text + workers_of_each(reads) + ": " + thousands(session::chosen_imgs_per_s(reads)) +
         " img/s, " + more_text(reads);
}

// Where more workers were not tried, these may be the limit as well: they decode.
std::string one_reader_limit_text(const std::string& both, const session::ReadsFound& reads,
                                  const std::string& source) {
  if (reads.more_adds_nothing)
    return "the one reader of " + reads.one_reader + ", which reads one sample at a time: " + both +
           ". One GPU's loader alone got " + no_gain() + " with more workers" + busy_text(reads) +
           ". Whether the " + source + " gives more is not known: use another " +
           reads.one_reader.substr(0, reads.one_reader.find(' '));
  const bool is_typed = !reads.is_searched && reads.limit.empty();
  return "not known: " + both + ", with " + workers_of_each(reads) + " and the one reader of " +
         reads.one_reader + ". More workers were not tried" +
         (is_typed              ? ": leave out --workers"
          : reads.limit.empty() ? ""
                                : ": " + reads.limit);
}

std::string storage_limit_text(const std::string& both, const session::ReadsFound& reads,
                               const std::string& source) {
  if (!reads.one_reader.empty()) return one_reader_limit_text(both, reads, source);
  const std::string in_flight = std::to_string(reads.chosen.count());
  if (!reads.is_searched)
    return "not known: " + both + ", with " + in_flight + " in flight a GPU" +
           (reads.limit.empty()
                ? ", as typed. More were not tried: leave out --workers and --io-depth"
                : ". More were not tried: " + reads.limit);
  if (!reads.more_adds_nothing)
    return "the " + source + " or the reads in flight: " + both + ", with " + in_flight +
           " in flight a GPU, and more were not tried";
  const std::string alone = ". One GPU's loader alone got " +
                            thousands(session::chosen_imgs_per_s(reads)) + " img/s, and " +
                            no_gain() + " with ";
  if (reads.typed.workers)
    return "the " + source + ", as far as --workers " + std::to_string(reads.chosen.workers) +
           " ask it: " + both + alone + "a larger depth" + busy_text(reads) +
           "; more workers were not tried";
  const std::string busy = busy_text(reads);
  return "the " + source + (busy.empty() ? ": " : " or this machine's CPUs: ") + both + alone +
         "more reads in flight" + busy;
}

// What may help where this machine is the limit, by how busy its CPUs were; 0: unknown.
std::string machine_advice(const session::ReadsFound& reads, double cpus_busy) {
  const bool are_workers_searched = reads.is_searched && !reads.typed.workers;
  if (cpus_busy <= 0)
    return std::string("How busy its CPUs were is not known: more CPUs ") +
           (are_workers_searched ? "" : "or more --workers ") + "may help";
  const std::string busy = "Its CPUs were " + percent(std::min(1.0, cpus_busy)) + " busy then: ";
  if (cpus_busy >= judge::kCpuBound) return busy + "use more CPUs";
  return busy + (are_workers_searched ? "more of them alone need not help"
                                      : "try more --workers before more CPUs");
}

}  // namespace

std::string in_flight_text(const session::ReadsFound& reads) {
  const std::string chosen = std::to_string(reads.chosen.count()) + " in flight (" +
                             session::reads_text(reads.chosen) + " a GPU)";
  if (!reads.one_reader.empty()) return one_reader_text(reads);
  if (!reads.is_searched) return chosen + unsearched_text(reads);
  std::string text = first_text(reads);
  if (reads.chosen != reads.readings.begin()->first)
    text += "; " + chosen + ": " +
            thousands(session::median_of(reads.readings.at(reads.chosen)).imgs_per_s) + " img/s";
  text += ", " + more_text(reads);
  return text;
}

std::string interrupted_reads_text(const session::ReadsFound& reads) {
  if (reads.readings.empty()) return "";
  const auto best = std::ranges::max_element(reads.readings, {}, [](const auto& tried) {
    return session::median_of(tried.second).imgs_per_s;
  });
  return kInterrupted +
         ("so far one GPU's loader got " + thousands(session::median_of(best->second).imgs_per_s) +
          " img/s (" + session::reads_text(best->first) + "); no GPUs were tried yet\n");
}

std::string limit_text(const measure::Estimate& from_storage, const measure::Estimate& from_memory,
                       const session::ReadsFound& reads, double host_cpu_ms, double cpus_busy,
                       const std::string& source) {
  const std::string both = "it gave " + rate_and_interval(from_storage) + " img/s, memory " +
                           rate_and_interval(from_memory);
  switch (session::limit_beyond(from_storage, from_memory)) {
    case session::Limit::storage:
      return storage_limit_text(both, reads, source);
    case session::Limit::not_clear:
      return "not clear between the " + source + " and this machine: " + both +
             ". Use more --repetitions" +
             (from_memory.mean < from_storage.mean
                  ? ", on a machine that does nothing else: memory gave less than the " + source
                  : "");
    case session::Limit::machine:
      break;
  }
  return format(
      "this machine: from memory its workers (%d a GPU)%s manage %s img/s, from the %s %s. "
      "%s. --decoder raw-read reads and does not decode",
      reads.chosen.workers, beside_steps(host_cpu_ms).c_str(),
      rate_and_interval(from_memory).c_str(), source.c_str(),
      rate_and_interval(from_storage).c_str(), machine_advice(reads, cpus_busy).c_str());
}

std::string CapacityAnswer::source() const {
  return session::are_from_page_cache(found_.readings) ? kPageCache : "storage";
}

void CapacityAnswer::heading() const {
  const device::EmulatedDevice& device = searched_.device;
  const plan::CellSettings& settings = searched_.settings;
  const std::string rate = thousands(device.imgs_per_s) + " img/s";
  // Of recorded steps there is none in the name, of a scaled rate another one.
  const bool names_rate = device.trace_ms.empty() && device.caveat.empty();
  std::printf("EMULATED GPUs: %s%s; %s\n", name_and_source(device).c_str(),
              names_rate ? "" : (", " + rate + " each").c_str(), device::kEmulation.data());
  if (source() == kPageCache) std::printf("from the page cache: no storage was measured\n");
  std::printf(
      "a step of %d images takes %.1f ms, %g ms of CPU on the host, and %g ms to average "
      "the gradients\n",
      settings.batch_size, 1e3 * searched_.step_s, searched_.host_cpu_ms,
      settings.emulation.all_reduce_ms);
  const int depth = settings.reads_of_worker();
  std::printf("reading: --io %s, depth %d%s, %d worker%s a GPU%s, %s bytes a sample\n",
              settings.io.c_str(), depth,
              depth < settings.io_depth ? " (a batch holds no more)" : "", settings.workers,
              settings.workers == 1 ? "" : "s", settings.raw_read ? ", not decoded" : "",
              thousands(found_.bytes_per_sample).c_str());
  std::printf("reads in flight: %s\n\n", in_flight_text(reads_).c_str());
}

// Each row has the medians of the runs with so many GPUs; "-": no run knows it.
void CapacityAnswer::table() const {
  std::printf("medians of the runs with so many GPUs:\n");
  std::printf("%6s %6s %10s %10s %8s %9s %9s\n", "GPUs", "AU", "img/s", "needed", "MB/s", "reads/s",
              "p99 ms");
  for (const auto& [gpus, runs] : found_.search.runs()) {
    const session::Reading reading = session::median_of(found_.readings.at(gpus));
    const std::string p99 = reading.p99_ms ? format("%.3f", *reading.p99_ms) : "-";
    std::printf("%6d %5.1f%% %10s %10s %8.1f %9s %9s\n", gpus,
                100 * found_.search.utilisation(gpus), thousands(reading.imgs_per_s).c_str(),
                thousands(gpus * searched_.device.imgs_per_s).c_str(), 1e-6 * reading.bytes_per_s,
                thousands(reading.reads_per_s).c_str(), p99.c_str());
  }
}

void CapacityAnswer::fed(double share) const {
  const judge::GpusFed fed = found_.search.fed(share);
  const double rate = share * fed.gpus * searched_.device.imgs_per_s;
  std::printf("AU of %.0f %% or more: %s", 100 * share, gpus_text(fed).c_str());
  if (fed.gpus > 0) {
    const bool is_cached = source() == kPageCache;
    std::printf(", which %s%s %.1f MB/s, %s %s/s%s", is_cached ? "take" : "need",
                fed.gpus == 1 ? "s" : "", 1e-6 * rate * found_.bytes_per_sample,
                thousands(rate).c_str(), read_things(searched_.settings),
                is_cached ? " from the page cache" : "");
  }
  std::printf("\n");
}

void CapacityAnswer::answers() const {
  std::printf("\n");
  fed(session::kLeastUtilisation);
  fed(session::kBetterUtilisation);
  if (found_.without_cpu) {
    std::printf("steps that take no CPU on the host: %s at %.0f %%\n",
                gpus_text(found_.without_cpu->fed(session::kLeastUtilisation)).c_str(),
                100 * session::kLeastUtilisation);
  } else if (searched_.host_cpu_ms > 0) {
    std::printf(
        "steps that take no CPU on the host: not searched, as %g ms are less than a tenth of a "
        "step\n",
        searched_.host_cpu_ms);
  }
  if (!found_.limit.empty()) std::printf("more GPUs were not tried: %s\n", found_.limit.c_str());
}

void CapacityAnswer::answers_so_far() const {
  std::printf("\n");
  for (const double share : {session::kLeastUtilisation, session::kBetterUtilisation})
    std::printf("AU of %.0f %% or more, so far: %s\n", 100 * share,
                gpus_so_far(found_.search, share).c_str());
  if (!found_.without_cpu || found_.without_cpu->runs().empty()) return;
  std::printf("steps that take no CPU on the host, so far: %s at %.0f %%\n",
              gpus_so_far(*found_.without_cpu, session::kLeastUtilisation).c_str(),
              100 * session::kLeastUtilisation);
}

void CapacityAnswer::own_h200_answer() const {
  const auto rate = session::own_h200_rate(searched_);
  if (!rate) return;
  constexpr double kShare = session::kLeastUtilisation;
  const double most = session::most_imgs_per_s(found_.readings);
  const bool at_least = found_.search.fed(kShare).at_least;
  std::printf(
      "at feedrate's own H200 rate (%s img/s, --device emulated:%s) the same images/s keep %s%s at "
      "%.0f %%: by the rate, not searched\n",
      thousands(*rate).c_str(), session::kOwnH200.data(), at_least ? "at least " : "",
      session::counted_gpus(static_cast<int>(most / (kShare * *rate))).c_str(), 100 * kShare);
}

void CapacityAnswer::print(const std::optional<session::ClientLimit>& client, bool own_h200) const {
  if (found_.interrupted && found_.readings.empty()) {
    std::fputs(interrupted_reads_text(reads_).c_str(), stdout);
    return;
  }
  session::RunCaveats searched = found_.seen;
  searched.add(reads_.seen);
  session::RunCaveats all = searched;
  if (client) all.add(client->seen);
  if (found_.interrupted) std::fputs(kInterrupted, stdout);
  std::fputs(first_lines(all).c_str(), stdout);
  heading();
  table();
  if (found_.interrupted) {
    answers_so_far();
  } else {
    answers();
    if (own_h200) own_h200_answer();
  }
  std::fputs(page_cache_line(searched).c_str(), stdout);
  for (const judge::Flag& flag : searched.flags()) std::fputs(flag_line(flag).c_str(), stdout);
  std::fflush(stdout);
}

void CapacityAnswer::print_client(const session::ClientLimit& client) const {
  for (const judge::Flag& flag : client.seen.flags()) {
    if (flag.severity == judge::Severity::serious) std::fputs(flag_line(flag).c_str(), stdout);
  }
  const int gpus = found_.search.runs().rbegin()->first;
  const measure::Estimate memory = session::rate_of(client.runs);
  const double each = session::kLeastUtilisation * searched_.device.imgs_per_s;
  const int enough_for = static_cast<int>(memory.mean / each);
  const int fed = found_.search.fed(session::kLeastUtilisation).gpus;
  std::printf(
      "from memory this machine alone: %s img/s (the workers of %s%s, %zu samples), enough for %s "
      "at %.0f %%: by the rate alone, %s\n",
      rate_and_interval(memory).c_str(), session::counted_gpus(gpus).c_str(),
      beside_steps(searched_.host_cpu_ms).c_str(), client.samples,
      session::counted_gpus(enough_for).c_str(), 100 * session::kLeastUtilisation,
      enough_for < fed
          ? ("but the " + std::to_string(fed) + " that were tried and fed count").c_str()
          : "not tried");
  if (found_.search.fed(session::kLeastUtilisation).at_least) return;
  const measure::Estimate storage = session::rate_of(session::fastest_runs(found_.readings));
  std::printf("what limits beyond: %s\n",
              limit_text(storage, memory, reads_, searched_.host_cpu_ms,
                         session::median_of(client.runs).cpus_busy, source())
                  .c_str());
}

void CapacityAnswer::print_proviso() const {
  std::printf(
      "\nAU: the share of the window in which the GPUs compute, averaging gradients left out of "
      "both; MLPerf Storage takes it over a whole run but for the first step's reading. The GPUs "
      "are emulated: this is no result of that or any consortium's benchmark.\n");
}

}  // namespace feedrate::text
