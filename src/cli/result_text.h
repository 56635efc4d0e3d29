#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace feedrate {

// A finished record in a few lines for a person: throughput with its interval, share of the ceiling,
// step and waiting times, stages, the verdict, the flags.
std::string result_text(const nlohmann::ordered_json& record, const std::string& label);

// The same in one line, for a sweep's log.
std::string result_line(const nlohmann::ordered_json& record, const std::string& label);

// "resnet50, batch 64, cpu, fp32"
std::string setting_text(const nlohmann::ordered_json& record);

}  // namespace feedrate
