#include "cli/stored_size.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <system_error>

#include "measure/clock.h"
#include "storage/dataset.h"
#include "storage/variant_name.h"

namespace feedrate::cli {
namespace {

namespace fs = std::filesystem;

StoredSize stored_size_from(const std::string& folder) {
  const storage::VariantName name = storage::variant_name_from("/" + folder);
  return {name.size, name.detail};
}

// Of a folder that no `gen` made: class folders, or tar shards where those are asked for.
bool holds_what_is_asked(const fs::path& folder, const std::set<std::string>& kinds) {
  std::error_code error;
  const bool shards =
      std::ranges::any_of(kinds, [](const std::string& k) { return k.ends_with(".webdataset"); });
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (shards ? entry->path().extension() == ".tar" : entry->is_directory(error)) return true;
  return false;
}

std::optional<StoredSize> look(const fs::path& dataset, const std::set<std::string>& kinds) {
  std::error_code error;
  if (!fs::is_directory(dataset, error)) return std::nullopt;
  if (!fs::exists(dataset / "dataset.json", error)) {
    if (!holds_what_is_asked(dataset, kinds)) return std::nullopt;
    return StoredSize{std::string(storage::kMixedSizes), "", /*made=*/false};
  }
  std::optional<StoredSize> only;
  for (const std::string& kind : kinds) {
    for (fs::directory_iterator entry(dataset / kind, error), end; !error && entry != end;
         entry.increment(error)) {
      if (!fs::exists(entry->path() / "files.tsv", error)) continue;
      const StoredSize found = stored_size_from(entry->path().filename().string());
      if (only && *only != found) return std::nullopt;
      only = found;
    }
    if (error) return std::nullopt;
  }
  return only;
}

// "size\ndetail\nmade\n"; of none, one end of a line.
std::string answer_of(const std::optional<StoredSize>& only) {
  if (!only) return "\n";
  return only->size + "\n" + only->detail + "\n" + (only->made ? "made" : "") + "\n";
}

std::optional<StoredSize> size_in(const std::string& answer) {
  std::stringstream lines(answer);
  StoredSize only;
  std::string made;
  std::getline(lines, only.size);
  if (only.size.empty()) return std::nullopt;
  std::getline(lines, only.detail);
  std::getline(lines, made);
  only.made = !made.empty();
  return only;
}

// What is written until the other end is closed; nothing where that takes longer.
std::optional<std::string> read_all(int from, std::chrono::milliseconds patience) {
  const std::int64_t until = measure::now_ns() + 1'000'000 * patience.count();
  std::string text;
  std::array<char, 256> part;
  while (true) {
    const std::int64_t left_ms = (until - measure::now_ns()) / 1'000'000;
    pollfd one{.fd = from, .events = POLLIN};
    const int ready = left_ms > 0 ? poll(&one, 1, static_cast<int>(left_ms)) : 0;
    if (ready == 0) return std::nullopt;
    if (ready < 0) continue;  // by a signal
    const ssize_t got = read(from, part.data(), part.size());
    if (got <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

StoredSizeLook look_for_stored_size(const fs::path& dataset, const std::set<std::string>& kinds,
                                    std::chrono::milliseconds patience) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    const std::string answer = answer_of(look(dataset, kinds));
    const ssize_t written = write(ends[1], answer.data(), answer.size());
    _exit(written < 0 ? 1 : 0);
  }
  close(ends[1]);
  const auto answer = child < 0 ? std::nullopt : read_all(ends[0], patience);
  close(ends[0]);
  if (child > 0 && !answer) kill(child, SIGKILL);
  // One that waits for storage ends when that answers, and is nobody's any more.
  if (child > 0) waitpid(child, nullptr, answer ? 0 : WNOHANG);
  if (!answer || answer->empty()) return {};
  return {true, size_in(*answer)};
}

}  // namespace feedrate::cli
