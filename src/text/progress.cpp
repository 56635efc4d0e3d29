#include "text/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/text.h"
#include "measure/clock.h"
#include "text/terminal.h"

namespace feedrate::text {

ProgressLine::ProgressLine(bool quiet) : terminal_(isatty(STDERR_FILENO) == 1), quiet_(quiet) {}

std::string live_text(const LiveLabels& labels, const LiveNumbers& numbers, std::size_t columns) {
  for (const std::string& form : numbers)
    for (const std::string& label : labels)
      if (character_count(label) + 2 + character_count(form) <= columns) return label + ": " + form;
  const std::string& label = labels.back();
  const std::size_t least = std::min(character_count(label), kLeastLabel);
  for (const std::string& form : numbers) {
    const std::size_t taken = character_count(form) + 2;
    if (taken + least <= columns) return shortened(label, columns - taken) + ": " + form;
  }
  return shortened(numbers.back(), columns);
}

void ProgressLine::show(const LiveLabels& labels, const LiveNumbers& numbers) {
  // The last column stays free: a terminal may wrap when it is written.
  show(terminal_ ? live_text(labels, numbers, terminal_columns() - 1)
                 : labels.front() + ": " + numbers.front());
}

bool PlainProgress::takes(const std::string& text, bool is_count, std::int64_t now_ns) {
  constexpr double kEverySeconds = 5;
  if (began_ns_ == 0) began_ns_ = now_ns;
  const std::int64_t since_ns = last_ns_ > 0 ? last_ns_ : began_ns_;
  const bool waits = is_count || last_ns_ > 0;
  if (waits && measure::seconds(now_ns - since_ns) < kEverySeconds) return false;
  if (text == last_) return false;
  last_ns_ = now_ns;
  last_ = text;
  return true;
}

void ProgressLine::put(const std::string& text, bool is_count) {
  if (quiet_) return;
  if (terminal_) {
    std::fprintf(stderr, "\r\033[K%s", shortened(text, terminal_columns() - 1).c_str());
    std::fflush(stderr);
    shown_ = true;
  } else if (plain_.takes(text, is_count, measure::now_ns())) {
    std::fprintf(stderr, "%s\n", text.c_str());
  }
}

void ProgressLine::clear() {
  if (!shown_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

void ProgressLine::say(const std::string& text) {
  clear();
  std::fprintf(stderr, "feedrate: %s\n", text.c_str());
}

LiveNumbers describe(const run::RunProgress& p, std::optional<double> ceiling,
                     const std::string& sweep) {
  if (p.to_cache > 0) {
    const auto done = static_cast<double>(p.cached), all = static_cast<double>(p.to_cache);
    const std::string share = format("%.0f %%", 100 * done / all);
    return {"filling the cache · " + thousands(done) + " of " + thousands(all) + " samples · " +
                share + sweep,
            "filling the cache " + share + sweep};
  }
  const bool warms = p.phase == run::Phase::warming;
  if (warms && p.steps == 0) return {format("the first step took %.1f s", p.elapsed_s) + sweep};
  const std::string left =
      p.remaining_s < 0 ? "" : " · " + format("%.0f s left", std::ceil(p.remaining_s));
  if (p.steps == 0) {
    const std::string begun = format("measuring %.1f s", p.elapsed_s);
    return {begun + left + sweep, begun};
  }
  const std::string rate = thousands(p.imgs_per_s) + " img/s";
  std::string all = (warms ? "warming up " : "measuring ") + format("%.1f s", p.elapsed_s) + " · " +
                    rate,
              fewer = (warms ? "warm-up · " : "") + rate, few = rate;
  const double top = p.ceiling_imgs_per_s > 0 ? p.ceiling_imgs_per_s : ceiling.value_or(0);
  if (top > 0) {
    const std::string share = format(" · %.0f %%", 100 * p.imgs_per_s / top);
    all += share + " of the ceiling", fewer += share, few += share;
  }
  if (p.device_idle >= 0) {
    all += format(" · device waits %.0f %%", 100 * p.device_idle);
    fewer += format(" · waits %.0f %%", 100 * p.device_idle);
  }
  LiveNumbers forms = {all + left + sweep, fewer + left + sweep, few + left + sweep};
  if (!sweep.empty()) forms.insert(forms.end(), {few + sweep, rate + sweep, rate});
  return forms;
}

std::string listing_text(const std::filesystem::path& folder, std::uint64_t files,
                         double files_per_s) {
  const std::string line = "listing " + folder.string();
  if (files == 0) return line;
  // thousands() gives small numbers a decimal.
  const std::string count =
      files < 100 ? std::to_string(files) : thousands(static_cast<double>(files));
  return line + " · " + count + (files == 1 ? " file" : " files") +
         (files_per_s > 0 ? " · " + thousands(files_per_s) + "/s" : "");
}

double ListingRate::at(std::int64_t now_ns, std::uint64_t files) {
  constexpr std::int64_t kSecondNs = 1'000'000'000;
  if (began_ns_ == 0 || files < files_) began_ns_ = now_ns, began_with_ = files;
  files_ = files;
  if (now_ns - began_ns_ < kSecondNs) return 0;
  return static_cast<double>(files - began_with_) / measure::seconds(now_ns - began_ns_);
}

std::string generate_progress(const data_gen::GenerateProgress& p, std::int64_t start_ns) {
  const auto done = static_cast<long long>(p.samples_done), all = static_cast<long long>(p.samples);
  if (p.checking || p.packing) {
    return format("%s: %lld/%lld", p.packing ? "packing the samples" : "checking the files", done,
                  all);
  }
  const double share = all > 0 ? static_cast<double>(done) / static_cast<double>(all) : 0;
  const double elapsed = measure::seconds(measure::now_ns() - start_ns);
  std::string blocks;
  for (int i = 0; i < 24; ++i) blocks += i < static_cast<int>(share * 24) ? "█" : "░";
  return format("%3.0f %% %s %lld/%lld · %.0f/s · %.1f MB · %.0f s left", 100 * share,
                blocks.c_str(), done, all, elapsed > 0 ? static_cast<double>(done) / elapsed : 0,
                static_cast<double>(p.bytes_written) / 1e6,
                share > 0 ? elapsed / share * (1 - share) : 0);
}

}  // namespace feedrate::text
