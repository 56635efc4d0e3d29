#include "text/diagnosis_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/text.h"
#include "ledger/record_json.h"
#include "text/decoder_text.h"
#include "text/quotable.h"
#include "text/result_text.h"

namespace feedrate::text {
namespace {

using judge::LadderRung;

const char* words_of(LadderRung rung) {
  switch (rung) {
    case LadderRung::synthetic:
      return "synthetic: the ceiling";
    case LadderRung::device:
      return "one batch kept on the device";
    case LadderRung::host:
      return "batches kept in host memory";
    case LadderRung::sample:
      return "finished samples kept";
    case LadderRung::decoded:
      return "decoded pictures kept";
    case LadderRung::encoded:
      return "the files' bytes kept";
    case LadderRung::none:
      return "nothing kept";
    case LadderRung::cold:
      return "nothing kept, page cache cold";
    case LadderRung::discard:
      return "synthetic, loaders beside it";
    case LadderRung::cpus:
      return "loaders alone, one for each CPU";
  }
  return "";
}

// Lines that a terminal of 80 columns does not break.
std::string paragraph(std::size_t indent, const std::string& text) {
  constexpr std::size_t kColumns = 80, kFurther = 4;
  return wrapped(std::string(indent, ' ') + text, kColumns, indent + kFurther) + "\n";
}

std::string wrapped_line(std::string line) {
  if (line.empty()) return line;
  line.pop_back();
  return paragraph(0, line);
}

std::string signed_number(double value) {
  const std::string size = thousands(std::abs(value));
  return value < 0 && size.find_first_of("123456789") != std::string::npos ? "-" + size : size;
}

std::string interval(const std::optional<measure::Interval>& ci95) {
  if (!ci95) return "-";
  return signed_number(ci95->low) + " to " + signed_number(ci95->high);
}

// What a rung does that those above it do not; of the others, what they are.
std::string label_of(LadderRung rung, const judge::Loss* loss) {
  if (loss) return "+ " + loss->step;
  switch (rung) {
    case LadderRung::cold:
      return "cold page cache";
    case LadderRung::discard:
      return "ceiling beside loaders";
    case LadderRung::cpus:
      return "loaders alone, all CPUs";
    default:
      return words_of(rung);
  }
}

std::string without_blanks_at_end(std::string line) {
  while (line.ends_with(' ')) line.pop_back();
  return line + "\n";
}

std::string rung_line(const judge::Evidence& e, LadderRung rung, const judge::Loss* loss) {
  const auto rate = judge::rate_of(e.ladder(), rung);
  if (!rate) return "";
  std::string line = format("  %-25s%8s  %-16s", label_of(rung, loss).c_str(),
                            thousands(rate->mean).c_str(), interval(rate->ci95).c_str());
  if (loss) {
    line += format("%8s  %s", signed_number(loss->imgs_per_s.mean).c_str(),
                   interval(loss->imgs_per_s.ci95).c_str());
  }
  return without_blanks_at_end(line);
}

std::string ladder_text(const judge::Evidence& e, const judge::Diagnosis& d,
                        const std::map<LadderRung, std::string>& left_out) {
  std::string text =
      format("\n  %-25s%8s  %-16s%8s  %s\n", "ladder", "img/s", "95 %", "lost", "95 %");
  for (std::size_t i = 0; i < judge::kRungs; ++i) {
    const auto rung = static_cast<LadderRung>(i);
    const auto loss = std::ranges::find(d.waterfall, rung, &judge::Loss::to);
    text += rung_line(e, rung, loss == d.waterfall.end() ? nullptr : &*loss);
  }
  const double own = e.mean_rate(e.own_rung());
  for (std::size_t i = 0; i < judge::kRungs; ++i) {
    const auto rung = static_cast<LadderRung>(i);
    if (!e.is_noise(rung)) continue;
    text += paragraph(
        2, format("noise: %s: %s img/s, less than the %s of the cell itself, which does "
                  "more: something else slowed it, and it is not used",
                  words_of(rung), thousands(e.mean_rate(rung)).c_str(), thousands(own).c_str()));
  }
  for (const auto& [rung, why] : left_out) {
    const bool was_measured = judge::rate_of(e.ladder(), rung).has_value();
    text += paragraph(2, format("left out%s: %s: %s", was_measured ? " of later rounds" : "",
                                words_of(rung), why.c_str()));
  }
  return text;
}

// Of the blocks, where they are not the cell's.
std::string other_batch_text(const judge::Evidence& e) {
  if (e.batch_of_blocks() == e.settings.batch_size) return "";
  return paragraph(2, format("delays: with batches of %d, not the cell's %d, so that more pairs of "
                             "blocks fit the budget; the ladder has the cell's",
                             e.batch_of_blocks(), e.settings.batch_size));
}

// `failed`: why a round lacks blocks; empty: none failed.
// "0.04", never "-0.00".
std::string slope_text(double slope) {
  const std::string text = format("%.2f", slope);
  return text == "-0.00" ? "0.00" : text;
}

std::string slopes_text(const judge::Evidence& e, const std::vector<judge::Slope>& slopes,
                        const std::string& failed) {
  std::string text = "\n";
  if (!slopes.empty())
    text +=
        format("  %-25s%8s  %-16s %s\n", "delayed", "slope", "95 %", "0: no cost, 1: all of it");
  for (const judge::Slope& s : slopes) {
    const std::string place(measure::kPlaceNames[static_cast<std::size_t>(s.place)]);
    const std::string what =
        s.place == measure::Place::storage
            ? format("%s, %.0f %% more reads", place.c_str(), 100 * s.extra_reads)
        : s.place == measure::Place::in_flight
            ? format("%s, -%.0f %%", place.c_str(), 100 * s.withheld)
            : format("%s, %s %.3g ms", place.c_str(), s.burns ? "burn" : "sleep", s.delay_ms);
    const std::string range =
        s.slope.ci95 ? slope_text(s.slope.ci95->low) + " to " + slope_text(s.slope.ci95->high)
                     : "-";
    text += format("  %-25s%8s  %-16s %zu pair%s\n", what.c_str(), slope_text(s.slope.mean).c_str(),
                   range.c_str(), s.pairs, s.pairs == 1 ? "" : "s");
  }
  if (!slopes.empty()) text += other_batch_text(e);
  if (!failed.empty())
    text += paragraph(2, format("left out%s: delays: %s", slopes.empty() ? "" : " of some rounds",
                                failed.c_str()));
  return text == "\n" ? "" : text;
}

std::string capacities_text(const std::vector<judge::Capacity>& capacities) {
  if (capacities.empty()) return "";
  std::string text = format("\n  %-25s%8s  %-16s %s\n", "could deliver alone", "img/s", "used",
                            "most of its time");
  for (const judge::Capacity& c : capacities) {
    text += format("  %-25s%8s  %-16s %s, %.0f %%\n", c.resource.c_str(),
                   thousands(c.imgs_per_s).c_str(), percent(c.utilisation).c_str(),
                   c.largest_stage.c_str(), 100 * c.largest_share);
  }
  return text;
}

// Never rounded up: certainty is not on offer.
std::string rounded_share_text(double share) {
  return share > 0.99 ? "above 99 %" : format("%.0f %%", std::floor(100 * share));
}

std::string confidence_text(const judge::Finding& f) {
  if (f.confidence) return "  confidence " + rounded_share_text(*f.confidence) + "\n";
  constexpr double kLeast = 0.01;  // what is less likely tells nobody anything
  std::string text;
  for (const judge::Suspect& s : f.suspects) {
    if (s.binds.value_or(0) < kLeast) continue;  // or nobody measured it
    text += (text.empty() ? "likely: " : ", ") + judge::joined(s.names) + " (" + s.resource + ") " +
            rounded_share_text(*s.binds);
  }
  return text.empty() ? "" : paragraph(2, text);
}

// `is_delayed`: pairs of blocks were measured.
std::string agreement_text(const judge::Finding& f, bool is_delayed) {
  const judge::Witness& w = f.witness;
  const auto word = [](const std::string& said) { return said.empty() ? "nothing" : said.c_str(); };
  const bool say_all = !w.ladder.empty() && !w.capacities.empty() && !w.slopes.empty();
  const bool is_open = is_delayed && !f.clear && f.names.size() > 1;
  const char* how = is_open    ? "the evidence does not tell which"
                    : !w.agree ? is_delayed ? "the three kinds of evidence do not agree"
                                            : "the two kinds of evidence do not agree"
                    : say_all  ? "the three kinds of evidence agree"
                               : "the evidence that says something agrees";
  const std::string delays =
      is_delayed ? std::string(", the delays ") + word(w.slopes) : "; no delay was measured";
  return paragraph(2, format("%s: the ladder says %s, the capacities %s%s", how, word(w.ladder),
                             word(w.capacities), delays.c_str()));
}

std::string patterns_text(const std::vector<judge::Pattern>& patterns) {
  std::string text;
  for (const judge::Pattern& pattern : patterns)
    text += "\n" + paragraph(2, format("%s: %s (%s)", pattern.name.c_str(),
                                       pattern.sentence.c_str(), pattern.statistic.c_str()));
  return text;
}

// " (95 %: 5 or more, of those tried)"
std::string enough_range_text(const judge::Remedy& remedy) {
  const auto range = remedy.enough_range();
  if (!range) return format(" (no interval below %zu runs)", measure::kLeastRepetitions);
  return " (95 %: " + std::to_string(range->low) +
         (!range->high                 ? " or more"
          : *range->high == range->low ? " alone"
                                       : " to " + std::to_string(*range->high)) +
         ", of those tried)";
}

// "measured by workers: 3: 480, 5: 800, 8: 801; W* is 5 (95 %: 5 to 8, of those tried)"
std::string workers_text(const judge::Remedy& remedy) {
  std::string text;
  for (const auto& [workers, rate] : remedy.by_workers) {
    text += text.empty() ? "measured by workers: " : ", ";
    text += std::to_string(workers) + ": " + thousands(rate.mean);
  }
  const auto enough = remedy.enough_workers();
  if (!enough) return remedy.by_workers.size() < 2 ? text : text + "; more may help still";
  text += "; W* is " + std::to_string(*enough);
  if (*enough > 1 && *enough == remedy.by_workers.begin()->first) text += " or fewer";
  return text + enough_range_text(remedy);
}

std::string flags_text(const ledger::DiagnosisOf& of) {
  std::string text;
  for (const auto& [flag, runs] : of.seen.flags) {
    text += text.empty() ? "\n" : "";
    text +=
        paragraph(2, format("%s: %s in %d of %d runs: %s; %s",
                            std::string(judge::name_of(flag.severity)).c_str(), flag.name.c_str(),
                            runs, of.seen.runs, flag.reason.c_str(), flag.remedy.c_str()));
  }
  return text;
}

std::string remedy_text(const judge::Remedy& remedy) {
  std::string text = without_blanks_at_end(format("  %-45s %9s  %-20s", remedy.name.c_str(),
                                                  thousands(remedy.predicted.mean).c_str(),
                                                  interval(remedy.predicted.ci95).c_str()));
  if (remedy.measured) {
    text += without_blanks_at_end(format("  %45s %9s  %-20s",
                                         "measured:", thousands(remedy.measured->mean).c_str(),
                                         interval(remedy.measured->ci95).c_str()));
  }
  text += paragraph(6, remedy.options() + (remedy.changes.empty() ? "" : ": ") + remedy.why);
  if (!remedy.by_workers.empty()) text += paragraph(6, workers_text(remedy));
  if (!remedy.not_tried.empty()) text += paragraph(6, "not tried: " + remedy.not_tried);
  return text;
}

std::string advice_text(const std::vector<judge::Remedy>& advice) {
  if (advice.empty()) return "";
  std::string text = format("\n  %-45s %9s  %s\n", "would give", "img/s", "may be");
  for (const judge::Remedy& remedy : advice) text += remedy_text(remedy);
  return text;
}

// The label of an emulated cell ends with that word, and so does its device's name.
std::string heading(const ledger::DiagnosisOf& of) {
  constexpr std::string_view kEmulated = ", EMULATED";
  std::string label = of.cell.label();
  if (label.ends_with(kEmulated)) label.resize(label.size() - kEmulated.size());
  return label + " on " + of.device;
}

std::string decoder_paragraph(const plan::Cell& cell) {
  const std::string decoder = decoder_text(plan::settings_of(cell));
  return decoder.empty() ? "" : paragraph(2, "decoder: " + decoder);
}

// `seconds`: 0 where nothing was measured. `interrupted_of`: 0 where it was not interrupted.
std::string rounds_text(std::size_t rounds, double seconds, int interrupted_of) {
  std::string text = interrupted_of > 0 ? format("interrupted after %zu of %d round%s", rounds,
                                                 interrupted_of, interrupted_of == 1 ? "" : "s")
                                        : format("%zu round%s", rounds, rounds == 1 ? "" : "s");
  if (seconds > 0) text += " in " + duration(seconds);
  return paragraph(
      0,
      text + (seconds > 0 ? ": what they show holds for this machine, these options and this hour."
                          : ": what they show holds for the machine, the options and the hour of "
                            "the ledger."));
}

// A diagnosis for a person: the verdict, the ladder with what each step down it costs, what delays
// cost, the capacities, patterns, advice.
std::string diagnosis_text(const session::DiagnosisAnswer& answer) {
  const auto& [of, evidence, diagnosis] = answer;
  const judge::Finding& f = diagnosis.finding;
  const std::size_t rounds = evidence.rounds.size();
  return wrapped_line(do_not_quote_line(of.seen.flags, of.seen.runs)) + paragraph(0, heading(of)) +
         decoder_paragraph(of.cell) +
         paragraph(0, f.sentence + noise_text(of.seen.flags, of.seen.runs)) + confidence_text(f) +
         agreement_text(f, !diagnosis.slopes.empty()) +
         ladder_text(evidence, diagnosis, of.seen.left_out) +
         slopes_text(evidence, diagnosis.slopes, of.seen.blocks_failed) +
         capacities_text(evidence.rounds.back().capacities) +
         patterns_text(of.seen.patterns_of_most()) + advice_text(of.advice) + flags_text(of) +
         "\n" + emulation_lines({&of.cell, 1}) + rounds_text(rounds, of.seconds, of.interrupted_of);
}

}  // namespace

std::string first_round_text(const session::FirstRoundSoFar& measured) {
  const bool has_ceiling = measured.ceiling_imgs_per_s > 0;
  const std::string ceiling = thousands(measured.ceiling_imgs_per_s) + " img/s";
  std::string text = "DO NOT QUOTE: interrupted before the first round was whole\nso far: ";
  if (measured.imgs_per_s <= 0)
    return text + measured.cell.label() + ": its ceiling is " + ceiling +
           ", and it was not measured yet\n";
  text += heading({.cell = measured.cell, .device = measured.device}) + ": " +
          thousands(measured.imgs_per_s) + " img/s";
  if (has_ceiling)
    text += ", " + percent(measured.imgs_per_s / measured.ceiling_imgs_per_s) +
            " of its ceiling of " + ceiling;
  if (measured.device_idle >= 0)
    text += format("; the device waited %.0f %% of the time", 100 * measured.device_idle);
  return text + "\n";
}

void print_decoder_rates(const plan::Cell& cell, const session::DecoderRates& rates) {
  std::fputs(paragraph(0, "the loader " + loader_text(cell["data"].value(), rates)).c_str(),
             stdout);
}

void print_diagnosis(bool as_json, const session::DiagnosisAnswer& answer) {
  if (as_json) {
    const auto json = ledger::diagnosis_json(answer.of, answer.evidence, answer.diagnosis);
    std::printf("%s\n", ledger::to_line(json).c_str());
  } else {
    std::fputs(diagnosis_text(answer).c_str(), stdout);
  }
}

}  // namespace feedrate::text
