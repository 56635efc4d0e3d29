#include "cli/stored_size.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/supervised_process.h"
#include "codec/codec.h"
#include "storage/dataset.h"
#include "storage/left_out.h"
#include "storage/listing.h"
#include "storage/variant_name.h"

namespace feedrate::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOwnFolder = "/";

// Of a folder that no `gen` made: class folders or pictures, or tar shards where those are asked
// for.
bool holds_what_is_asked(const fs::path& folder, const std::set<std::string>& kinds) {
  const std::vector<std::string_view> endings = codec::picture_endings();
  const auto is_picture = [&](const fs::path& name) {
    return std::ranges::any_of(endings, [&](std::string_view ending) {
      return storage::is_in_any_case(name.extension().native(), ending);
    });
  };
  std::error_code error;
  const bool shards =
      std::ranges::any_of(kinds, [](const std::string& k) { return k.ends_with(".webdataset"); });
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path name = entry->path().filename();
    if (storage::is_hidden(name.native())) continue;
    if (shards ? name.extension() == ".tar" : entry->is_directory(error) || is_picture(name))
      return true;
  }
  return false;
}

// The name of the one size's folder; kOwnFolder where no `gen` made the dataset; empty: none.
std::string look(const fs::path& dataset, const std::set<std::string>& kinds) {
  std::error_code error;
  if (!fs::is_directory(dataset, error)) return "";
  if (!fs::exists(dataset / "dataset.json", error))
    return holds_what_is_asked(dataset, kinds) ? std::string(kOwnFolder) : "";
  std::string only;
  for (const std::string& kind : kinds) {
    for (fs::directory_iterator entry(dataset / kind, error), end; !error && entry != end;
         entry.increment(error)) {
      if (!fs::exists(entry->path() / "files.tsv", error)) continue;
      const std::string found = entry->path().filename().string();
      if (!only.empty() && only != found) return "";
      only = found;
    }
    if (error) return "";
  }
  return only;
}

}  // namespace

StoredSizeLook look_for_stored_size(const fs::path& dataset, const std::set<std::string>& kinds,
                                    std::chrono::milliseconds patience) {
  // One that waits for storage ends when that answers, and is nobody's any more.
  SupervisedProcess process(
      [&] {
        close(STDERR_FILENO);  // what a library says there is no answer
        const std::string line = look(dataset, kinds) + "\n";
        return write(STDOUT_FILENO, line.data(), line.size()) < 0 ? 1 : 0;
      },
      SupervisedProcess::Output::captured);
  auto found = process.output(SupervisedProcess::Clock::now() + patience);
  if (!found || found->empty()) return {};
  found->pop_back();
  if (found->empty()) return {.is_answered = true};
  if (*found == kOwnFolder)
    return {true, StoredSize{std::string(storage::kMixedSizes), "", /*made=*/false}};
  const storage::VariantName name = storage::variant_name_from("/" + *found);
  return {true, StoredSize{name.size, name.detail}};
}

}  // namespace feedrate::cli
