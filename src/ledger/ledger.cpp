#include "ledger/ledger.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/file_remedy.h"
#include "base/whole_file.h"
#include "ledger/record_json.h"
#include "ledger/seal.h"

namespace feedrate::ledger {
namespace {

bool is_known_schema(const nlohmann::ordered_json& schema) {
  return schema.is_string() &&
         std::ranges::find(kReadSchemas, schema.get<std::string>()) != std::end(kReadSchemas);
}

nlohmann::ordered_json parsed(const std::string& line) {
  return nests_too_deep(line) ? nlohmann::ordered_json()
                              : nlohmann::ordered_json::parse(line, nullptr, false);
}

constexpr std::string_view kElsewhere = "choose another folder: -o DIR";
constexpr std::string_view kGoOn = "go on with --resume", kThen = " and ";

[[noreturn]] void refuse_writing(const std::filesystem::path& path, int error,
                                 std::string_view more = kGoOn, std::string_view joint = kThen) {
  throw Error(path.string(), std::strerror(error), remedy_of_writing(error, more, joint));
}

// What to do once the disk takes `record`: `capacity` and `jobs` measure a whole that nothing adds
// to.
std::string_view go_on(const nlohmann::ordered_json& record) {
  const bool is_of_a_whole = record.contains("search") || record.contains("jobs");
  return is_of_a_whole ? "begin again in another folder: -o DIR" : kGoOn;
}

// False: errno says why. A disk that is nearly full takes a part, and says why at the next call.
bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(file, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

// Whole, or an Error: what lies behind a read that failed would be taken for torn, and cut off.
std::string text_of(const std::filesystem::path& path) {
  try {
    return read_whole_text(path);
  } catch (const std::system_error& error) {
    refuse_reading(path.string(), error.code().message(), error.code().value(),
                   "measure first: `feedrate sweep -o DIR`");
  }
}

// Whether it has all that --resume reads.
bool is_record(const nlohmann::ordered_json& record) {
  if (!record.is_object() || !record.contains("schema") || !is_known_schema(record["schema"]))
    return false;
  for (const char* field : {"cell", "environment"}) {
    if (!record.contains(field) || !record[field].is_object()) return false;
  }
  for (const char* field : {"cell_id", "repetition", "status", "seed", "dataset", "imgs_per_s"}) {
    if (!record.contains(field)) return false;
  }
  return record["cell"].contains("data") && record["cell_id"].is_string() &&
         record["repetition"].is_number_integer();
}

}  // namespace

bool nests_too_deep(std::string_view line) {
  constexpr int kDeepest = 64;
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (in_text && line[i] == '\\')
      ++i;
    else if (line[i] == '"')
      in_text = !in_text;
    else if (!in_text && (line[i] == '[' || line[i] == '{') && ++depth > kDeepest)
      return true;
    else if (!in_text && (line[i] == ']' || line[i] == '}'))
      --depth;
  }
  return false;
}

LedgerText read_ledger(const std::filesystem::path& path) {
  const std::string text = text_of(path);
  LedgerText ledger;
  std::size_t line = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    ++line;
    const bool ended = end != std::string::npos;
    auto record = parsed(text.substr(at, end - at));
    if (!is_record(record)) {
      if (!ended) {
        ledger.torn_at = at;
        return ledger;
      }
      throw Error(path.string() + ":" + std::to_string(line),
                  "is no record of " + std::string(kResultSchema),
                  "restore the file, or start a new one: -o DIR");
    }
    ledger.records.push_back(std::move(record));
    ledger.last_xxh3 = line_xxh3(std::string_view(text).substr(at, end - at));
    ledger.open_ended = !ended;
    at = ended ? end + 1 : text.size();
  }
  return ledger;
}

Ledger::Ledger(const std::filesystem::path& folder, bool resume) : path_(folder / "ledger.jsonl") {
  make_folder(folder, kElsewhere);
  fd_ = open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd_ < 0) refuse_writing(path_, errno, kElsewhere, ", or ");
  try {
    if (!std::filesystem::is_regular_file(path_))
      throw Error(path_.string(), "is not a file", kElsewhere);
    if (flock(fd_, LOCK_EX | LOCK_NB) != 0) {
      throw Error(path_.string(), "another feedrate is writing to it",
                  "wait for it, or choose another folder: -o DIR");
    }
    load(resume);
    if (const int folder_fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        folder_fd >= 0) {
      fsync(folder_fd);  // the ledger's own entry
      close(folder_fd);
    }
  } catch (...) {
    close(fd_);
    throw;
  }
}

Ledger::~Ledger() { close(fd_); }

void Ledger::load(bool resume) {
  if (lseek(fd_, 0, SEEK_END) > 0 && !resume) {
    throw Error(
        path_.string(), "already holds results",
        "choose another folder: -o DIR; `sweep` and `diagnose` go on with theirs by --resume");
  }
  text_ = read_ledger(path_);
}

bool Ledger::mend() {
  const bool torn = text_.torn_at.has_value();
  if (torn && ftruncate(fd_, static_cast<off_t>(*text_.torn_at)) != 0) refuse_writing(path_, errno);
  if (text_.open_ended && !write_all(fd_, "\n")) refuse_writing(path_, errno);
  text_.torn_at.reset();
  text_.open_ended = false;
  return torn;
}

nlohmann::ordered_json Ledger::append(nlohmann::ordered_json record) {
  seal(record, text_.last_xxh3);
  const std::string line = to_line(record) + "\n";
  const off_t before = lseek(fd_, 0, SEEK_END);
  if (!write_all(fd_, line) || fsync(fd_) != 0) {
    const int error = errno;
    // No half record: the ledger stays as it was before. If that fails too, --resume cuts it off.
    if (ftruncate(fd_, before) != 0) {
      throw Error(path_.string(),
                  std::string(std::strerror(error)) + ", and the record could not be removed",
                  remedy_of_writing(error, go_on(record), kThen));
    }
    refuse_writing(path_, error, go_on(record));
  }
  struct stat now{};
  if (fstat(fd_, &now) == 0 && now.st_nlink == 0)
    throw Error(path_.string(), "was removed while it was written",
                "what it held is lost: measure again, into a folder that stays");
  ++appended_;
  text_.last_xxh3 = line_xxh3(std::string_view(line).substr(0, line.size() - 1));
  return record;
}

}  // namespace feedrate::ledger
