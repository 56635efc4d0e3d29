#include "ledger/anonymize.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <regex>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>

#include "base/text.h"
#include "ranks/hello.h"
#include "ranks/launch.h"
#include "storage/dataset_record.h"

namespace feedrate::ledger {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Fields that say what was measured, and on what. They hold no private name or path, so they are
// kept: a folder may be called "jpeg", a host "cuda".
constexpr std::array kKept = {
    "schema",        "cell",    "cell_id",  "role",          "status",   "started_at", "stages",
    "monitors",      "device",  "variant",  "manifest_xxh3", "limits",   "severity",   "os",
    "kernel",        "libc",    "compiler", "opencv",        "decoders", "cpu",        "gpus",
    "nvidia_driver", "command", "config"};  // the last two have rules of their own

// What is said of the page cache names a state, a call or a device.
bool is_kept(std::string_view key) {
  return key.starts_with("page_cache") || std::ranges::find(kKept, key) != kKept.end();
}

// Whether a name stands there by itself, not as a part of a word ("node" in "nodes").
bool apart(const std::string& text, std::size_t at, std::size_t length) {
  const auto word = [&](std::size_t i) {
    return i < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_');
  };
  return !(at > 0 && word(at - 1)) && !word(at + length);
}

void clean_text(std::string& text, const std::vector<Anonymizer::Replacement>& replacements) {
  for (const auto& [what, by, leads] : replacements) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos;) {
      // A folder typed as a bare word is replaced only where a path continues behind it.
      const bool whole =
          apart(text, at, what.size()) &&
          (!leads || (at + what.size() < text.size() && text[at + what.size()] == '/'));
      if (whole) text.replace(at, what.size(), by);
      at += whole ? by.size() : what.size();
    }
  }
  static const std::regex kProcess(
      R"(( on [^ ()]+)? \(pid \d+\))");  // "rank 3 on node07 (pid 4242)"
  text = std::regex_replace(text, kProcess, "");
}

// `of_flags`: their names are the program's own.
void clean(Json& json, const std::vector<Anonymizer::Replacement>& replacements,
           bool of_flags = false) {
  if (json.is_object()) {
    for (auto& [key, value] : json.items()) {
      if (!is_kept(key) && !(of_flags && key == "name")) clean(value, replacements, key == "flags");
    }
  } else if (json.is_array()) {
    for (auto& value : json) clean(value, replacements, of_flags);
  } else if (json.is_string()) {
    std::string text = json;
    clean_text(text, replacements);
    json = text;
  }
}

// Options that take a folder or a file, and what it is called afterwards.
constexpr std::array<std::pair<std::string_view, const char*>, 6> kPlaces = {
    {{"--dataset", "DATASET"},
     {"-o", "OUTPUT"},
     {"--output", "OUTPUT"},
     {"--config", "CONFIG"},
     {"--record-steps", "TRACE"},
     {"--trace", "TRACE"}}};

// The file of a recorded device. A comma ends a value. In a command's word a quote is a part of the
// name, as in "bob's lab".
void clean_trace_in_word(std::string& word) {
  static const std::regex kTrace("(emulated:trace=)[^,]+");
  word = std::regex_replace(word, kTrace, "$1TRACE");
}

// In a suite the quote that began a value ends it; of a value that does not begin with the trace,
// either quote.
void clean_trace_in_config(std::string& text) {
  static const std::regex kTrace(
      "(\"emulated:trace=)[^,\"\\n]+|('emulated:trace=)[^,'\\n]+|(emulated:trace=)[^,\"'\\n]+");
  text = std::regex_replace(text, kTrace, "$1$2$3TRACE");
}

void clean_command(Json& words, const std::vector<Anonymizer::Replacement>& replacements) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string word = words[i];
    for (const auto& [option, name] : kPlaces) {
      if (i > 0 && words[i - 1] == option) word = name;
      if (word.starts_with(std::string(option) + "=")) word = std::string(option) + "=" + name;
    }
    clean_trace_in_word(word);
    if (word.find('/') != std::string::npos) clean_text(word, replacements);
    words[i] = word;
  }
}

// A suite may name the folders: dataset = "photos".
void clean_config(Json& config, const std::vector<Anonymizer::Replacement>& replacements) {
  std::string text = config;
  for (const auto& [key, name] : {std::pair{"dataset", "DATASET"}, std::pair{"output", "OUTPUT"}}) {
    const std::regex line("(^|\\n)(\\s*\"?" + std::string(key) +
                          "\"?\\s*=\\s*)(\"[^\"\\n]*\"|'[^'\\n]*')");
    text = std::regex_replace(text, line, "$1$2\"" + std::string(name) + "\"");
  }
  clean_trace_in_config(text);
  clean_text(text, replacements);
  config = text;
}

// A network file system's device is "server:/export" or "//server/share", and its options hold
// addresses and names; those of an overlay hold paths. A FUSE file system's is what its program
// calls it, as a bucket; that of a volume is what its owner does.
void hide_source(Json& mount) {
  const std::string device = mount["device"], type = mount.value("type", "");
  constexpr std::string_view kMapped = "/dev/mapper/";
  if (device.find(':') != std::string::npos || device.starts_with("//"))
    mount["device"] = "server:export";
  else if (type.starts_with("fuse"))
    mount["device"] = "source";
  else if (device.starts_with(kMapped))
    mount["device"] = std::string(kMapped) + "volume";
  std::string kept;
  std::stringstream options(mount["mount_options"].get<std::string>());
  for (std::string option; std::getline(options, option, ',');) {
    static constexpr std::array kNames = {
        "addr=", "clientaddr=", "mountaddr=", "upperdir=", "lowerdir=", "workdir=",   "username=",
        "user=", "domain=",     "ip=",        "unc=",      "source=",   "lowerdir+=", "datadir+="};
    if (std::ranges::any_of(kNames, [&](const char* name) { return option.starts_with(name); }))
      continue;
    kept += (kept.empty() ? "" : ",") + option;
  }
  mount["mount_options"] = kept;
}

}  // namespace

Anonymizer::Anonymizer(const fs::path& dataset, const fs::path& output, const fs::path& config,
                       const std::vector<fs::path>& traces) {
  std::error_code none;
  const auto folder = [&](const fs::path& path, const std::string& name) {
    if (path.empty()) return;
    add(fs::weakly_canonical(path, none).string(), name);
    add(fs::absolute(path, none).lexically_normal().string(), name);
    add(path.string(), name);
  };
  folder(dataset, "DATASET");
  folder(output, "OUTPUT");
  folder(config, "CONFIG");
  for (const fs::path& trace : traces) folder(trace, "TRACE");
  folder(fs::current_path(none), "CWD");
  add(environment_variable("HOME"), "HOME");
  const std::string host = ranks::host_name();
  add(host, "host", false);
  add(host.substr(0, host.find('.')), "host", false);
  if (const passwd* user = getpwuid(getuid()); user && std::string_view(user->pw_name) != "root")
    add(user->pw_name, "user", false);
  std::ranges::stable_sort(replacements_, std::greater<>(),
                           [](const Replacement& one) { return one.what.size(); });
}

void Anonymizer::add(std::string what, const std::string& by, bool is_path) {
  while (is_path && what.size() > 1 && what.ends_with('/')) what.pop_back();
  if (what.size() <= 1 || what == by) return;
  const bool leads = is_path && what.find('/') == std::string::npos;
  const std::string in_errors = escaped(what);
  if (in_errors != what) replacements_.push_back({in_errors, by, leads});
  replacements_.push_back({std::move(what), by, leads});
}

std::string Anonymizer::cleaned(std::string text) const {
  clean_text(text, replacements_);
  return text;
}

void Anonymizer::apply(Json& record) const {
  std::vector<Replacement> all = replacements_;
  if (record.contains("ranks")) {  // they may be on other machines
    std::set<std::string> hosts;
    for (auto& rank : record["ranks"]) {
      rank.erase("pid");
      if (rank.contains("host") && rank["host"] != ranks::host_name() &&
          hosts.insert(rank["host"]).second) {
        all.insert(all.begin(), {rank["host"], "host" + std::to_string(hosts.size()), false});
      }
    }
  }
  Json& environment = record["environment"];
  if (environment["file_system"].is_object()) hide_source(environment["file_system"]);
  if (environment["command"].is_array()) clean_command(environment["command"], all);
  if (environment["config"].is_string()) clean_config(environment["config"], all);
  clean(record, all);
  if (auto dataset = record.find("dataset"); dataset != record.end() && dataset->is_object()) {
    (*dataset)["path"] = "DATASET";
    if (dataset->contains("made") &&
        !storage::is_generated((*dataset)["made"].value("source", "generated")))
      (*dataset)["made"]["source"] = "PICTURES";
  }
}

}  // namespace feedrate::ledger
