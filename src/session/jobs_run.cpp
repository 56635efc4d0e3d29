#include "session/jobs_run.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "measure/clock.h"
#include "measure/memory.h"

namespace feedrate::session {

std::vector<std::size_t> order_alone(const std::vector<PlannedJob>& jobs, int repetition,
                                     int repetitions, std::uint64_t seed) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].is_first()) order.push_back(i);
  }
  if (repetitions > 1) shuffle(order, mix64(seed, static_cast<std::uint64_t>(repetition)));
  return order;
}

bool JobsRepetition::all_measured() const {
  return std::ranges::all_of(together, [](const auto& rate) { return rate.has_value(); });
}

bool JobsOutcome::all_measured() const {
  return std::ranges::all_of(repetitions, &JobsRepetition::all_measured);
}

// Rules that share a name have remedies of their own. One flag may be raised several times in a
// run.
void JobsOutcome::spoil(int repetition, const std::string& of, const judge::Flag& flag) {
  const auto known = std::ranges::find_if(spoiled, [&](const SpoiledRuns& other) {
    return other.of == of && other.flag.name == flag.name && other.flag.remedy == flag.remedy;
  });
  if (known == spoiled.end()) {
    spoiled.push_back({of, flag, {repetition}});
  } else {
    known->repetitions.insert(repetition);
  }
}

void JobsOutcome::drop_last() {
  repetitions.pop_back();
  const int last = static_cast<int>(repetitions.size());
  for (SpoiledRuns& runs : spoiled) runs.repetitions.erase(last);
  std::erase_if(spoiled, [](const SpoiledRuns& runs) { return runs.repetitions.empty(); });
}

JobsRun::JobsRun(Session& session, const std::vector<PlannedJob>& jobs, int repetitions,
                 Finished finished)
    : session_(session),
      jobs_(jobs),
      repetitions_(repetitions),
      watcher_(session.watcher()),
      finished_(std::move(finished)),
      first_page_caches_(jobs.size()) {}

// A bad device is told before a dataset is listed, which may take long. Jobs that are alike need
// the same, and one of them is checked.
void JobsRun::check() {
  for (const PlannedJob& job : jobs_)
    if (job.is_first()) session_.runner(job.data).check_device(job.cell);
  std::vector<double> bytes;
  for (const PlannedJob& job : jobs_) {
    bytes.push_back(job.is_first() ? session_.runner(job.data).check(job.cell) : bytes[job.first]);
  }
  const double needed = std::accumulate(bytes.begin(), bytes.end(), 0.0);
  watcher_.shows_nothing();
  const auto available = static_cast<double>(measure::memory_available());
  if (available == 0 || needed < 0.9 * available) return;
  throw Error("memory",
              format("the jobs need %.0f MB together, %.0f MB are available", 1e-6 * needed,
                     1e-6 * available),
              "use fewer jobs, a smaller --batch-size, fewer --workers, or --cache none");
}

JobsOutcome JobsRun::measure() {
  for (; repetition_ < repetitions_ && !session_.is_stopped(); ++repetition_) measure_repetition();
  const auto& repetitions = outcome_.repetitions;
  if (session_.is_stopped() && !repetitions.empty() && !repetitions.back().all_measured())
    outcome_.drop_last();
  session_.end_ledger(!session_.is_stopped());
  return std::move(outcome_);
}

// Each job alone, then all that did not fail by themselves together.
void JobsRun::measure_repetition() {
  outcome_.repetitions.emplace_back().together.resize(jobs_.size());
  const AllAlone alone = measure_alone();
  JobsRepetition& reached = outcome_.repetitions.back();
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    reached.alone.push_back(alone[i] ? std::optional(alone[i]->imgs_per_s) : std::nullopt);
    if (alone[i]) numbers.push_back(i);
  }
  if (session_.is_stopped()) return;
  if (numbers.size() < 2) {
    watcher_.warns(in_repetition() + "too few jobs are left to run together");
    return;
  }
  measure_together(numbers, alone);
}

// "repetition 2 of 6, "; nothing where there is one.
std::string JobsRun::in_repetition() const {
  if (repetitions_ == 1) return "";
  return format("repetition %d of %d, ", repetition_ + 1, repetitions_);
}

// Of the run with this number. Each reads the samples in an order of its own: copies would else
// read the same at the same time, and what a server keeps of one run would be the next one's
// beginning.
run::RunOptions JobsRun::options_of(const PlannedJob& job, int order) {
  run::RunOptions options = session_.options().run;
  options.data = job.data;
  options.seed += static_cast<std::uint64_t>(order);
  return options;
}

// One after the other. Jobs that are alike reach the same.
JobsRun::AllAlone JobsRun::measure_alone() {
  AllAlone all(jobs_.size());
  for (const std::size_t i :
       order_alone(jobs_, repetition_, repetitions_, session_.options().run.seed)) {
    if (!session_.is_stopped()) all[i] = run_alone(jobs_[i]);
  }
  for (std::size_t i = 0; i < jobs_.size(); ++i) all[i] = all[jobs_[i].first];
  return all;
}

std::optional<JobsRun::Alone> JobsRun::run_alone(const PlannedJob& job) {
  const std::string title = "alone: " + job.name, shown = in_repetition() + title;
  const auto progress = [&](const run::RunProgress& p) { watcher_.shows(shown, p); };
  watcher_.shows(shown + ": preparing");
  const run::RunOptions options = options_of(job, order_);
  const auto runner = session_.another_runner(options);
  const std::int64_t started_ns = measure::now_ns();
  run::CellResult result = runner->run(job.cell, progress, session_.token());
  const std::int64_t began_ns = started_ns + result.qualify_ns;  // that is done once for all
  const ledger::Record record =
      keep(job, std::move(result), options, {.of = static_cast<int>(jobs_.size())}, title);
  const auto& m = record.result.measurement;
  if (!m) return std::nullopt;
  auto& first = first_page_caches_[job.first];
  if (!first) first = m->page_cache;
  return Alone{m->imgs_per_s, run::beginning_of(*m, began_ns)};
}

// The jobs with these numbers, from 0.
void JobsRun::measure_together(const std::vector<std::size_t>& numbers, const AllAlone& alone) {
  std::vector<run::Beginning> beginnings;
  for (const std::size_t i : numbers) beginnings.push_back(alone[i]->beginning);
  const run::SharedWindow appointment =
      run::appointment_of(measure::now_ns(), beginnings, session_.options().run.limits);
  std::vector<run::RunOptions> options;
  std::vector<std::unique_ptr<run::CellRunner>> runners;
  std::vector<run::Job> started;
  for (const std::size_t i : numbers) {
    options.push_back(options_of(jobs_[i], order_ + static_cast<int>(options.size())));
    options.back().appointment = appointment;
    runners.push_back(session_.another_runner(options.back()));
    started.push_back({jobs_[i].cell, runners.back().get()});
  }
  std::vector<run::JobEnd> ends = run::run_together(
      started, [&](std::span<const run::RunProgress> seen) { show(seen, appointment.opens_ns); },
      session_.token());
  run::leave_out_each_other(ends);
  const run::Overlap overlap = run::overlap_of(ends, appointment.opens_ns);
  JobsRepetition& reached = outcome_.repetitions.back();
  reached.overlap = overlap.share;
  for (std::size_t k = 0; k < ends.size(); ++k) {
    const std::size_t i = numbers[k];
    const ledger::Record record =
        keep(jobs_[i], std::move(ends[k].result), options[k],
             {.of = session_.is_stopped() ? static_cast<int>(ends.size()) : overlap.jobs,
              .job = static_cast<int>(i + 1),
              .copy = jobs_[i].copy,
              .overlap = overlap.share},
             "together: " + jobs_[i].name);
    if (const auto& m = record.result.measurement) reached.together[i] = m->imgs_per_s;
  }
}

void JobsRun::show(std::span<const run::RunProgress> seen, std::int64_t opens_ns) {
  double imgs_per_s = 0;
  for (const run::RunProgress& job : seen) imgs_per_s += job.imgs_per_s;
  const double left_s = measure::seconds(opens_ns - measure::now_ns());
  watcher_.shows(in_repetition() + std::to_string(seen.size()) + " jobs together: " +
                 (left_s > 0 ? format("warming up, %.0f s left", left_s) : "measuring") + " · " +
                 thousands(imgs_per_s) + " img/s in all");
}

// Makes the record, adds it to the ledger, and says what it holds.
ledger::Record JobsRun::keep(const PlannedJob& job, run::CellResult result,
                             const run::RunOptions& options, ledger::JobsPart part,
                             const std::string& title) {
  part.base_seed = session_.options().run.seed;
  if (!result.measurement) part.overlap.reset();
  ledger::RunContext context;
  context.run.cell = job.cell;
  context.run.repetition = repetition_;
  context.order = order_++;
  context.first_page_cache = first_page_caches_[job.first];
  context.jobs = part;
  auto [record, json] = session_.record_run(std::move(result), std::move(context), options);
  watcher_.shows_nothing();
  finished_(record, json, in_repetition() + title);
  note(job, record, title);
  return std::move(record);
}

// What will stand under the answer, whose table has the jobs' names beside their numbers.
void JobsRun::note(const PlannedJob& job, const ledger::Record& record, const std::string& title) {
  for (const judge::Flag& flag : record.flags) {
    if (flag.severity == judge::Severity::serious) outcome_.spoil(repetition_, title, flag);
  }
  if (!record.result.measurement) return;
  const std::string part = record.context.jobs->job == 0 ? "alone: job " : "together: job ";
  const auto number = std::to_string(&job - jobs_.data() + 1);
  outcome_.repetitions.back().seen.add(record, in_repetition() + part + number);
}

}  // namespace feedrate::session
