#include "ledger/check_records.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "device/emulated_device.h"
#include "device/registry.h"
#include "device/step_trace.h"
#include "judge/verdict.h"
#include "ledger/check_flags.h"
#include "ledger/ledger.h"
#include "ledger/plan_file.h"
#include "ledger/record_json.h"
#include "ledger/recorded_measurement.h"
#include "ledger/seal.h"
#include "machine/environment.h"
#include "plan/axes.h"
#include "plan/cell.h"
#include "plan/settings.h"

namespace feedrate::ledger {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestFinding = 300;

std::string short_text(const Json& value) {
  const std::string text = value.is_string()
                               ? value.get<std::string>()
                               : value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.substr(0, 120);
}

// Whether two values agree, numbers to the last digits that printing and reading may cost.
bool agree(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) {
    const double x = a.get<double>(), y = b.get<double>();
    return std::abs(x - y) <= 1e-9 * std::max(std::abs(x), std::abs(y));
  }
  if (a.type() != b.type() || a.size() != b.size()) return a == b;
  if (!a.is_structured()) return a == b;
  for (auto i = a.begin(), j = b.begin(); i != a.end(); ++i, ++j) {
    if ((a.is_object() && i.key() != j.key()) || !agree(*i, *j)) return false;
  }
  return true;
}

// Axes that concern every cell. Without them, the types' defaults would be derived from.
std::string axes_problem(const plan::Cell& cell) {
  for (const plan::Axis& axis : plan::axes()) {
    const bool always = axis.applies == nullptr && (axis.ceiling || axis.name == "data");
    if (always && !cell[axis.name]) return "cell lacks the axis " + std::string(axis.name);
  }
  return "";
}

// Of the axes that the record has, in their order: those of the program that wrote it.
std::string recorded_cell_id(const Json& cell) {
  std::vector<std::pair<std::string, std::string>> axes;
  for (const auto& [axis, value] : cell.items()) {
    if (value.is_null()) continue;
    axes.emplace_back(axis, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return plan::cell_id(axes);
}

std::string id_problem(const Json& record) {
  try {
    cell_from(record.at("cell"));
    const std::string id = recorded_cell_id(record.at("cell"));
    return record.at("cell_id") == id
               ? ""
               : "cell_id " + short_text(record.at("cell_id")) + " is not that of its axes, " + id;
  } catch (const Error& error) {
    return "cell_id " + short_text(record.at("cell_id")) + " cannot be derived: " + error.what();
  }
}

// What an emulated step costs beside the device's own time is what its axes say.
std::string emulation_problem(const Json& record, const plan::CellSettings& settings) {
  const Json& device = record.at("device");
  const auto differs = [&](const char* name, double value) {
    const auto stated = device.find(name);  // older records have none
    return stated != device.end() &&
           !(stated->is_number() && std::abs(stated->get<double>() - value) <= 1e-6);
  };
  const device::Emulation& emulation = settings.emulation;
  if (differs("host_cpu_ms", std::max(0.0, emulation.host_cpu_ms)))
    return "device.host_cpu_ms is not what the axis host-cpu-ms says";
  if (differs("all_reduce_ms", settings.gpus > 1 ? emulation.all_reduce_ms : 0))
    return "device.all_reduce_ms is not what the axis all-reduce-ms says";
  return "";
}

// A published or given rate decides how long an emulated step is.
std::string step_problem(const Json& record, const plan::CellSettings& settings) {
  const std::string name = record.at("cell").at("device");
  const auto [device, argument] = device::split_device(name);
  if (device != "emulated" || !record.contains("device")) return "";
  if (device::is_trace(argument)) return "";  // its file is another machine's
  const std::string host = emulation_problem(record, settings);
  if (!host.empty()) return host;
  const double rate = device::emulated_device(argument, settings.step_spec(0)).imgs_per_s;
  const double step_ms = std::isinf(rate) ? 0 : 1e3 * settings.batch_size / rate;
  const Json& stated = record.at("device").at("step_ms");
  if (stated.is_number() && std::abs(stated.get<double>() - step_ms) <= 1e-6 * step_ms + 1e-6)
    return "";
  return "device.step_ms is " + short_text(stated) + ", the device's rate makes it " +
         Json(step_ms).dump();
}

// Which data a cell reads follows from its axes.
std::string variant_problem(const Json& record, const plan::CellSettings& settings) {
  const Json& dataset = record.at("dataset");
  if (dataset.is_null()) return "";
  const std::string variant = settings.variant();
  return dataset.at("variant") == variant
             ? ""
             : "dataset.variant is " + short_text(dataset.at("variant")) + ", the cell reads " +
                   variant;
}

bool is_sealed(const Json& record) {
  const Json& schema = record.at("schema");
  return schema == kResultSchema || schema == kFirstSealed;
}

bool is_of_this_version(const Json& record) {
  const Json& environment = record.at("environment");
  return environment.is_object() && environment.contains("feedrate_version") &&
         environment.at("feedrate_version") == machine::version();
}

std::vector<std::string> verdict_problems(const Json& record, const plan::CellSettings& settings) {
  auto ceiling = ceiling_from(record);
  if (ceiling && !ceiling->unfit.empty()) ceiling.reset();
  const judge::Verdict again = judge::verdict_of(settings, measurement_from(record), ceiling);
  std::vector<std::string> found;
  if (!agree(record.at("capacities"), capacities_json(again.capacities)))
    found.push_back("capacities do not follow from its stages, arrivals, steps and rate");
  if (record.at("verdict") != again.sentence) {
    found.push_back("verdict is \"" + short_text(record.at("verdict")) + "\", its numbers give \"" +
                    again.sentence + "\"");
  }
  return found;
}

std::vector<std::string> problems(const Json& record) {
  std::vector<std::string> found;
  const auto add = [&](const std::string& words) {
    if (!words.empty()) found.push_back(words);
  };
  add(id_problem(record));
  if (!record.contains("status") || record.at("status") != "ok") return found;
  try {
    const plan::Cell cell = cell_from(record.at("cell"));
    // An older version may not have had the axis.
    const std::string lacking = is_of_this_version(record) ? axes_problem(cell) : "";
    if (!lacking.empty()) {
      add(lacking);
      return found;
    }
    const plan::CellSettings settings = plan::settings_of(cell);
    add(variant_problem(record, settings));
    if (is_sealed(record)) {
      for (const std::string& words : flag_problems(record, settings)) add(words);
    }
    if (!is_of_this_version(record))
      return found;  // another may know other rates, and words its verdicts otherwise
    add(step_problem(record, settings));
    if (is_sealed(record)) {  // older ones word it otherwise, and say less
      for (const std::string& words : verdict_problems(record, settings)) add(words);
    }
  } catch (const std::exception& error) {
    add(std::string("what follows from its fields cannot be derived: ") + error.what());
  }
  return found;
}

bool has_cell(const Json& record) {
  return record.is_object() && record.contains("schema") && record.contains("cell") &&
         record.at("cell").is_object() && record.contains("cell_id");
}

}  // namespace

CheckedRecords check_records(const std::filesystem::path& ledger) {
  std::ifstream file(ledger, std::ios::binary);
  CheckedRecords checked;
  std::string previous;
  std::size_t number = 1, records = 0;
  for (std::string line; std::getline(file, line); ++number) {
    const Json record = nests_too_deep(line) ? Json() : Json::parse(line, nullptr, false);
    if (!has_cell(record)) continue;
    const bool sealed = is_sealed(record);
    checked.unsealed += sealed ? 0 : 1;
    if (const std::string words = sealed ? seal_problem(line, previous) : ""; !words.empty())
      checked.findings.push_back({number, words});
    for (std::string& words : problems(record))
      checked.findings.push_back({number, printable(words, kLongestFinding)});
    previous = line_xxh3(line);
    ++records;
  }
  if (const auto end = read_end(ledger.parent_path()); end && records < end->records) {
    checked.findings.push_back(
        {number, "here it ends, but the last sweep ended with " + std::to_string(end->records) +
                     " records: " + std::to_string(end->records - records) + " are gone"});
  } else if (end && records == end->records && previous != end->last_xxh3) {
    checked.findings.push_back({number - 1,
                                "it is not the record that the last sweep ended with: it was "
                                "changed since, or lines were moved"});
  }
  return checked;
}

}  // namespace feedrate::ledger
