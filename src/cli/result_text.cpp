#include "cli/result_text.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "cli/progress.h"

namespace feedrate {
namespace {

using Json = nlohmann::ordered_json;

[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  return text;
}

double number(const Json& json) { return json.is_number() ? json.get<double>() : 0; }

std::string rate_text(const Json& record) {
  std::string text = thousands(number(record["imgs_per_s"])) + " img/s";
  if (const Json& ci = record["ci95"]; ci.is_array()) {
    text += " (95 % within this run: " + thousands(ci[0]) + "-" + thousands(ci[1]) + ")";
  }
  return text;
}

std::string ceiling_text(const Json& record) {
  if (record["cell"]["data"] == "synthetic") return "the ceiling";
  if (!record.contains("ceiling_imgs_per_s")) return "";
  const double ceiling = number(record["ceiling_imgs_per_s"]);
  return format("%.1f %% of the ceiling (%s img/s)", 100 * number(record["imgs_per_s"]) / ceiling,
                thousands(ceiling).c_str());
}

std::string stages_text(const Json& record) {
  std::string text;
  for (const Json& stage : record["stages"]) {
    const double per_image = 1e3 * number(stage["wall_s"]) / number(stage["items"]);
    text += format("%s%s %.3f", text.empty() ? "" : " · ", stage["name"].get<std::string>().c_str(), per_image);
  }
  return text;
}

// Of several: what each reaches, and who waits for whom.
std::string ranks_text(const Json& record) {
  const Json& ranks = record["ranks"];
  if (ranks.size() < 2) return "";
  double least = number(ranks[0]["sync_ms_mean"]), most = least;
  for (const Json& rank : ranks) {
    least = std::min(least, number(rank["sync_ms_mean"]));
    most = std::max(most, number(rank["sync_ms_mean"]));
  }
  std::string text = format("%s img/s each; %.3f to %.3f ms a step are waiting for other ranks or their gradients",
                            thousands(number(record["imgs_per_s"]) / static_cast<double>(ranks.size())).c_str(), least, most);
  if (const Json& straggler = record["straggler"]; straggler.is_object()) {
    text += format("; straggler: rank %d, the others wait %.3f ms for it", straggler["rank"].get<int>(), number(straggler["others_wait_ms"]));
  }
  if (const int workers = record["threads"]["loader"]; workers > 0) text += format("; %d workers in all", workers);
  return text;
}

}  // namespace

std::string setting_text(const Json& record) {
  const Json& cell = record["cell"];
  std::string device = cell["device"];
  if (record.contains("device")) device = record["device"]["name"];
  std::string text = cell["model"].get<std::string>() + format(", batch %d, ", cell["batch-size"].get<int>()) + device;
  if (cell["precision"].is_string()) text += ", " + cell["precision"].get<std::string>();
  return text;
}

std::string result_line(const Json& record, const std::string& label) {
  if (record["status"] != "ok") {
    const std::string reason = record["error"].is_string() ? record["error"].get<std::string>() : "";
    return label + ": " + record["status"].get<std::string>() + (reason.empty() ? "" : ": " + reason);
  }
  const std::string ceiling = ceiling_text(record);
  return label + ": " + thousands(number(record["imgs_per_s"])) + " img/s" + (ceiling.empty() ? "" : ", " + ceiling);
}

std::string result_text(const Json& record, const std::string& label) {
  if (record["status"] != "ok") return result_line(record, label) + "\n";
  std::string text = label + "  ·  " + setting_text(record) + "\n";
  const auto line = [&](const char* key, const std::string& value) {
    if (!value.empty()) text += format("  %-11s", key) + value + "\n";
  };
  line("throughput", rate_text(record));
  if (const std::string ceiling = ceiling_text(record); ceiling != "the ceiling") line("ceiling", ceiling);
  const Json& step = record["step_ms"];
  line("step", format("%.3f ms mean, %.3f median, %.3f p95, %.3f p99, %.3f max; %d steps in %.1f s", number(step["mean"]),
                      number(step["median"]), number(step["p95"]), number(step["p99"]), number(step["max"]),
                      record["steps"].get<int>(), number(record["window_s"])));
  line("waiting", format("the device waits %.1f %% of the time; the training thread %.3f ms a step",
                         100 * number(record["device_idle_fraction"]), number(record["data_wait_ms"]["mean"])));
  line("ranks", ranks_text(record));
  line("stages", stages_text(record).empty() ? "" : stages_text(record) + " ms per image and worker");
  if (record.contains("verdict") && record["cell"]["data"] != "synthetic") line("verdict", record["verdict"]);
  for (const Json& flag : record["flags"]) {
    line(flag["severity"].get<std::string>().c_str(),
         flag["name"].get<std::string>() + ": " + flag["reason"].get<std::string>() + "; " + flag["remedy"].get<std::string>());
  }
  return text;
}

}  // namespace feedrate
