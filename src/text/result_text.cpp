#include "text/result_text.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "codec/any_picture.h"
#include "device/emulated_device.h"
#include "device/registry.h"
#include "measure/statistics.h"
#include "plan/axes.h"
#include "plan/set_rate.h"
#include "plan/sweep_order.h"
#include "storage/dataset.h"
#include "text/quotable.h"
#include "text/terminal.h"

namespace feedrate::text {
namespace {

std::string throughput_text(const run::Measurement& m) {
  std::string text = thousands(m.imgs_per_s) + " img/s";
  if (m.ci95) {
    text +=
        " (95 % within this run: " + thousands(m.ci95->low) + "-" + thousands(m.ci95->high) + ")";
  }
  return text;
}

// "95 % within this run: 51.2-53.9, 8 pairs; ", "2 pairs, three give an interval; "; empty for a
// run that is in none.
std::string pairs_text(const run::Measurement& m) {
  if (!m.pairs) return "";
  const std::size_t pairs = m.pairs->pairs.size();
  const auto& ci95 = m.pairs->share.ci95;
  if (!ci95) return format("%zu pair%s, three give an interval; ", pairs, pairs == 1 ? "" : "s");
  return format("95 %% within this run: %.1f-%.1f, %zu pairs; ", 100 * ci95->low, 100 * ci95->high,
                pairs);
}

// ", in a run of its own: a cold run is one pass over the data"; empty for a run in pairs.
std::string apart_text(const ledger::Record& record) {
  if (record.result.measurement->pairs) return "";
  const std::string why = plan::why_not_in_pairs(record.result.cell);
  return ", in a run of its own" + (why.empty() ? "" : ": " + why);
}

// Empty where the cell has none.
std::string ceiling_text(const ledger::Record& record) {
  const auto ceiling = record.ceiling();
  if (!ceiling) return "";
  if (!ceiling->unfit.empty()) {
    return format("no share of it: %s img/s must not be quoted (%s)",
                  thousands(ceiling->imgs_per_s).c_str(), ceiling->unfit.c_str());
  }
  const run::Measurement& m = *record.result.measurement;
  return format("%.1f %% of the ceiling (", 100 * m.imgs_per_s / ceiling->imgs_per_s) +
         pairs_text(m) + thousands(ceiling->imgs_per_s) + " img/s" + apart_text(record) + ")";
}

// "1,234 (95 %: 1,220 to 1,248)", or without the interval where there is none.
std::string spread_text(const measure::Estimate& e, double unit, std::string (*number)(double)) {
  std::string text = number(unit * e.mean);
  if (e.ci95)
    text += " (95 %: " + number(unit * e.ci95->low) + " to " + number(unit * e.ci95->high) + ")";
  return text;
}
std::string one_decimal(double value) { return format("%.1f", value); }

bool is_ceiling(const ledger::Record& record) { return record.result.settings.data == "synthetic"; }

std::string stages_text(const measure::StageTotals& totals) {
  std::string text;
  for (const auto& [name, ms] : judge::service_times(totals).parts)
    text += format("%s%s %.3f", text.empty() ? "" : " · ", std::string(name).c_str(), ms);
  return text.empty() ? "" : text + " ms per image and worker";
}

// "; 3.0 % were seen late": of all reads; empty where it was none.
std::string some_reads_text(const storage::ReadLatencies& latencies, std::int64_t reads,
                            const char* before, const char* after) {
  if (reads == 0) return "";
  return before + percent(static_cast<double>(reads) / static_cast<double>(latencies.count())) +
         after;
}

// "2,135 files/s, 247 MB/s; each 0.043 ms median, 0.120 p99, 1.310 p99.9"; "-": unknown.
std::string reads_text(const plan::CellSettings& settings, const run::Measurement& m) {
  const std::int64_t reads = m.latencies.count();
  if (reads == 0) return "";
  const auto ms = [&](double p) {
    const auto ns = m.latencies.percentile_ns(p);
    return ns ? format("%.3f", 1e-6 * static_cast<double>(*ns)) : std::string("-");
  };
  const auto bytes = static_cast<double>(m.stages[measure::Stage::read].bytes);
  return format("%s %s/s, %.0f MB/s; each %s ms median, %s p99, %s p99.9",
                thousands(static_cast<double>(reads) / m.window_s).c_str(), read_things(settings),
                1e-6 * bytes / m.window_s, ms(0.5).c_str(), ms(0.99).c_str(), ms(0.999).c_str()) +
         some_reads_text(m.latencies, m.latencies.unregistered, "; for ",
                         " of them the kernel pinned memory anew, which takes CPU time: allow "
                         "this user to lock more (`ulimit -l`)") +
         some_reads_text(m.latencies, m.latencies.seen_late, "; ",
                         " were seen late, by workers that did other things: how long they took "
                         "is unknown");
}

// What lay in the page cache is no contradiction to reads that went past it.
std::string in_memory_text(const run::PageCache& cache) {
  if (cache.state == "bypassed")
    return "reads went past it; " + percent(cache.before) + " of the files lay in it at the start";
  return percent(cache.before) + " of it in memory at the start";
}

// "cold (fadvise): 0.0 % of it in memory at the start (cachestat, 64 of 64 files); 12.1 MB came
// from storage, 12.1 MB were read"
std::string page_cache_text(const run::Measurement& m) {
  const run::PageCache& cache = m.page_cache;
  if (cache.state.empty()) return "";
  std::string text = session::page_cache_state(cache);
  if (cache.before >= 0) {
    text += ": " + in_memory_text(cache) +
            format(" (%s, %d of %d files)", cache.look.by.c_str(),
                   static_cast<int>(cache.look.files), static_cast<int>(cache.look.of));
  }
  if (m.storage_read_bytes >= 0) {
    const auto read = static_cast<double>(m.stages[measure::Stage::read].bytes);
    text += format("; %.1f MB came from storage, %.1f MB were read", 1e-6 * m.storage_read_bytes,
                   1e-6 * read);
  }
  return text;
}

// Of several: what each reaches, and who waits for whom.
std::string ranks_text(const plan::CellSettings& settings, const run::Measurement& m) {
  if (m.ranks.size() < 2) return "";
  const auto [least, most] =
      std::ranges::minmax_element(m.ranks, {}, &run::RankMeasurement::sync_ms);
  std::string text =
      format("%s img/s each; %.3f to %.3f ms a step are waiting for other ranks or their gradients",
             thousands(m.imgs_per_s / static_cast<double>(m.ranks.size())).c_str(), least->sync_ms,
             most->sync_ms);
  if (m.straggler) {
    text += format("; straggler: rank %d, the others wait %.3f ms for it",
                   static_cast<int>(m.straggler->rank), m.straggler->others_wait_ms);
  }
  if (const int workers = settings.workers * settings.gpus; workers > 0)
    text += format("; %d workers in all", workers);
  return text;
}

std::string step_text(const run::Measurement& m) {
  const measure::Summary& step = m.step_ms.summary;
  return format("%.3f ms mean, %.3f median, %.3f p95, %.3f p99, %.3f max; %d steps in %.1f s",
                step.mean, step.median, step.p95, step.p99, step.max, static_cast<int>(m.steps),
                m.window_s);
}

std::string waiting_text(const ledger::Record& record) {
  const run::Measurement& m = *record.result.measurement;
  std::string text =
      format("the device waits %.1f %% of the time; the training thread %.3f ms a step",
             100 * m.device_idle_fraction, m.data_wait_ms.summary.mean);
  if (const auto& slow = record.verdict->slowdown) {
    text += format("; its steps take %.3f times as long as at the ceiling (95 %%: %.3f-%.3f)",
                   slow->factor, slow->ci95.low, slow->ci95.high);
  }
  return text;
}

bool has_measurement(const ledger::Record& record) { return record.result.measurement.has_value(); }

// One run's rate and share, or the means over several and their intervals.
std::string summed_throughput(std::span<const ledger::Record> records) {
  std::vector<double> rates, shares;
  for (const ledger::Record& record : records) {
    if (!has_measurement(record)) continue;
    rates.push_back(record.result.measurement->imgs_per_s);
    if (const auto ceiling = record.fit_ceiling())
      shares.push_back(rates.back() / ceiling->imgs_per_s);
  }
  const ledger::Record& last =
      *std::ranges::find_if(records.rbegin(), records.rend(), has_measurement);
  if (rates.size() < 2) {
    const std::string ceiling = ceiling_text(last);
    return throughput_text(*last.result.measurement) + (ceiling.empty() ? "" : "; " + ceiling);
  }
  const plan::CellSettings& settings = last.result.settings;
  const auto rate = measure::estimate_of_rates(rates, plan::bound_of(settings));
  std::string text = spread_text(rate, 1, thousands) + " img/s";
  if (shares.size() == rates.size()) {
    const std::optional<double> most = settings.emulated() ? std::optional(1.0) : std::nullopt;
    const auto share = measure::estimate_of_shares(shares, most);
    text += ", " + spread_text(share, 100, one_decimal) + " % of the ceiling";
  }
  return text + format(" (%d repetitions%s)", static_cast<int>(rates.size()),
                       rates.size() < measure::kLeastRepetitions ? "; three give an interval" : "");
}

std::string device_text(const plan::CellSettings& settings, const run::Measurement& m) {
  const std::string text = format("waits for data %.1f %% of the time; %.3f ms a step of %d images",
                                  100 * m.device_idle_fraction, m.step_ms.summary.mean,
                                  settings.batch_size * settings.gpus);
  return text + (settings.emulated() ? "; " + std::string(device::kEmulation) : "");
}

// The runs of one cell, as repetitions of it where they are several.
session::RunCaveats caveats_of(std::span<const ledger::Record> records) {
  session::RunCaveats seen;
  for (const ledger::Record& record : records) {
    if (!has_measurement(record)) continue;
    const int repetition = record.context.run.repetition + 1;
    seen.add(record, records.size() > 1 ? "repetition " + std::to_string(repetition) : "");
  }
  return seen;
}

// `records`: whose noise belongs to it.
std::string verdict_text(const ledger::Record& record, std::span<const ledger::Record> records) {
  const session::RunCaveats seen = caveats_of(records);
  return (is_ceiling(record) ? "this is the ceiling; " : "") + record.verdict->sentence +
         noise_text(seen.raised(), seen.runs());
}

// Of what must not be quoted, which do_not_quote_line() says; nothing where every run may be.
std::string remedy_of_serious(std::span<const ledger::Record> records) {
  const session::RunCaveats seen = caveats_of(records);
  const auto serious =
      std::ranges::find(seen.flags(), judge::Severity::serious, &judge::Flag::severity);
  return serious == seen.flags().end() ? "" : serious->remedy;
}

// What to do next.
std::string next_step_text(std::span<const ledger::Record> records, const ledger::Record& last) {
  if (const std::string remedy = remedy_of_serious(records); !remedy.empty()) return remedy;
  const plan::CellSettings& settings = last.result.settings;
  if (is_ceiling(last)) return "measure your data against it: --data jpeg --dataset DIR";
  if (last.ceiling() && !last.fit_ceiling())
    return "measure both again on a quiet machine: its ceiling must not be quoted";
  if (last.verdict->is_input_bound()) {
    return last.result.cell.is("cache", "none")
               ? "`feedrate diagnose` says what would help, and by how much"
               : "compare it with other caches and workers: `feedrate sweep`";
  }
  if (!last.ceiling())
    return "leave --no-ceiling out, and it says how far from the ceiling this is";
  if (last.verdict->band == judge::Band::unknown)
    return "measure longer, to be sure: --min-seconds, or --repetitions 3";
  return std::string("faster loading has little to gain here") +
         (settings.workers > 1 ? "; fewer --workers may do" : "");
}

// "noisy_neighbour, cpu_steal", each once.
std::string warnings_text(std::span<const ledger::Record> records) {
  std::set<std::string> seen;
  std::string names;
  for (const ledger::Record& record : records)
    for (const judge::Flag& flag : record.flags)
      if (flag.severity == judge::Severity::warning && seen.insert(flag.name).second)
        names += (names.empty() ? "" : ", ") + flag.name;
  return names.empty() ? "" : names + " (--verbose explains)";
}

// Of the run that met the most such pictures: each draws crops of its own.
std::string stray_bytes_text(std::span<const ledger::Record> records) {
  const auto met = [](const ledger::Record& record) {
    return has_measurement(record) ? record.result.measurement->stray_pictures.value_or(0) : 0;
  };
  const ledger::Record& most = *std::ranges::max_element(records, {}, met);
  const auto flag = std::ranges::find(most.flags, judge::kStrayBytesFlag, &judge::Flag::name);
  return flag == most.flags.end() ? "" : flag->reason + " (" + flag->remedy + ")";
}

bool is_emulated(const plan::Cell& cell) {
  return device::split_device(cell["device"].value()).first == "emulated";
}

// What a cell's emulated device is. Nothing where its trace lies elsewhere, as that of a ledger
// may.
std::optional<device::EmulatedDevice> emulated_device_of(const plan::Cell& cell) {
  try {
    const plan::CellSettings settings = plan::settings_of(cell);
    return device::emulated_device(settings.device_argument, settings.step_spec(0));
  } catch (const Error&) {
    return std::nullopt;
  }
}

// As records name it: a trace by what it holds.
std::string recorded_device(const plan::Cell& cell) {
  return cell.recorded(plan::axis_named("device")).value();
}

// "h200 (3,079 img/s)"; "h200 (770 img/s, scaled)" at another input size; "500 img/s"; "cuda".
std::string short_device(const plan::Cell& cell) {
  const std::string name = recorded_device(cell);
  const auto device = is_emulated(cell) ? emulated_device_of(cell) : std::nullopt;
  if (!device) return name;
  const std::string rate =
      std::isinf(device->imgs_per_s) ? "any rate" : thousands(device->imgs_per_s) + " img/s";
  const std::string argument(device::split_device(name).second);
  if (number_from<double>(argument)) return rate;
  return argument + " (" + rate + (device->caveat.empty() ? "" : ", scaled") + ")";
}

// "jpeg 1281166, png 1, by their names; contents decide the decoding", of formats beside each
// other.
std::string pictures_text(const ledger::Record& record) {
  const auto& dataset = record.result.dataset;
  if (record.result.settings.data != codec::kAnyPicture || !dataset) return "";
  const auto formats = dataset->made.find(storage::kFormats);
  if (formats == dataset->made.end()) return "";
  return formats->second + ", by their names; contents decide the decoding";
}

// "listed 1,300,000 files in 41 s (31,707 files/s); first batch 3.1 s after the run began"; of a
// folder of many files.
std::string listed_text(const ledger::Record& record) {
  const run::CellResult& result = record.result;
  if (result.listed.text.empty() || !result.first_batch_s) return result.listed.text;
  return result.listed.text +
         format("; first batch %.1f s after the run began", *result.first_batch_s);
}

// "resnet50, batch 64, Intel Xeon ..., fp32"
std::string setting_text(const plan::CellSettings& settings, const run::Measurement& m) {
  std::string text = settings.model + format(", batch %d, ", settings.batch_size) + m.device.name;
  if (!settings.precision.empty()) text += ", " + settings.precision;
  return text;
}

}  // namespace

std::string result_line(const ledger::Record& record, const std::string& label) {
  const run::CellResult& result = record.result;
  if (!result.measurement) {
    return label + ": " + std::string(run::name_of(result.status)) +
           (result.error.empty() ? "" : ": " + result.error);
  }
  const std::string ceiling = is_ceiling(record) ? "the ceiling" : ceiling_text(record);
  return label + ": " + thousands(result.measurement->imgs_per_s) + (record.valid ? "" : "!") +
         " img/s" + (ceiling.empty() ? "" : ", " + ceiling);
}

std::string result_text(const ledger::Record& record, const std::string& label) {
  if (!record.result.measurement) return result_line(record, label) + "\n";
  const plan::CellSettings& settings = record.result.settings;
  const run::Measurement& m = *record.result.measurement;
  std::string text = label + "  ·  " + setting_text(settings, m) + "\n";
  const auto line = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) text += line_of(key, value);
  };
  line("pictures", pictures_text(record));
  line("listing", listed_text(record));
  line("throughput", throughput_text(m));
  line("ceiling", ceiling_text(record));
  line("step", step_text(m));
  line("waiting", waiting_text(record));
  line("device", settings.emulated() ? std::string(device::kEmulation) : "");
  line("ranks", ranks_text(settings, m));
  line("stages", stages_text(m.stages));
  line("reads", reads_text(settings, m));
  line("page cache", page_cache_text(m));
  if (!is_ceiling(record)) line("verdict", verdict_text(record, {&record, 1}));
  for (const judge::Flag& flag : record.flags) text += flag_line(flag);
  return text;
}

std::string result_summary(std::span<const ledger::Record> records, const std::string& label,
                           const std::string& ledger) {
  const auto last = std::ranges::find_if(records.rbegin(), records.rend(), has_measurement);
  const plan::CellSettings& settings = last->result.settings;
  const run::Measurement& m = *last->result.measurement;
  std::string text = label + "  ·  " + setting_text(settings, m) + "\n";
  if (const std::string pictures = pictures_text(*last); !pictures.empty())
    text += line_of("pictures", pictures);
  if (const std::string listed = listed_text(*last); !listed.empty())
    text += line_of("listing", listed);
  text += line_of("throughput", summed_throughput(records));
  const std::string of = records.size() > 1 ? "in the last repetition: " : "";
  text += line_of("device", of + device_text(settings, m));
  text += line_of("verdict", of + verdict_text(*last, records));
  text += line_of("advice", next_step_text(records, *last));
  text += line_of("record", (ledger.empty() ? "not kept (-o DIR keeps it)" : ledger) +
                                "; every figure of it: --verbose");
  if (const std::string names = warnings_text(records); !names.empty())
    text += line_of("warnings", names);
  if (const std::string stray = stray_bytes_text(records); !stray.empty())
    text += line_of("note", stray);
  return text;
}

std::string runs_text(std::span<const ledger::Record> records, const std::string& ledger,
                      bool verbose) {
  const std::string label = records.back().context.run.cell.label();
  const session::RunCaveats seen = caveats_of(records);
  std::string text = do_not_quote_line(seen.raised(), seen.runs());
  if (verbose)
    for (const ledger::Record& record : records) text += result_text(record, label);
  if (!verbose || records.size() > 1) text += result_summary(records, label, ledger);
  return text;
}

std::string line_of(std::string_view key, const std::string& value) {
  return format("  %-11s", std::string(key).c_str()) + value + "\n";
}

std::string flag_line(const judge::Flag& flag) {
  return line_of(judge::name_of(flag.severity),
                 flag.name + ": " + flag.reason + "; " + flag.remedy);
}

std::string page_cache_line(const session::RunCaveats& seen) {
  const std::string text = seen.page_cache();
  return text.empty() ? "" : line_of("page cache", text);
}

const char* read_things(const plan::CellSettings& settings) {
  return settings.container == "files" ? "files" : "samples";
}

std::string emulation_lines(std::span<const plan::Cell> cells) {
  std::set<std::string> seen;
  std::string lines;
  for (const plan::Cell& cell : cells) {
    if (!is_emulated(cell)) continue;
    // All that a device's name depends on: a trace is not read once for each cell.
    if (!seen.insert(*cell["device"] + " " + *cell["input-size"]).second) continue;
    const auto device = emulated_device_of(cell);
    const std::string name = device ? device->name : recorded_device(cell);
    if (!seen.insert(name).second) continue;
    lines.append(name).append(": ").append(device::kEmulation).append("\n");
  }
  return lines;
}

std::string label_with_device(const plan::Cell& cell) {
  return short_device(cell) + ", " + cell.label();
}

std::vector<std::string> live_labels(const plan::Cell& cell, bool names_device) {
  static constexpr std::string_view kShort[] = {"data", "image-size", "workers", "gpus", "device"};
  static constexpr std::string_view kShortest[] = {"data", "workers", "gpus", "device"};
  const std::string device = names_device ? short_device(cell) : "";
  const std::string name = device.substr(0, device.find(" ("));
  const std::string comma = names_device ? ", " : "";
  return {device + comma + cell.label(), name + comma + cell.label_of(kShort),
          name + comma + cell.label_of(kShortest)};
}

}  // namespace feedrate::text
