#include "data_gen/generate.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <system_error>

#include "base/error.h"
#include "base/file_remedy.h"
#include "base/in_parallel.h"
#include "base/whole_file.h"
#include "data_gen/disk_space.h"
#include "data_gen/generate_pack.h"
#include "data_gen/generate_plan.h"
#include "data_gen/generate_repair.h"
#include "data_gen/generate_sample.h"
#include "measure/affinity.h"
#include "measure/clock.h"

namespace feedrate::data_gen {
namespace {

namespace fs = std::filesystem;

// The variants that are made from the same pictures, and their manifests in the making.
struct Group {
  PictureKind kind;
  std::vector<PlannedVariant*> variants;
  std::vector<std::vector<storage::SampleFile>> lines;  // by sample, then by variant
};

std::vector<Group> group_by_picture(GeneratePlan& plan) {
  std::vector<Group> groups;
  for (PlannedVariant& variant : plan.variants) {
    if (variant.missing == 0 && !variant.known.empty()) continue;  // complete
    auto group = std::ranges::find(groups, variant.made_from, &Group::kind);
    if (group == groups.end()) group = groups.insert(groups.end(), {variant.made_from, {}, {}});
    group->variants.push_back(&variant);
  }
  // JPEG first: the other formats then find its file, whichever was asked for first.
  for (Group& group : groups) {
    std::ranges::stable_partition(group.variants, [](const PlannedVariant* variant) {
      return variant->format != nullptr && variant->format->name == "jpeg";
    });
    group.lines.assign(static_cast<std::size_t>(plan.source->count()),
                       std::vector<storage::SampleFile>(group.variants.size()));
  }
  return groups;
}

using OnProgress = std::function<void(const GenerateProgress&)>;

// Makes every sample of the groups, unless it is stopped or one cannot be made.
void make_samples(const GeneratePlan& plan, std::vector<Group>& groups, int threads,
                  const OnProgress& on_progress, const std::function<bool()>& stop) {
  const std::int64_t count = plan.source->count();
  GenerateProgress progress{.samples = count * static_cast<std::int64_t>(groups.size())};
  std::mutex mutex;
  const auto make_work = [&] {
    return [&, maker = std::make_shared<SampleMaker>(plan)](std::size_t i) {
      const auto task = static_cast<std::int64_t>(i);
      Group& group = groups[static_cast<std::size_t>(task / count)];
      const std::int64_t index = task % count;
      const std::int64_t bytes = maker->make(index, group.kind, group.variants,
                                             group.lines[static_cast<std::size_t>(index)]);
      const std::scoped_lock lock(mutex);
      ++progress.samples_done;
      progress.bytes_written += bytes;
      if (on_progress) on_progress(progress);
    };
  };
  if (in_parallel(static_cast<std::size_t>(progress.samples), threads, make_work,
                  [&] { return stop && stop(); }))
    return;
  throw Error("interrupted",
              std::to_string(progress.samples_done) + " of " + std::to_string(progress.samples) +
                  " samples were made",
              "run the same command again to make the rest");
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
    refuse_reading(data.string(), error.code().message(), error.code().value(),
                   "choose another folder");
  }
}

// From here on an interrupted run leaves a dataset that says what is incomplete.
void record_begin(GeneratePlan& plan, const std::vector<Group>& groups) {
  for (const Group& group : groups) {
    for (const PlannedVariant* variant : group.variants) {
      storage::VariantRecord& record = plan.record.variants[variant->name] = {};
      if (variant->format == nullptr) record.made_from = to_string(variant->made_from);
      for (std::int32_t label = 0; label < plan.source->classes(); ++label) {
        const fs::path folder = plan.data / variant->name / plan.source->class_folder(label);
        plan.news.waits_for(folder.string());
        make_folder(folder);
      }
    }
  }
  storage::write_dataset_record(plan.data, plan.record);
}

// The samples reach the disk before the manifests that vouch for them.
void record_end(GeneratePlan& plan, const std::vector<Group>& groups, const PosixFile& folder) {
  plan.news.syncs(plan.data.string());
  if (syncfs(folder.get()) != 0) {
    const int error = errno;
    throw Error(plan.data.string(), std::system_category().message(error),
                remedy_of_writing(error, "run the same command again", ", and "));
  }
  for (const Group& group : groups) {
    for (std::size_t v = 0; v < group.variants.size(); ++v) {
      std::vector<storage::SampleFile> samples;
      samples.reserve(group.lines.size());
      for (const auto& lines : group.lines) samples.push_back(lines[v]);
      const std::string& name = group.variants[v]->name;
      plan.news.waits_for((plan.data / name).string());
      storage::VariantRecord record = storage::write_manifest(plan.data / name, samples);
      record.made_from = plan.record.variants[name].made_from;
      plan.record.variants[name] = std::move(record);
    }
  }
  plan.news.waits_for(plan.data.string());
  storage::write_dataset_record(plan.data, plan.record);
}

}  // namespace

std::vector<VariantSummary> generate_dataset(
    const GenerateOptions& options, const std::function<void(const GenerateProgress&)>& on_progress,
    const std::function<bool()>& stop) {
  const int threads = options.threads > 0 ? options.threads : measure::allowed_cpus();
  GeneratePlan plan = begin_plan(
      options, {threads, options.skip_bad, options.on_skipped, on_progress, stop, options.news});
  plan.news.waits_for(plan.data.string());
  make_folder(plan.data);
  const PosixFile folder = lock_folder(plan.data);
  survey_folder(plan, options);
  if (options.repair) remove_damaged(plan, threads, on_progress, stop);
  check_disk_space(plan);
  std::vector<Group> groups = group_by_picture(plan);
  if (!groups.empty()) {
    record_begin(plan, groups);
    make_samples(plan, groups, threads, on_progress, stop);
    record_end(plan, groups, folder);
  }
  make_packs(plan, on_progress, stop);
  std::vector<VariantSummary> summaries;
  const auto add = [&](const std::string& name) {
    const storage::VariantRecord& record = plan.record.variants.at(name);
    summaries.push_back({name, static_cast<std::int64_t>(record.files), record.bytes});
  };
  for (const PlannedVariant& variant : plan.variants) add(variant.name);
  for (const PlannedPack& pack : plan.packs) add(pack.name);
  return summaries;
}

}  // namespace feedrate::data_gen
