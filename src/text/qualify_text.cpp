#include "text/qualify_text.h"

#include <cstdio>
#include <vector>

#include "base/text.h"

namespace feedrate::text {
namespace {

std::string qualified_step(const plan::CellSettings& settings) {
  return settings.device + ", " + settings.model + ", " + settings.precision + ", batch " +
         std::to_string(settings.batch_size) + ", " + codec::to_string(settings.input_size);
}

std::string rung_name(const device::RungResult& rung) { return rung.axis + " " + rung.value; }

// Of the whole set beside the plain step. Each rung was timed beside the one below it.
double qualified_gain(const device::Qualification& found) {
  double gain = 1;
  for (const device::RungResult& rung : found.rungs)
    if (rung.is_taken()) gain *= rung.ratio;
  return gain;
}

// On stderr.
void print_above(ProgressLine& line, const std::string& text) {
  line.clear();
  std::fputs(text.c_str(), stderr);
}

}  // namespace

std::string trying_text(const run::QualifyEvent& event) {
  return "qualifying · trying " + event.axis + " " + event.value;
}

std::string qualified_line(const plan::CellSettings& settings, const device::Qualification& found) {
  std::vector<std::string> taken, broken;
  for (const device::RungResult& rung : found.rungs) {
    if (rung.is_taken()) taken.push_back(rung_name(rung));
    if (rung.verdict == "wrong" || rung.verdict == "failed" || rung.verdict == "not judged")
      broken.push_back(rung_name(rung) + " (" + rung.verdict + ": " + rung.reason + ")");
  }
  std::string line =
      qualified_step(settings) + ": qualified: " +
      (taken.empty()
           ? broken.empty() ? "no way was shown to be faster than the plain step"
                            : "the plain step is used"
           : listed(taken) + format(": %.2f times the plain step's rate", qualified_gain(found)));
  if (!broken.empty()) line += "; left out: " + listed(broken);
  return line;
}

std::string rungs_heading(const plan::CellSettings& settings) {
  return format("%s\n  %-30s %-10s %8s  %-5s  95 %% of that\n", qualified_step(settings).c_str(),
                "on top of the plain step", "", "img/s", "times");
}

std::string rung_row(const device::RungResult& rung) {
  std::string row = format("  %-30s %-10s ", rung_name(rung).c_str(), rung.verdict.c_str());
  if (rung.imgs_per_s > 0) {
    row += format("%8s  %.3f  %.3f to %.3f", thousands(rung.imgs_per_s).c_str(), rung.ratio,
                  rung.low, rung.high);
  }
  return row + (rung.reason.empty() ? "" : "  " + rung.reason) + "\n";
}

std::string batches_table(const device::Qualification& found) {
  std::string text = found.batches.empty() ? "" : "  batch size   img/s\n";
  for (const device::BatchRate& rate : found.batches) {
    text += format("  %10d  %6s\n", rate.batch,
                   rate.reason.empty() ? thousands(rate.imgs_per_s).c_str() : rate.reason.c_str());
  }
  if (!found.batches_failed.empty())
    text += "  no rates over batch sizes: " + found.batches_failed + "\n";
  return text;
}

run::QualifyHooks qualify_hooks(ProgressLine& line, bool shows_table) {
  const auto tell = [&line](const plan::CellSettings& settings,
                            const device::Qualification& found) {
    line.say(qualified_line(settings, found));
  };
  return {.note = [&line](const std::string& text) { line.say(text); },
          .begun =
              [=, &line](const plan::CellSettings& settings) {
                if (shows_table) print_above(line, rungs_heading(settings));
              },
          .told =
              [=, &line](const run::QualifyEvent& event) {
                if (!event.axis.empty()) line.show(trying_text(event));
                if (event.ended && shows_table) print_above(line, rung_row(*event.ended));
              },
          .found =
              [=, &line](const plan::CellSettings& settings, const device::Qualification& found) {
                if (shows_table) print_above(line, batches_table(found));
                tell(settings, found);
              },
          .found_before = tell};
}

}  // namespace feedrate::text
