#include "ledger/record.h"

#include <utility>

#include "ledger/measurement_json.h"
#include "ledger/record_json.h"
#include "measure/clock.h"

namespace feedrate::ledger {
namespace {

using Json = nlohmann::ordered_json;

Json flags_json(const std::vector<judge::Flag>& flags) {
  Json json = Json::array();
  for (const judge::Flag& flag : flags) {
    json.push_back({{"name", flag.name},
                    {"severity", name_of(flag.severity)},
                    {"reason", flag.reason},
                    {"remedy", flag.remedy}});
  }
  return json;
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json look_json(const run::CacheLook& look) {
  if (look.by.empty()) return nullptr;
  return {{"by", look.by},
          {"files", look.files},
          {"of", look.of},
          {"unwritten_pages", look.unwritten_pages}};
}

Json dataset_json(const run::CellResult& result, const std::filesystem::path& data,
                  const std::optional<run::PageCache>& first) {
  if (!result.dataset) return nullptr;
  const storage::DatasetVariant& d = *result.dataset;
  const run::PageCache cache =
      result.measurement ? result.measurement->page_cache : run::PageCache{};
  return {{"path", data.string()},
          {"variant", result.settings.variant()},
          {"samples", d.samples.size()},
          {"bytes", d.total_bytes},
          {"mean_bytes", static_cast<std::uint64_t>(d.bytes_per_sample())},
          {"manifest_xxh3", d.manifest_xxh3},
          {"made", d.made},
          {"page_cache", cache.state},
          {"fits_in_memory", cache.fits},
          {"page_cache_before", cache.before},
          {"page_cache_after", cache.after},
          {"page_cache_first", first ? Json(first->before) : Json(nullptr)},
          {"page_cache_first_state", first ? Json(first->state) : Json(nullptr)},
          {"page_cache_method", text_or_null(cache.method)},
          {"page_cache_scope", text_or_null(cache.scope)},
          {"page_cache_look", look_json(cache.look)},
          {"page_cache_backing_before", cache.loops.empty() ? Json() : Json(cache.loops_before)},
          {"page_cache_backing_after", cache.loops.empty() ? Json() : Json(cache.loops_after)},
          {"memory_bytes", cache.memory_bytes}};
}

Json jobs_json(const JobsPart& part) {
  Json json = {{"of", part.of}, {"together", part.job > 0}, {"base_seed", part.base_seed}};
  if (part.job == 0) return json;
  json["job"] = part.job;
  json["copy"] = part.copy;
  json["overlap"] = part.overlap ? Json(*part.overlap) : Json(nullptr);
  return json;
}

// Cleans what the terminal shows of the record. record_json() cleans the JSON as a whole.
void clean_texts(run::CellResult& result, std::vector<judge::Flag>& flags,
                 const Anonymizer& anonymizer) {
  result.error = anonymizer.cleaned(std::move(result.error));
  for (judge::Flag& flag : flags) flag.reason = anonymizer.cleaned(std::move(flag.reason));
}

}  // namespace

Json stands_for_json(const run::CellResult& result) {
  Json values = Json::object();
  if (result.cell.is("precision", "auto")) values["precision"] = result.settings.precision;
  if (!result.qualified) return values;
  const Json all = run::values_of(result.settings.step);
  for (const auto& [axis, value] : all.items())
    if (result.settings.open_step.contains(axis)) values[axis] = value;
  return values;
}

std::optional<judge::Ceiling> Record::ceiling() const {
  return context.run.role == plan::Role::cell ? context.ceiling : std::nullopt;
}

std::optional<judge::Ceiling> Record::fit_ceiling() const {
  const auto its = ceiling();
  return its && its->unfit.empty() ? its : std::nullopt;
}

Record make_record(run::CellResult result, RunContext context, const run::RunOptions& options,
                   const std::optional<Anonymizer>& anonymizer) {
  Record record{.context = std::move(context), .result = std::move(result)};
  if (const auto& m = record.result.measurement; m && m->pairs) {
    record.context.ceiling = {
        m->pairs->ceiling_imgs_per_s, m->pairs->ceiling_device, {}, m->device.kernels};
  }
  const auto rate = [](const std::optional<judge::Ceiling>& ceiling) {
    return ceiling ? std::optional(ceiling->imgs_per_s) : std::nullopt;
  };
  const bool closes = record.context.run.role == plan::Role::closing_ceiling;
  judge::FlagFacts facts{
      .result = record.result,
      .options = options,
      .opening_imgs_per_s = closes ? rate(record.context.ceiling) : std::nullopt,
      .ceiling = record.ceiling(),
      .first_page_cache = record.context.first_page_cache,
      .differences = record.context.differences,
      .overlap = record.context.jobs ? record.context.jobs->overlap : std::nullopt};
  record.flags = judge::flags_of(facts);
  if (facts.ceiling) record.context.ceiling = facts.ceiling;
  if (anonymizer) clean_texts(record.result, record.flags, *anonymizer);
  record.valid = judge::is_valid(record.result, record.flags);
  if (record.result.measurement)
    record.verdict =
        judge::verdict_of(record.result.settings, *record.result.measurement, record.fit_ceiling());
  return record;
}

Json record_json(const Record& record, const run::RunOptions& options, const Json& environment,
                 const std::optional<Anonymizer>& anonymizer) {
  const run::CellResult& result = record.result;
  const plan::PlannedRun& run = record.context.run;
  Json json = {{"schema", kResultSchema},
               {"cell", cell_json(result.cell)},
               {"cell_id", result.cell.id()},
               {"role", plan::name_of(run.role)},
               {"repetition", run.repetition},
               {"order", record.context.order},
               {"status", run::name_of(result.status)},
               {"error", result.error.empty() ? Json(nullptr) : Json(result.error)},
               {"imgs_per_s", nullptr}};
  if (result.measurement)
    add_measurement(json, result.settings, *result.measurement, record.ceiling());
  for (const auto& [number, rank] : result.kept_ranks)
    json["ranks"].push_back(rank_json(number, rank));
  if (const Json stands = stands_for_json(result); !stands.empty()) json["stands_for"] = stands;
  if (result.qualified) {
    json["qualification"] = run::record_json_of(result.qualified->rungs);
    json["plain_step_error"] = run::record_json_of(result.qualified->plain);
    if (const Json batches = run::record_json_of(result.qualified->batches); !batches.empty())
      json["rates_over_batches"] = batches;
  }
  if (result.outputs != device::kUsualOutputs) json["outputs"] = result.outputs;
  if (result.first_batch_s) json["first_batch_s"] = *result.first_batch_s;
  if (result.qualify_ns > 0) json["qualify_s"] = measure::seconds(result.qualify_ns);
  json["flags"] = flags_json(record.flags);
  json["valid"] = record.valid;
  json["dataset"] = dataset_json(result, options.data, record.context.first_page_cache);
  if (result.dataset && result.listed.seconds > 0)
    json["dataset"]["listing_seconds"] = result.listed.seconds;
  json["environment"] = environment;
  json["limits"] = limits_json(options.limits);
  json["seed"] = run.seed(options.seed);
  if (run.search_run) json["search"] = {{"base_seed", options.seed}, {"run", *run.search_run}};
  json["started_at"] = result.started_at;
  json["place"] = plan::position_of(run.role);
  if (const auto& precision = record.context.precision)
    json["precision"] = {{"target", precision->target}, {"pilot", precision->pilot}};
  if (const auto& jobs = record.context.jobs) json["jobs"] = jobs_json(*jobs);
  if (!record.context.differences.empty()) json["forced"] = record.context.differences;
  if (record.verdict) {
    json["capacities"] = capacities_json(record.verdict->capacities);
    json["verdict"] = record.verdict->sentence;
  }
  if (anonymizer) anonymizer->apply(json);
  return json;
}

}  // namespace feedrate::ledger
