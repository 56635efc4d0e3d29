#include <cstdio>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/manual.h"
#include "machine/environment.h"

namespace feedrate::cli {

CommandEntry add_completion(CLI::App& program) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* app = program.add_subcommand(
      "completion",
      "What makes a shell complete this program's words: source <(feedrate completion bash)");
  app->add_option("SHELL", *shell, "bash or zsh")
      ->required()
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(kShells), std::end(kShells))));
  const CLI::App* all = &program;
  return {app, [=] {
            const std::string script =
                *shell == "bash" ? bash_completion_of(*all) : zsh_completion_of(*all);
            std::fputs(script.c_str(), stdout);
            return 0;
          }};
}

CommandEntry add_manual(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("manual", "All of this as a man page: feedrate manual | man -l -");
  const CLI::App* all = &program;
  return {app, [=] {
            std::fputs(manual_of(*all, std::string(machine::version())).c_str(), stdout);
            return 0;
          }};
}

}  // namespace feedrate::cli
