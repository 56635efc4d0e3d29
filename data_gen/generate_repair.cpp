#include "data_gen/generate_repair.h"

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/file_remedy.h"
#include "base/in_parallel.h"
#include "base/whole_file.h"
#include "base/xxh3.h"

namespace feedrate::data_gen {
namespace {

// Whether there is a file that is not as the manifest has it.
bool is_damaged(const std::filesystem::path& path, const storage::SampleFile& known,
                std::vector<std::byte>& file) {
  try {
    read_whole_file(path, file);
  } catch (const std::system_error& error) {
    refuse_unreadable(path.string(), error.code());
    return false;  // it is missing
  }
  return file.size() != known.bytes || xxh3_of(file) != known.xxh3;
}

void remove_file(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::remove(path, error) && error)
    throw Error(path.string(), "is damaged, and cannot be removed: " + error.message(),
                remedy_of_writing(error.value(), "remove it yourself", ", and "));
}

}  // namespace

void remove_damaged(GeneratePlan& plan, int threads,
                    const std::function<void(const GenerateProgress&)>& on_progress,
                    const std::function<bool()>& stop) {
  GenerateProgress progress{.checking = true};
  for (const PlannedVariant& variant : plan.variants)
    progress.samples += static_cast<std::int64_t>(variant.known.size());
  std::mutex mutex;
  for (PlannedVariant& variant : plan.variants) {
    std::atomic<std::int64_t> removed{0};
    const auto make_work = [&] {
      return [&, file = std::vector<std::byte>()](std::size_t i) mutable {
        const std::filesystem::path path = plan.data / variant.name / variant.known[i].path;
        plan.news.waits_for(path.string());
        // One of another size is counted as missing already.
        if (is_damaged(path, variant.known[i], file)) {
          if (file.size() == variant.known[i].bytes) ++removed;
          remove_file(path);
        }
        const std::scoped_lock lock(mutex);
        ++progress.samples_done;
        if (on_progress) on_progress(progress);
      };
    };
    if (!in_parallel(variant.known.size(), threads, make_work, [&] { return stop && stop(); }))
      throw Error("interrupted", "while the files were checked", "run the same command again");
    variant.missing += removed;
  }
}

}  // namespace feedrate::data_gen
