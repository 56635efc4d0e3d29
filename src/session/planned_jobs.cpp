#include "session/planned_jobs.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/error.h"
#include "plan/axes.h"

namespace feedrate::session {
namespace {

// A job goes on loading until the last one has measured.
void refuse_what_cannot_go_on(const plan::Cell& cell) {
  if (cell.is("data", "synthetic")) {
    throw UsageError("--data synthetic", "loads nothing, so that it is no job on a storage",
                     "say what the jobs load, as in --data jpeg,png");
  }
  if (cell.is("cache", "discard")) {
    throw UsageError("--cache discard", "waits for nothing that it loads: its rate is the device's",
                     "use --cache none");
  }
  if (cell.is("page-cache", "cold")) {
    throw UsageError("--page-cache cold",
                     "is one pass over the files, and a job goes on until all have measured",
                     "read past the page cache: --io direct or uring-direct");
  }
}

std::string name_of(const PlannedJob& job, std::size_t number, bool has_datasets, bool has_copies) {
  std::string name = "job " + std::to_string(number) + " (" + job.cell.label() + ", batch " +
                     *job.cell["batch-size"] + ", " +
                     *job.cell.recorded(plan::axis_named("device"));
  if (has_datasets) name += ", " + job.data.string();
  if (has_copies) name += ", copy " + std::to_string(job.copy);
  return name + ")";
}

// Folders as they were first typed: `data` and `./data/` are one dataset, which is opened once. By
// their names alone: nobody watches yet whether the storage answers.
class FirstTyped {
 public:
  std::filesystem::path of(const std::filesystem::path& data) {
    if (data.empty()) return data;  // none was typed, which is refused where it is needed
    const auto folder = (std::filesystem::absolute(data) / "").lexically_normal();
    return typed_.try_emplace(folder, data).first->second;
  }

 private:
  std::map<std::filesystem::path, std::filesystem::path> typed_;
};

}  // namespace

std::vector<PlannedJob> plan_jobs(const std::vector<CellGroup>& groups, int copies) {
  std::vector<PlannedJob> jobs;
  FirstTyped datasets;
  std::map<std::pair<std::string, std::filesystem::path>, std::size_t> first_of;
  for (const CellGroup& group : groups) {
    const std::filesystem::path data = datasets.of(group.data);
    for (const plan::Cell& cell : group.cells) {
      refuse_what_cannot_go_on(cell);
      const std::size_t first = first_of.try_emplace({cell.id(), data}, jobs.size()).first->second;
      auto copy = static_cast<int>(std::ranges::count(jobs, first, &PlannedJob::first));
      for (int i = 0; i < copies; ++i)
        jobs.push_back({.cell = cell, .data = data, .first = first, .copy = ++copy, .name = {}});
    }
  }
  if (jobs.size() < 2) {
    throw UsageError("feedrate jobs", "starts several trainings at once, these options make one",
                     "give several values of an axis, --copies N, or [[sweep]] tables in --config");
  }
  const bool has_datasets = std::ranges::any_of(
      jobs, [&](const PlannedJob& job) { return job.data != jobs.front().data; });
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const bool has_copies = std::ranges::any_of(
        jobs, [&](const PlannedJob& job) { return job.first == jobs[i].first && job.copy > 1; });
    jobs[i].name = name_of(jobs[i], i + 1, has_datasets, has_copies);
  }
  return jobs;
}

}  // namespace feedrate::session
