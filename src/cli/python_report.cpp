#include "cli/python_report.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/supervised_process.h"
#include "base/text.h"

namespace feedrate::cli {

namespace fs = std::filesystem;

fs::path report_package() {
  const fs::path program = fs::read_symlink("/proc/self/exe").parent_path();
  // A bundle has it beside bin/; a build tree is build/PRESET/bin below the sources.
  for (const char* place : {"../share/feedrate/report", "../scripts/report",
                            "../../../scripts/report", "../../scripts/report"}) {
    const fs::path package = (program / place).lexically_normal();
    if (fs::exists(package / "__main__.py")) return package;
  }
  throw Error("feedrate report", "its Python package was not found beside the program",
              "run `python3 scripts/report DIR` from the sources");
}

std::string report_python() {
  if (const std::string chosen = environment_variable("FEEDRATE_PYTHON"); !chosen.empty())
    return chosen;
  fs::path cache = environment_variable("FEEDRATE_CACHE");
  if (cache.empty()) cache = cache_folder();
  const fs::path venv = cache / "report-venv" / "bin" / "python3";
  return fs::exists(venv) ? venv.string() : "python3";
}

void become_report(const std::vector<std::string>& more) {
  const std::string python = report_python();
  std::vector<std::string> words = {python, report_package().string()};
  words.insert(words.end(), more.begin(), more.end());
  const std::vector<char*> arguments = exec_arguments(words);
  std::fflush(nullptr);
  // Held back until the report's own handler is there (scripts/report/interrupts.py): Python's
  // answer to Ctrl-C is a traceback.
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  pthread_sigmask(SIG_BLOCK, &interrupt, nullptr);
  execvp(python.c_str(), arguments.data());
  throw Error(python, std::strerror(errno),
              "run scripts/bootstrap, or set FEEDRATE_PYTHON to a Python with matplotlib");
}

}  // namespace feedrate::cli
