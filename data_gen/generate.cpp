#include "data_gen/generate.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <system_error>
#include <thread>

#include "data_gen/generate_plan.h"
#include "data_gen/generate_sample.h"
#include "measure/error.h"
#include "storage/whole_file.h"

namespace feedrate {
namespace {

namespace fs = std::filesystem;

// The variants that are made from one picture size, and their manifests in the making.
struct Group {
  PixelSize size;
  std::vector<PlannedVariant*> variants;
  std::vector<std::vector<SampleFile>> lines;  // by sample, then by variant
};

std::vector<Group> group_by_picture(GeneratePlan& plan) {
  std::vector<Group> groups;
  for (PlannedVariant& variant : plan.variants) {
    if (variant.missing == 0 && !variant.known.empty()) continue;  // complete
    auto group = std::ranges::find(groups, variant.made_from, &Group::size);
    if (group == groups.end()) group = groups.insert(groups.end(), {variant.made_from, {}, {}});
    group->variants.push_back(&variant);
  }
  // JPEG first: the other formats then find its file, whichever was asked for first.
  for (Group& group : groups) {
    std::ranges::stable_partition(group.variants, [](const PlannedVariant* variant) {
      return variant->format != nullptr && variant->format->name == "jpeg";
    });
    group.lines.assign(static_cast<std::size_t>(plan.source->count()),
                       std::vector<SampleFile>(group.variants.size()));
  }
  return groups;
}

int usable_cpus() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  return sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? std::max(1, CPU_COUNT(&cpus)) : 1;
}

// Threads take the next sample until there is none; the calling thread is one of them. The first
// error ends all of them and is thrown from run().
class Generation {
 public:
  Generation(const GeneratePlan& plan, std::vector<Group>& groups,
             const std::function<void(const GenerateProgress&)>& on_progress,
             const std::function<bool()>& stop)
      : plan_(plan), groups_(groups), on_progress_(on_progress), stop_(stop) {
    progress_.samples = plan_.source->count() * static_cast<std::int64_t>(groups_.size());
  }

  void run(int threads) {
    std::vector<std::jthread> helpers;
    for (int i = 1; i < threads; ++i) helpers.emplace_back([this] { work(); });
    work();
    helpers.clear();  // joins
    if (error_) std::rethrow_exception(error_);
    if (stopped_) {
      throw Error("interrupted",
                  std::to_string(progress_.samples_done) + " of " +
                      std::to_string(progress_.samples) + " samples were made",
                  "run the same command again to make the rest");
    }
  }

 private:
  void work() {
    try {
      SampleMaker maker(plan_);
      const std::int64_t count = plan_.source->count();
      while (!should_stop()) {
        const std::int64_t task = next_++;
        if (task >= progress_.samples) break;
        Group& group = groups_[static_cast<std::size_t>(task / count)];
        const std::int64_t index = task % count;
        report(maker.make(index, group.size, group.variants,
                          group.lines[static_cast<std::size_t>(index)]));
      }
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }

  bool should_stop() {
    const std::scoped_lock lock(mutex_);
    if (!stopped_ && stop_ && stop_()) stopped_ = true;
    return stopped_ || error_;
  }

  void report(std::int64_t bytes) {
    const std::scoped_lock lock(mutex_);
    ++progress_.samples_done;
    progress_.bytes_written += bytes;
    if (on_progress_) on_progress_(progress_);
  }

  const GeneratePlan& plan_;
  std::vector<Group>& groups_;
  const std::function<void(const GenerateProgress&)>& on_progress_;
  const std::function<bool()>& stop_;
  std::atomic<std::int64_t> next_ = 0;
  std::mutex mutex_;
  GenerateProgress progress_;
  bool stopped_ = false;
  std::exception_ptr error_;
};

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw Error(folder.string(), "cannot make the folder: " + error.message(),
                "choose a place that can be written");
  }
}

// Holds the dataset's folder for this process; two writers would take turns in spoiling it.
PosixFile lock_folder(const fs::path& data) {
  try {
    PosixFile folder(data, O_RDONLY | O_DIRECTORY);
    // File systems without such locks are used without one.
    if (flock(folder.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      throw Error(data.string(), "another `feedrate gen` is at work in it", "wait for it to end");
    }
    return folder;
  } catch (const std::system_error& error) {
    throw Error(data.string(), error.code().message(), "choose a folder that can be read");
  }
}

// From here on an interrupted run leaves a dataset that says what is incomplete.
void record_begin(GeneratePlan& plan, const std::vector<Group>& groups) {
  for (const Group& group : groups) {
    for (const PlannedVariant* variant : group.variants) {
      VariantRecord& record = plan.record.variants[variant->name] = {};
      if (variant->format == nullptr) record.made_from = size_name(variant->made_from);
      for (std::int32_t label = 0; label < plan.source->classes(); ++label) {
        make_folder(plan.data / variant->name / plan.source->class_folder(label));
      }
    }
  }
  write_dataset_record(plan.data, plan.record);
}

// The samples reach the disk before the manifests that vouch for them.
void record_end(GeneratePlan& plan, const std::vector<Group>& groups, const PosixFile& folder) {
  if (syncfs(folder.get()) != 0) {
    throw Error(plan.data.string(), std::system_category().message(errno), "check the disk");
  }
  for (const Group& group : groups) {
    for (std::size_t v = 0; v < group.variants.size(); ++v) {
      std::vector<SampleFile> samples;
      samples.reserve(group.lines.size());
      for (const auto& lines : group.lines) samples.push_back(lines[v]);
      const std::string& name = group.variants[v]->name;
      VariantRecord record = write_manifest(plan.data / name, samples);
      record.made_from = plan.record.variants[name].made_from;
      plan.record.variants[name] = std::move(record);
    }
  }
  write_dataset_record(plan.data, plan.record);
}

}  // namespace

std::vector<VariantSummary> generate_dataset(
    const GenerateOptions& options, const std::function<void(const GenerateProgress&)>& on_progress,
    const std::function<bool()>& stop) {
  GeneratePlan plan = begin_plan(options);
  make_folder(plan.data);
  const PosixFile folder = lock_folder(plan.data);
  survey_folder(plan, options);
  check_room(plan);
  std::vector<Group> groups = group_by_picture(plan);
  if (!groups.empty()) {
    record_begin(plan, groups);
    const int threads = options.threads > 0 ? options.threads : usable_cpus();
    Generation(plan, groups, on_progress, stop).run(threads);
    record_end(plan, groups, folder);
  }
  std::vector<VariantSummary> summaries;
  for (const PlannedVariant& variant : plan.variants) {
    const VariantRecord& record = plan.record.variants.at(variant.name);
    summaries.push_back({variant.name, static_cast<std::int64_t>(record.files), record.bytes});
  }
  return summaries;
}

}  // namespace feedrate
