#include "run/qualifier.h"

#include <exception>
#include <optional>
#include <set>
#include <utility>

#include "device/step_option.h"
#include "measure/clock.h"

namespace feedrate::run {
namespace {

// Everything that a qualification hangs on.
nlohmann::json qualification_key(const device::AcceleratorKind& kind,
                                 const plan::CellSettings& settings, const RunOptions& options) {
  nlohmann::json key = {
      {"device", kind.identity ? kind.identity(settings.device_argument) : settings.device},
      {"build", options.build ? options.build() : ""},
      {"model", settings.model},
      {"precision", settings.precision},
      {"batch_size", settings.batch_size},
      {"input_size", codec::to_string(settings.input_size)},
      {"typed", settings.step},
      {"open", settings.open_step}};
  if (options.outputs != device::kUsualOutputs) key["outputs"] = options.outputs;
  return key;
}

// The axes that concern a CPU, too.
std::set<std::string> open_without_typing(const plan::CellSettings& settings) {
  std::set<std::string> open = {"memory-format", "batch-norm", "optimizer", "stem"};
  if (settings.precision == "fp16" || settings.precision == "bf16") open.insert("master-weights");
  return open;
}

}  // namespace

bool Qualifier::qualify(CellResult& result, const Place& place) {
  plan::CellSettings settings = result.settings;
  // The trials have one rank: nobody knows how a graph does that holds an exchange of gradients.
  if (settings.gpus > 1)
    std::erase_if(settings.open_step, [](const std::string& axis) {
      return axis == "cuda-graph" || axis == "graph-memsets";
    });
  // Who has typed all ways of making a step wants no trials.
  if (settings.open_step == std::set<std::string>{"precision"}) settings.open_step.clear();
  const device::AcceleratorKind& kind = place.registry.find(settings.device);
  if (!kind.trials || (settings.open_step.empty() && !place.options.qualify)) return true;
  const bool only_shows = settings.open_step.empty();
  if (only_shows) settings.open_step = open_without_typing(settings);
  const nlohmann::json holds_for = qualification_key(kind, settings, place.options);
  const std::lock_guard lock(mutex_);
  if (place.stop.stop_requested()) return false;  // while another thread was finding out
  Found& found = found_[holds_for.dump()];
  if (!found && !place.options.qualify) {
    found = kept_before(holds_for);
    if (found && hooks_.found_before) hooks_.found_before(settings, *found);
  }
  if (!found) {
    const std::int64_t began_ns = measure::now_ns();
    found = find_out(result, settings, holds_for, place);
    if (!found) return false;
    result.qualify_ns = measure::now_ns() - began_ns;
    if (only_shows) note("shown only: every way of the step is typed or fixed");
  }
  if (only_shows) return true;
  device::copy_step_options(settings.open_step, found->chosen, result.settings.step);
  if (settings.open_step.contains("precision") && !found->chosen.trial_precision.empty())
    result.settings.precision = found->chosen.trial_precision;
  result.qualified = found;
  return true;
}

// Null: none.
Qualifier::Found Qualifier::kept_before(const nlohmann::json& holds_for) const {
  std::string problem;
  auto before = KeptQualifications().find(holds_for, problem);
  note(problem);
  return before ? std::make_shared<const device::Qualification>(*std::move(before)) : nullptr;
}

// Null: stopped.
Qualifier::Found Qualifier::find_out(const CellResult& result, const plan::CellSettings& settings,
                                     const nlohmann::json& holds_for, const Place& place) const {
  const bool has_identity = place.registry.find(settings.device).identity != nullptr;
  if (hooks_.begun) hooks_.begun(settings);
  const auto event = qualify_apart(
      {.asks_rates = place.options.qualify},
      [&](const QualifyOrder& order, const QualifySink& sink) {
        return place.ranks.qualify(result.cell, settings, place.options, order, sink, place.stop);
      },
      [&](const QualifyEvent& one) {
        // Whoever ends this during the rates over batch sizes has at least the rest.
        if (one.qualified && has_identity) keep(holds_for, *one.qualified);
        if (hooks_.told) hooks_.told(one);
      });
  if (!event) return nullptr;
  if (hooks_.found) hooks_.found(settings, *event->qualified);
  return std::make_shared<const device::Qualification>(*event->qualified);
}

void Qualifier::keep(const nlohmann::json& holds_for, const device::Qualification& found) const {
  try {
    KeptQualifications().keep(holds_for, found);
  } catch (const std::exception& error) {  // it is found out again next time
    note(error.what());
  }
}

void Qualifier::note(const std::string& text) const {
  if (!text.empty() && hooks_.note) hooks_.note(text);
}

std::string Qualifier::largest_batch(const CellResult& result, const Place& place) const {
  const device::AcceleratorKind& kind = place.registry.find(result.settings.device);
  if (!kind.identity || result.error.find(device::kOutOfMemory) == std::string::npos) return "";
  const auto attempt = [&](const QualifyOrder& order, const QualifySink& sink) {
    return place.ranks.qualify(result.cell, result.settings, place.options, order, sink,
                               place.stop);
  };
  try {
    const auto event = qualify_apart({.asks_fit = true}, attempt, {});
    if (event && event->fits.value_or(0) > 0)
      return "; --batch-size " + std::to_string(*event->fits) + " fits";
  } catch (const std::exception&) {  // the first error is the one to tell
  }
  return "";
}

}  // namespace feedrate::run
