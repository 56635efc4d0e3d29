#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data_gen/generate.h"
#include "run/rank_task.h"

namespace feedrate::text {

// The same numbers in words of falling length; the first one says all.
using LiveNumbers = std::vector<std::string>;

// The same run in labels of falling length; the first one says all.
using LiveLabels = std::vector<std::string>;

// What fits into so many columns: the first of the numbers beside which a whole label has room,
// with the longest such. Where none have: the first of the numbers beside which a recognisable
// label has room, with the shortest label cut at its end ("jpeg 224x2…: 500 img/s"). Where not even
// the shortest have, they stand alone.
std::string live_text(const LiveLabels& labels, const LiveNumbers& numbers, std::size_t columns);

// Which progress is worth a line where none is rewritten: no two within five seconds, and none
// twice in a row. Used by one thread.
class PlainProgress {
 public:
  // `is_count`: `text` says how far something is, and not that it begins. No count is taken in the
  // first five seconds: "1 of 300" is stale at once, and what ends sooner has a result.
  bool takes(const std::string& text, bool is_count, std::int64_t now_ns);

 private:
  std::int64_t began_ns_ = 0, last_ns_ = 0;  // the first call, the last line; 0: none yet
  std::string last_;
};

// One line on stderr that says how far things are: rewritten in place on a terminal, elsewhere a
// plain line as PlainProgress takes them. Used by one thread.
class ProgressLine {
 public:
  // `quiet`: it shows nothing.
  explicit ProgressLine(bool quiet = false);
  ~ProgressLine() { clear(); }
  // What begins, or goes on.
  void show(const std::string& text) { put(text, /*is_count=*/false); }
  // How far something is: "12 of 300".
  void show_count(const std::string& text) { put(text, /*is_count=*/true); }
  // "LABEL: NUMBERS", as live_text() fits them into the terminal; elsewhere all of it.
  void show(const LiveLabels& labels, const LiveNumbers& numbers);
  // Removes the line from the terminal, so that other output can follow.
  void clear();
  // "feedrate: TEXT" in its place, on a line that stays; also if it is quiet.
  void say(const std::string& text);

 private:
  void put(const std::string& text, bool is_count);

  const bool terminal_, quiet_;
  bool shown_ = false;
  PlainProgress plain_;
};

// "filling the cache · 1,204 of 8,192 samples · 15 %", then "the first step took 1.2 s", then
// "warming up 1.2 s · 1,204 img/s · 43 % of the ceiling · device waits 57 % · 3 s left", then
// shorter words for it. Without the device's waits where they are not told. `sweep`: another time,
// " · sweep 3 min left", behind each of them; where there is room for one time only, it is this
// one. The last one is the rate alone.
LiveNumbers describe(const run::RunProgress& progress, std::optional<double> ceiling,
                     const std::string& sweep = {});

// "listing photos · 12,288 files · 31,707/s"; without the number before the first one is found, and
// without the rate where that is 0.
std::string listing_text(const std::filesystem::path& folder, std::uint64_t files,
                         double files_per_s = 0);

// How many files/s were listed so far.
class ListingRate {
 public:
  // `files`: so many by now. 0 in the first second. Fewer files than before are of another listing.
  double at(std::int64_t now_ns, std::uint64_t files);

 private:
  std::int64_t began_ns_ = 0;  // 0: nothing is listed yet
  std::uint64_t began_with_ = 0, files_ = 0;
};

// "  41 % █████████░░░░░░░░░░░░░░░ 840/2048 · 310/s · 92.1 MB · 4 s left"; what is packed or
// checked has no bar. `start_ns`: when the work began.
std::string generate_progress(const data_gen::GenerateProgress& progress, std::int64_t start_ns);

}  // namespace feedrate::text
