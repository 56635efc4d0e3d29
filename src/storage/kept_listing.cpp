// The listing is text, a line each, with tabs between the fields. Names may hold newlines: lines
// end with a zero byte (`tr '\0' '\n'` shows them).
//   feedrate.folders/3
//   since SECONDS
//   run NAME                        see ListKeeping
//   > CHANGED_NS STATUS_NS INODE PATH into a folder, see FolderState; the root's path is empty
//   - COUNT KIND                      left out in it, see LeftOutCount
//   BYTES CHANGED_NS NAME             a file in it
//   <                                 out of it
//   end HASH                          of all lines before
// The number behind the slash grows with each change of what is listed, too: another rule would
// have found other files.
#include "storage/kept_listing.h"

#include <algorithm>
#include <ctime>
#include <optional>
#include <ostream>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace feedrate::storage {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFoldersSchema = "feedrate.folders/3", kSince = "since\t",
                           kRun = "run\t";
constexpr std::string_view kInto = ">\t", kOut = "<";
constexpr char kLineEnd = '\0';

std::string_view up_to_tab(std::string_view& line) {
  const std::string_view field = line.substr(0, line.find('\t'));
  line.remove_prefix(std::min(field.size() + 1, line.size()));
  return field;
}

std::optional<std::int64_t> take_time(std::string_view& line) {
  return number_from<std::int64_t>(up_to_tab(line));
}

// Of a folder's line without kInto: the rest of it is the path.
std::optional<FolderState> take_state(std::string_view& line) {
  const auto changed = take_time(line), status = take_time(line);
  const auto inode = number_from<std::uint64_t>(up_to_tab(line));
  if (!changed || !status || !inode) return std::nullopt;
  return FolderState{.changed_ns = *changed, .status_ns = *status, .inode = *inode};
}

std::string state_text(const FolderState& state) {
  return std::to_string(state.changed_ns) + "\t" + std::to_string(state.status_ns) + "\t" +
         std::to_string(state.inode);
}

// Nothing for a line that is none of a file.
std::optional<KeptFile> file_from(std::string_view line) {
  const auto bytes = number_from<std::uint64_t>(up_to_tab(line));
  const auto changed = take_time(line);
  if (!bytes || !changed || line.empty()) return std::nullopt;
  return KeptFile{.name = line, .bytes = *bytes, .changed_ns = *changed};
}

// Its checksum was right when it was opened, and nobody writes into it.
[[noreturn]] void refuse_changed_listing() {
  throw Error("the kept listing", "was changed while it was read",
              "list the folder anew with --relist");
}

std::string_view name_in(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// thousands() gives small numbers a decimal.
std::string count_text(std::uint64_t count) {
  return count < 100 ? std::to_string(count) : thousands(static_cast<double>(count));
}
std::string seconds_text(double seconds) {
  return format(seconds < 10 ? "%.1f s" : "%.0f s", seconds);
}

// "2026-11-30"
std::string day_of(std::int64_t since_s) {
  const auto time = static_cast<std::time_t>(since_s);
  std::tm parts{};
  gmtime_r(&time, &parts);
  return format("%04d-%02d-%02d", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

}  // namespace

KeptListing::KeptListing(const fs::path& file, ListCount& count, const std::string& run) {
  if (file.empty()) return;
  try {
    file_ = std::make_unique<const PosixFile>(PosixFile::open_regular(file));
  } catch (const std::system_error&) {
    return;
  }
  if (!find_places(count, run)) *this = KeptListing();
}

bool KeptListing::find_places(ListCount& count, const std::string& run) {
  LineReads lines(descriptor(), kLineEnd);
  LinesHash hash;
  if (const auto first = lines.next(); !first || hash.add(*first) != kFoldersSchema) return false;
  auto line = lines.next();
  if (!line || !hash.add(*line).starts_with(kSince)) return false;
  const auto since = number_from<std::int64_t>(line->substr(kSince.size()));
  if (!since) return false;
  since_s_ = *since;
  line = lines.next();
  if (!line || !hash.add(*line).starts_with(kRun)) return false;
  is_of_run_ = !run.empty() && line->substr(kRun.size()) == run;
  std::vector<Place*> open;
  while ((line = lines.next()) && !line->starts_with(kEndOfLines)) {
    hash.add(*line);
    count.alive();
    if (line->starts_with(kInto)) {
      std::string_view path = line->substr(kInto.size());
      const auto state = take_state(path);
      const auto [place, is_new] = places_.try_emplace(std::string(path));
      if (!state || !is_new) return false;
      place->second = {.state = *state, .begin = lines.at()};
      open.push_back(&place->second);
    } else if (open.empty()) {
      return false;
    } else if (*line == kOut) {
      open.back()->end = lines.at();
      open.pop_back();
    } else if (line->starts_with(kLeftOutLine)) {
      LeftOutCount ignored;
      if (!add_left_out(line->substr(kLeftOutLine.size()), ignored)) return false;
    } else if (!file_from(*line)) {
      return false;
    }
  }
  return open.empty() && line && *line == hash.end_line();
}

bool KeptListing::holds(const std::string& folder, const FolderState& state) const {
  const auto found = places_.find(folder);
  if (found == places_.end()) return false;
  return state.changed_ns == kUnknownTime ? is_of_run_ : found->second.state == state;
}

LeftOutCount KeptListing::each(
    const std::string& folder, const std::function<void(const std::string&)>& on_folder,
    const std::function<void(std::uint64_t at, std::size_t files)>& on_files) const {
  const Place& place = places_.at(folder);
  const std::uint64_t length = place.end - place.begin;
  LineReads lines(descriptor(), kLineEnd, place.begin,
                  static_cast<std::size_t>(std::min<std::uint64_t>(length, LineReads::kPiece)));
  LeftOutCount left_out;
  std::uint64_t first = 0;
  std::size_t files = 0;
  const auto tell_files = [&] {
    if (files > 0) on_files(first, std::exchange(files, 0));
  };
  for (;;) {
    const std::uint64_t at = lines.at();
    const auto line = lines.next();
    if (!line) refuse_changed_listing();
    if (*line == kOut) break;
    if (line->starts_with(kInto)) {
      tell_files();
      std::string_view path = line->substr(kInto.size());
      take_state(path);
      const auto below = places_.find(std::string(path));
      if (below == places_.end()) refuse_changed_listing();
      on_folder(below->first);
      lines.go_to(below->second.end);
    } else if (line->starts_with(kLeftOutLine)) {
      add_left_out(line->substr(kLeftOutLine.size()), left_out);
    } else if (files++ == 0) {
      first = at;
    }
  }
  tell_files();
  return left_out;
}

KeptFiles::KeptFiles(const KeptListing& listing) : lines_(listing.descriptor(), kLineEnd) {}

KeptFile KeptFiles::next() {
  const auto line = lines_.next();
  const auto file = line ? file_from(*line) : std::nullopt;
  if (!file) refuse_changed_listing();
  return *file;
}

std::string ListedHow::text() const {
  const std::string all = count_text(files);
  if (listed_anew == folders) {
    return "listed " + all + " files in " + seconds_text(seconds) + " (" +
           thousands(static_cast<double>(files) / std::max(seconds, 1e-3)) + " files/s)";
  }
  const std::string anew = listed_anew == 0 ? ""
                                            : "; " + count_text(listed_anew) + " of " +
                                                  count_text(folders) + " folders were listed anew";
  return "listing of " + all + " files kept from " + day_of(since_s) + ", checked in " +
         seconds_text(seconds) + anew;
}

fs::path kept_listing_of(const fs::path& folder, std::span<const std::string_view> suffixes) {
  return kept_file_of("folders", folder, suffixes);
}

void keep_listing(const fs::path& file, const ListedWhen& when, std::span<const WalkStep> steps,
                  std::span<const SampleFile> samples) {
  constexpr std::int64_t kSecondNs = 1'000'000'000;
  constexpr std::int64_t kCoarsestTickNs = 2 * kSecondNs;  // FAT's
  replace_kept_file(file, [&](std::ostream& out) {
    LinesHash hash;
    const auto put = [&](const std::string& line) { out << hash.add(line) << kLineEnd; };
    put(std::string(kFoldersSchema));
    put(std::string(kSince) +
        std::to_string(when.since_s != 0 ? when.since_s : when.began_ns / kSecondNs));
    put(std::string(kRun) + when.run);
    std::size_t next = 0;
    for (const WalkStep& step : steps) {
      for (; next < step.files; ++next) {
        const SampleFile& sample = samples[next];
        put(std::to_string(sample.bytes) + "\t" + std::to_string(sample.changed_ns) + "\t" +
            std::string(name_in(sample.path)));
      }
      if (!step.into) {
        put(std::string(kOut));
        continue;
      }
      FolderState state = step.into->state;
      if (state.changed_ns > when.began_ns - kCoarsestTickNs) state.changed_ns = kUnknownTime;
      put(std::string(kInto) + state_text(state) + "\t" + step.into->path);
      for (const auto& [kind, count] : step.into->left_out.of_kind())
        put(left_out_line(kind, count));
    }
    out << hash.end_line() << kLineEnd;
  });
}

}  // namespace feedrate::storage
