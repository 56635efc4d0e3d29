#include "cli/program.h"

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/closest.h"
#include "base/error.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "machine/environment.h"
#include "text/live_watcher.h"

namespace feedrate::cli {

// Of the first word that begins as an option does and is none of the subcommand's: what it may have
// been meant to be. Empty: nothing is near.
static std::string what_an_option_meant(const CLI::App& command,
                                        const std::vector<char*>& arguments) {
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    const std::string typed = arguments[i], word = typed.substr(0, typed.find('='));
    if (word == "--") break;
    if (word.starts_with("--") && !command.get_option_no_throw(word))
      return option_meant(word.substr(2), command, "--");
  }
  return "";
}

// What the parser says, but extra words in the order in which they were typed.
static std::string reason_of(const CLI::ParseError& error, const CLI::App* command) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) return error.what();
  const std::vector<std::string> extra =
      command == nullptr ? std::vector<std::string>{} : command->remaining();
  if (extra.size() < 2) return error.what();
  std::string text = "The following arguments were not expected:";
  for (const std::string& word : extra) text += " " + word;
  return text;
}

// `feedrate help run` is `feedrate run --help`.
static void put_help_last(std::vector<char*>& arguments) {
  static char kHelp[] = "--help";
  if (arguments.size() < 2 || std::string_view(arguments[1]) != "help") return;
  arguments.erase(arguments.begin() + 1);
  arguments.push_back(kHelp);
}

int run_program(int argc, char** argv) {
  // One that this program has started: "supervised RANK RANKS HOST COMMAND ...".
  const bool is_supervised = argc > 4 && argv[1] == session::kSupervised;
  if (is_supervised) argc -= 4, argv += 4;
  std::vector<char*> arguments(argv, argv + argc);
  put_help_last(arguments);
  argc = static_cast<int>(arguments.size()), argv = arguments.data();
  CLI::App program{
      "feedrate trains a ResNet on synthetic batches that already lie on the device (the ceiling), "
      "then on\n"
      "stored data, and says how fast each is and which stage costs the difference.",
      "feedrate"};
  program.set_version_flag("--version", std::string(machine::version()) + " (" +
                                            std::string(machine::git_commit()) + ")");
  program.require_subcommand(1);
  program.footer(
      "Start: feedrate run; then feedrate gen data/ && feedrate run --data jpeg --dataset data/\n"
      "Exit codes: 0 all that was asked is done, flagged or not; 1 something asked has no answer; "
      "2 a mistake in\n"
      "what was typed; 3 `compare`: something is slower or lost; 129, 130, 143 interrupted");
  const std::vector<CommandEntry> commands = {
      add_gen(program),      add_run(program),       add_sweep(program),      add_diagnose(program),
      add_capacity(program), add_jobs(program),      add_report(program),     add_compare(program),
      add_validate(program), add_reproduce(program), add_verify(program),     add_rank(program),
      add_list(program),     add_doctor(program),    add_completion(program), add_manual(program)};
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const auto known = std::ranges::find_if(commands, [&](const CommandEntry& command) {
      return argc > 1 && command.app->get_name() == argv[1];
    });
    if (argc > 1 && argv[1][0] != '-' && known == commands.end()) {
      std::vector<std::string> names;
      for (const CommandEntry& command : commands)
        if (!command.app->get_group().empty()) names.push_back(command.app->get_name());
      const std::string meant = did_you_mean(argv[1], names);
      throw UsageError(argv[1], "is no subcommand",
                       meant.empty() ? "`feedrate --help` lists them" : meant);
    }
    std::ostringstream help;
    if (error.get_exit_code() == 0) {
      program.exit(error, help, help);
      std::fputs(help.str().c_str(), stdout);
      return 0;
    }
    const std::string meant =
        known == commands.end() ? "" : what_an_option_meant(*known->app, arguments);
    throw UsageError(
        "command line", reason_of(error, known == commands.end() ? nullptr : known->app),
        meant.empty() ? "see `feedrate --help`, or --help after the subcommand" : meant);
  }
  for (const CommandEntry& command : commands) {
    if (!command.app->parsed()) continue;
    if (!command.supervised) return command.run();
    if (is_supervised) return session::serve_supervised(*command.supervised);
    std::vector<std::string> words{std::string(session::kSupervised)};
    words.insert(words.end(), argv + 1, argv + argc);
    text::LiveWatcher watcher;
    return session::run_supervised(words, *command.supervised, watcher);
  }
  return 2;
}

}  // namespace feedrate::cli
