#include "cli/stored_size.h"

#include <signal.h>

#include <algorithm>
#include <future>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

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

}  // namespace

std::optional<StoredSize> only_stored_size(const fs::path& dataset,
                                           const std::set<std::string>& kinds,
                                           std::chrono::milliseconds patience) {
  // A thread of its own, left behind where the storage does not answer.
  auto found = std::make_shared<std::promise<std::optional<StoredSize>>>();
  auto answer = found->get_future();
  // Signals are for those who wait for them (signals.h), not for this thread, which may hang.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread([=] { found->set_value(look(dataset, kinds)); }).detach();
  } catch (const std::system_error&) {  // no thread is to be had
    patience = std::chrono::milliseconds(0);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return answer.wait_for(patience) == std::future_status::ready ? answer.get() : std::nullopt;
}

}  // namespace feedrate::cli
