#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "cli/commands.h"
#include "cli/python_report.h"
#include "measure/error.h"

namespace feedrate {
namespace {

// The drawing is matplotlib's: this process becomes the Python that does it, so that its exit code,
// signals and output are the report's own.
[[noreturn]] void report(const std::string& folder, const std::vector<std::string>& more) {
  if (!std::filesystem::exists(std::filesystem::path(folder) / "ledger.jsonl")) {
    throw Error(folder, "holds no ledger.jsonl", "measure first: `feedrate sweep -o " + folder + "`");
  }
  const std::string python = report_python();
  std::vector<std::string> words = {python, report_package().string(), folder};
  words.insert(words.end(), more.begin(), more.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::fflush(nullptr);
  execvp(python.c_str(), arguments.data());
  throw Error(python, std::strerror(errno), "run scripts/bootstrap, or set FEEDRATE_PYTHON to a Python with matplotlib");
}

}  // namespace

CommandEntry add_report(CLI::App& program) {
  const auto folder = std::make_shared<std::string>();
  CLI::App* app = program.add_subcommand("report", "Draw the figures and tables of a ledger (options of the drawing may follow)");
  app->add_option("DIR", *folder, "folder of the ledger; the report goes to DIR/report/")->required();
  app->allow_extras();
  return {app, [=]() -> int { report(*folder, app->remaining()); }};
}

}  // namespace feedrate
