#include "record/ledger.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "record/record_json.h"
#include "record/seal.h"

namespace feedrate::record {
namespace {

bool is_known_schema(const nlohmann::ordered_json& schema) {
  return schema.is_string() &&
         std::ranges::find(kReadSchemas, schema.get<std::string>()) != std::end(kReadSchemas);
}

nlohmann::ordered_json parsed(const std::string& line) {
  return nests_too_deep(line) ? nlohmann::ordered_json()
                              : nlohmann::ordered_json::parse(line, nullptr, false);
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
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw Error(path.string(), std::strerror(errno), "measure first: `feedrate sweep -o DIR`");
  std::stringstream whole;
  whole << file.rdbuf();
  const std::string text = whole.str();
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
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed)
    throw Error(folder.string(), failed.message(), "choose a folder that you can write: -o DIR");
  fd_ = open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd_ < 0)
    throw Error(path_.string(), std::strerror(errno), "choose a folder that you can write: -o DIR");
  try {
    if (!std::filesystem::is_regular_file(path_))
      throw Error(path_.string(), "is not a file", "choose another folder: -o DIR");
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
    throw Error(path_.string(), "already holds results",
                "`feedrate sweep --resume` adds to it; or choose another folder: -o DIR");
  }
  text_ = read_ledger(path_);
}

bool Ledger::mend() {
  const bool torn = text_.torn_at.has_value();
  if (torn && ftruncate(fd_, static_cast<off_t>(*text_.torn_at)) != 0)
    throw Error(path_.string(), std::strerror(errno));
  if (text_.open_ended && write(fd_, "\n", 1) != 1)
    throw Error(path_.string(), std::strerror(errno), "free some space and go on with --resume");
  text_.torn_at.reset();
  text_.open_ended = false;
  return torn;
}

nlohmann::ordered_json Ledger::append(nlohmann::ordered_json record) {
  seal(record, text_.last_xxh3);
  const std::string line = to_line(record) + "\n";
  const off_t before = lseek(fd_, 0, SEEK_END);
  errno = 0;
  const ssize_t written = write(fd_, line.data(), line.size());
  if (written != static_cast<ssize_t>(line.size()) || fsync(fd_) != 0) {
    const std::string reason =
        written >= 0 && errno == 0 ? "the disk is full" : std::strerror(errno);
    // No half record: the ledger stays as it was before.
    if (ftruncate(fd_, before) != 0)
      throw Error(path_.string(), reason + ", and the record could not be removed");
    throw Error(path_.string(), reason, "free some space and go on with --resume");
  }
  ++appended_;
  text_.last_xxh3 = line_xxh3(std::string_view(line).substr(0, line.size() - 1));
  return record;
}

}  // namespace feedrate::record
