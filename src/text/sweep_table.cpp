#include "text/sweep_table.h"

#include <algorithm>

#include "base/text.h"
#include "text/result_text.h"
#include "text/terminal.h"

namespace feedrate::text {
namespace {

constexpr std::size_t kRate = 10, kShare = 9, kWaits = 8;  // columns, with the space before them
constexpr std::size_t kRepetition = 3;                     // "12."
constexpr std::size_t kNarrow = 60;                        // below it the waiting is left out

std::string right(const std::string& text, std::size_t width) {
  const std::size_t length = character_count(text);
  return std::string(width >= length ? width - length : 1, ' ') + text;
}

std::string share_column(const ledger::Record& record) {
  if (record.context.run.role != plan::Role::cell) return "ceiling";
  const auto ceiling = record.fit_ceiling();
  if (!ceiling) return "-";
  return format("%.1f %%", 100 * record.result.measurement->imgs_per_s / ceiling->imgs_per_s);
}

Colour colour_of(const ledger::Record& record) {
  if (!record.valid) return Colour::red;
  const bool warns = std::ranges::any_of(
      record.flags, [](const judge::Flag& f) { return f.severity == judge::Severity::warning; });
  return warns ? Colour::yellow : Colour::none;
}

}  // namespace

SweepTable::SweepTable(std::size_t columns, std::size_t runs, bool of_each, bool colours,
                       bool names_devices)
    : columns_(columns),
      run_width_((of_each ? kRepetition : 0) +
                 std::max(std::string_view("run").size(), std::to_string(runs).size())),
      of_each_(of_each),
      colours_(colours),
      names_devices_(names_devices) {}

std::string SweepTable::line(const std::string& run, const std::string& label,
                             const std::string& rate, const std::string& share,
                             const std::string& waits) const {
  const bool narrow = columns_ < kNarrow;
  const std::size_t taken = run_width_ + 1 + kRate + kShare + (narrow ? 0 : kWaits);
  const std::size_t left = columns_ >= taken + kLeastLabel ? columns_ - taken : 0;
  const std::string shown = shortened(label, left);
  return right(run, run_width_) + " " + shown + std::string(left - character_count(shown), ' ') +
         right(rate, kRate) + right(share, kShare) + (narrow ? "" : right(waits, kWaits));
}

std::string SweepTable::header() const { return line("run", "", "img/s ", "ceiling", "waits"); }

std::string SweepTable::row(const ledger::Record& record, std::size_t number) const {
  const std::string repetition = std::to_string(record.context.run.repetition + 1) + ".";
  const std::string run = (of_each_ ? repetition : "") + std::to_string(number);
  const plan::Cell& cell = record.context.run.cell;
  const std::string label = names_devices_ ? label_with_device(cell) : cell.label();
  const run::CellResult& result = record.result;
  if (!result.measurement) {
    return coloured(right(run, run_width_) + " " + label + ": " +
                        std::string(run::name_of(result.status)) +
                        (result.error.empty() ? "" : ": " + result.error),
                    Colour::red, colours_);
  }
  const std::string rate = thousands(result.measurement->imgs_per_s) + (record.valid ? " " : "!");
  return coloured(line(run, label, rate, share_column(record),
                       format("%.1f %%", 100 * result.measurement->device_idle_fraction)),
                  colour_of(record), colours_);
}

}  // namespace feedrate::text
