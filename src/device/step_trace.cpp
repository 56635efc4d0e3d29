#include "device/step_trace.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <map>
#include <system_error>

#include "base/error.h"
#include "base/file_remedy.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "base/xxh3.h"

namespace feedrate::device {
namespace {

constexpr std::string_view kFirstLine = "feedrate.steps/2";
// Says not how many steps follow: a part of such a file looks like a whole one.
constexpr std::string_view kOldFirstLine = "feedrate.steps/1";
constexpr double kLongestStepMs = 3.6e6;  // an hour
constexpr double kMostSteps = 1e7;

// Only a trace that is missing has to be recorded.
[[noreturn]] void refuse_file(const std::filesystem::path& file, int error) {
  refuse_reading(file.string(), "cannot be read: " + std::generic_category().message(error), error,
                 error == ENOENT ? "record it: `feedrate run --device cuda --record-steps FILE`"
                                 : "name a file that --record-steps wrote");
}

class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) : path_(path), file_(path) {
    if (!file_) refuse_file(path_, errno);
    const std::string first = next();
    if (first == kOldFirstLine)
      refuse("is of an older version, in which a missing end is not seen");
    if (first != kFirstLine) refuse("is no file of recorded steps");
  }

  StepTrace read() {
    std::map<std::string, std::string, std::less<>> head;
    for (std::string line = next(); line != "step_ms"; line = next()) {
      const std::size_t tab = line.find('\t');
      if (tab == std::string::npos) refuse("has no step_ms");
      head[line.substr(0, tab)] = line.substr(tab + 1);
    }
    StepTrace trace{.device = head["device"],
                    .model = head["model"],
                    .precision = head["precision"],
                    .batch_size = static_cast<int>(number(head["batch_size"], 1, 1 << 20)),
                    .input_size = {},
                    .host_cpu_ms = number(head["host_cpu_ms"], 0, kLongestStepMs),
                    .step_ms = {}};
    try {
      trace.input_size = codec::pixel_size_from(head["input_size"]);
    } catch (const UsageError&) {
      refuse("has no input_size");
    }
    read_steps(static_cast<std::size_t>(number(head["steps"], 1, kMostSteps)), trace.step_ms);
    return trace;
  }

 private:
  void read_steps(std::size_t count, std::vector<double>& step_ms) {
    for (std::size_t i = 0; i < count; ++i) step_ms.push_back(number(next(), 1e-6, kLongestStepMs));
    const bool is_end = file_.peek() == std::ifstream::traits_type::eof();
    if (file_.bad()) refuse_file(path_, errno);
    if (is_end) return;
    ++line_;
    refuse("goes on after the last of its " + std::to_string(count) + " steps");
  }
  // A line without its end is the rest of one: 12.3 may have been 12.3456.
  std::string next() {
    std::string line;
    ++line_;
    if (std::getline(file_, line) && !file_.eof()) return line;
    if (file_.bad()) refuse_file(path_, errno);
    refuse("ends too early, a part of the recording is missing");
  }
  double number(const std::string& text, double least, double most) {
    const auto value = number_from<double>(text);
    if (!value || !(*value >= least) || !(*value <= most)) {
      refuse("has \"" + text.substr(0, 40) + "\" where a number from " + shortest(least) + " to " +
             shortest(most) + " is due");
    }
    return *value;
  }
  [[noreturn]] void refuse(const std::string& reason) const {
    throw Error(path_.string() + (line_ > 0 ? ", line " + std::to_string(line_) : ""), reason,
                "record it anew: `feedrate run --device cuda --record-steps FILE`");
  }
  static std::string shortest(double value) {
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
  }

  const std::filesystem::path path_;
  std::ifstream file_;
  int line_ = 0;
};

constexpr std::string_view kTrace = "trace=";
constexpr std::size_t kDigits = 16;  // of a hash

// Where "#XXH3" begins; the text's length where there is none.
std::size_t end_of_file_name(std::string_view text) {
  if (text.size() < kDigits + 2) return text.size();
  const std::size_t mark = text.size() - kDigits - 1;
  const bool is_hash =
      text[mark] == '#' && text.find_first_not_of("0123456789abcdef", mark + 1) == text.npos;
  return is_hash ? mark : text.size();
}

std::string xxh3_of_file(const std::string& file) {
  try {
    return to_hex(hash_file(file).xxh3);
  } catch (const std::system_error& error) {
    refuse_file(file, error.code().value());
  }
}

}  // namespace

bool is_trace(std::string_view argument) { return argument.starts_with(kTrace); }

bool replays_steps(std::string_view device) {
  constexpr std::string_view kEmulated = "emulated:";
  return device.starts_with(kEmulated) && is_trace(device.substr(kEmulated.size()));
}

TraceName trace_name_from(std::string_view argument) {
  const std::string_view text = argument.substr(kTrace.size());
  const std::size_t end = end_of_file_name(text);
  return {.file = std::string(text.substr(0, end)),
          .xxh3 = std::string(text.substr(std::min(text.size(), end + 1)))};
}

std::string with_content(std::string_view argument) {
  const TraceName name = trace_name_from(argument);
  return std::string(argument) + (name.xxh3.empty() ? "#" + xxh3_of_file(name.file) : "");
}

StepTrace read_step_trace(const TraceName& name) {
  if (!name.xxh3.empty() && xxh3_of_file(name.file) != name.xxh3)
    throw Error(name.file, "has changed since it was named", "leave it alone while it is replayed");
  return read_step_trace(std::filesystem::path(name.file));
}

StepTrace read_step_trace(const std::filesystem::path& file) { return Reader(file).read(); }

void write_step_trace(const std::filesystem::path& file, const StepTrace& trace) {
  std::string text(kFirstLine);
  const auto add = [&](const char* name, const std::string& value) {
    text.append("\n").append(name).append("\t").append(value);
  };
  add("device", trace.device);
  add("model", trace.model);
  add("precision", trace.precision);
  add("batch_size", std::to_string(trace.batch_size));
  add("input_size", codec::to_string(trace.input_size));
  add("host_cpu_ms", format("%.4f", trace.host_cpu_ms));
  add("steps", std::to_string(trace.step_ms.size()));
  text += "\nstep_ms\n";
  for (const double ms : trace.step_ms) text += format("%.4f\n", ms);
  write_whole_file(file, text, /*durable=*/true);
}

}  // namespace feedrate::device
