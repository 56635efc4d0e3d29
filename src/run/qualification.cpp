#include "run/qualification.h"

#include <exception>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "base/xxh3.h"
#include "device/step_option.h"
#include "run/number_or_nan.h"

namespace feedrate::device {
void to_json(nlohmann::json& json, const StepOptions& options) {
  json = {{"trial_precision", options.trial_precision}};
  for (const StepOption& option : step_options())
    json[std::string(option.axis)] = option.value(options);
}
void from_json(const nlohmann::json& json, StepOptions& options) {
  options.trial_precision = json.at("trial_precision").get<std::string>();
  for (const StepOption& option : step_options())
    option.set(options, json.at(std::string(option.axis)).get<std::string>());
}

// The macro cannot read null, which is how JSON writes NaN.
void to_json(nlohmann::json& json, const StepError& error) {
  json = {error.loss, error.update, error.scale, error.one, error.one_in_fp32};
}
void from_json(const nlohmann::json& json, StepError& error) {
  error = {.loss = run::number_or_nan(json.at(0)),
           .update = run::number_or_nan(json.at(1)),
           .scale = run::number_or_nan(json.at(2)),
           .one = run::number_or_nan(json.at(3)),
           .one_in_fp32 = run::number_or_nan(json.at(4))};
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RungResult, axis, value, verdict, imgs_per_s, ratio, low, high,
                                   error, reason)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BatchRate, batch, imgs_per_s, reason)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Qualification, chosen, plain, rungs, batches, batches_failed)
}  // namespace feedrate::device

namespace feedrate::run {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kQualifiedSchema = "feedrate.qualified/1";

}  // namespace

Json json_of(const QualifyEvent& event) {
  if (event.qualified) return {{"qualified", *event.qualified}};
  if (event.fits) return {{"fits", *event.fits}};
  if (event.ended) return {{"ended", *event.ended}};
  return {{"axis", event.axis}, {"value", event.value}};
}

QualifyEvent qualify_event_from(const Json& json) {
  QualifyEvent event;
  if (json.contains("qualified")) {
    event.qualified = json.at("qualified").get<device::Qualification>();
  } else if (json.contains("fits")) {
    event.fits = json.at("fits").get<int>();
  } else if (json.contains("ended")) {
    event.ended = json.at("ended").get<device::RungResult>();
  } else {
    json.at("axis").get_to(event.axis);
    json.at("value").get_to(event.value);
  }
  return event;
}

void to_json(Json& json, const QualifyOrder& order) {
  json = {{"rates", order.asks_rates}, {"fit", order.asks_fit}, {"known", order.known}};
}
void from_json(const Json& json, QualifyOrder& order) {
  order = {.asks_rates = json.at("rates"), .asks_fit = json.at("fit"), .known = json.at("known")};
}

void run_trials(const QualifyOrder& order, device::StepTrials& trials, const device::OpenStep& step,
                const QualifySink& tell) {
  if (order.asks_fit)
    return tell({.fits = device::largest_batch(trials, device::plain_of(step), step.batch)});
  const device::QualifyNews news{
      .begun = [&](const std::string& axis,
                   const std::string& value) { tell({.axis = axis, .value = value}); },
      .ended = [&](const device::RungResult& result) { tell({.ended = result}); }};
  device::Qualification found = device::qualify(trials, step, order.known, news);
  tell({.qualified = found});  // whatever becomes of the rates
  if (!order.asks_rates) return;
  found.batches = device::rates_over_batches(trials, found.chosen, step.batch);
  tell({.qualified = std::move(found)});
}

std::optional<QualifyEvent> qualify_apart(
    QualifyOrder order, const std::function<bool(const QualifyOrder&, const QualifySink&)>& attempt,
    const QualifySink& told) {
  while (true) {
    std::optional<device::RungResult> under_way;
    std::optional<QualifyEvent> end;
    const auto hear = [&](const QualifyEvent& event) {
      if (event.qualified || event.fits) {
        end = event;
      } else if (event.ended) {
        under_way.reset();
        order.known.push_back(*event.ended);
      } else {
        under_way = {.axis = event.axis, .value = event.value};
      }
      if (told) told(event);
    };
    try {
      if (!attempt(order, hear)) return std::nullopt;
      if (!end) throw Error("the qualification", "ended without a result");
      return end;
    } catch (const std::exception& error) {
      if (end && end->qualified) {
        end->qualified->batches_failed = error.what();
        return end;
      }
      if (!under_way) throw;
      under_way->verdict = "failed", under_way->reason = error.what();
      order.known.push_back(*under_way);
      if (told) told({.ended = *under_way});
    }
  }
}

KeptQualifications::KeptQualifications() {
  if (const std::string cache = cache_folder(); !cache.empty()) folder_ = cache + "/qualified";
}

fs::path KeptQualifications::file_of(const Json& holds_for) const {
  return folder_ / (to_hex(xxh3_of(holds_for.dump())) + ".json");
}

std::optional<device::Qualification> KeptQualifications::find(const Json& holds_for,
                                                              std::string& note) const {
  const fs::path file = file_of(holds_for);
  std::error_code error;
  if (folder_.empty() || !fs::exists(file, error)) return std::nullopt;
  try {
    const Json kept = Json::parse(read_whole_text(file));
    if (kept.at("schema") == kQualifiedSchema && kept.at("holds_for") == holds_for)
      return kept.at("found").get<device::Qualification>();
    note = file.string() + ": is of something else; the device is qualified again";
  } catch (const std::exception&) {
    note = file.string() + ": is damaged; the device is qualified again";
  }
  return std::nullopt;
}

fs::path KeptQualifications::keep(const Json& holds_for, const device::Qualification& found) const {
  if (folder_.empty()) return {};
  make_folder(folder_);
  const fs::path file = file_of(holds_for);
  const Json kept = {{"schema", kQualifiedSchema}, {"holds_for", holds_for}, {"found", found}};
  // Of another name in each process: two that write at once would else write into one another's.
  const fs::path own = own_name_beside(file);
  write_whole_file(own, kept.dump(1) + "\n", /*durable=*/false);
  std::error_code error, ignored;
  fs::rename(own, file, error);
  if (!error) return file;
  fs::remove(own, ignored);
  throw Error(file.string(), "cannot write it: " + error.message());
}

nlohmann::ordered_json values_of(const device::StepOptions& options) {
  nlohmann::ordered_json values;
  for (const device::StepOption& option : device::step_options())
    values[std::string(option.axis)] = option.value(options);
  return values;
}

nlohmann::ordered_json record_json_of(const device::StepError& error) {
  return {{"loss", error.loss},
          {"update", error.update},
          {"scale", error.scale},
          {"one", error.one},
          {"one_in_fp32", error.one_in_fp32}};
}

nlohmann::ordered_json record_json_of(const std::vector<device::RungResult>& rungs) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const device::RungResult& rung : rungs) {
    nlohmann::ordered_json json = {
        {"axis", rung.axis}, {"value", rung.value}, {"verdict", rung.verdict}};
    if (rung.imgs_per_s > 0) {
      json["imgs_per_s"] = rung.imgs_per_s;
      json["ratio"] = rung.ratio;
      json["ratio_ci95"] = {rung.low, rung.high};
      json["error"] = record_json_of(rung.error);
    }
    if (!rung.reason.empty()) json["reason"] = rung.reason;
    all.push_back(std::move(json));
  }
  return all;
}

nlohmann::ordered_json record_json_of(const std::vector<device::BatchRate>& batches) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const device::BatchRate& rate : batches) {
    nlohmann::ordered_json json = {{"batch_size", rate.batch}};
    if (rate.reason.empty()) {
      json["imgs_per_s"] = rate.imgs_per_s;
    } else {
      json["reason"] = rate.reason;
    }
    all.push_back(std::move(json));
  }
  return all;
}

}  // namespace feedrate::run
