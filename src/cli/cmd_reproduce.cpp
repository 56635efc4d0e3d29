#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "base/supervised_process.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "cli/commands.h"
#include "ledger/ledger.h"
#include "ledger/reproduction.h"
#include "machine/environment.h"

namespace feedrate::cli {
namespace {

struct ReproduceCommand {
  std::string folder, dataset, output = "results/again";
  bool run = false;
};

void print(const ledger::Reproduction& reproduction, const std::string& output) {
  for (const std::string& note : reproduction.notes) std::printf("# note: %s\n", note.c_str());
  for (const ledger::Arguments& words : reproduction.datasets)
    std::printf("%s\n", ledger::shell_line(words).c_str());
  for (std::size_t i = 0; i < reproduction.runs.size(); ++i) {
    if (!reproduction.configs[i].empty()) {
      const std::string config = output + "/config-" + std::to_string(i) + ".toml";
      std::printf("mkdir -p %s && cat > %s <<'END_OF_CONFIG'\n%s\nEND_OF_CONFIG\n",
                  shell_word(output).c_str(), shell_word(config).c_str(),
                  reproduction.configs[i].c_str());
    }
    std::printf("%s\n", ledger::shell_line(reproduction.runs[i]).c_str());
  }
}

// This program once more; it gets signals of the terminal itself. Returns its exit code.
int run_command(ledger::Arguments words) {
  std::fprintf(stderr, "%s\n", ledger::shell_line(words).c_str());
  words.insert(words.begin(), "feedrate");
  const std::vector<char*> arguments = exec_arguments(words);
  SupervisedProcess program([&] {
    execv("/proc/self/exe", arguments.data());
    std::fprintf(stderr, "feedrate: feedrate: %s\n", std::strerror(errno));
    return 1;
  });
  if (const int problem = program.start_error(); problem != 0)
    throw Error("feedrate", std::strerror(problem));
  return program.wait();
}

int run_all(const ledger::Reproduction& reproduction, const std::string& output) {
  for (const ledger::Arguments& words : reproduction.datasets) {
    if (const int code = run_command(words); code != 0) return code;
  }
  for (const ledger::MeasuredData& data : reproduction.data)
    if (const std::string note = ledger::check_same(data); !note.empty())
      std::fprintf(stderr, "feedrate: note: %s\n", note.c_str());
  for (std::size_t i = 0; i < reproduction.runs.size(); ++i) {
    if (!reproduction.configs[i].empty()) {
      make_folder(output, "choose another folder: -o DIR");
      write_whole_file(output + "/config-" + std::to_string(i) + ".toml", reproduction.configs[i],
                       /*durable=*/false);
    }
    if (const int code = run_command(reproduction.runs[i]); code != 0) return code;
  }
  return 0;
}

int reproduce(const ReproduceCommand& command) {
  const ledger::LedgerText ledger =
      ledger::read_ledger(std::filesystem::path(command.folder) / "ledger.jsonl");
  if (ledger.records.empty())
    throw Error(command.folder, "holds no record", "measure first: `feedrate sweep -o DIR`");
  ledger::Reproduction reproduction =
      ledger::reproduction_of(ledger.records, command.dataset, command.output);
  const auto& then = ledger.records.front()["environment"];
  if (const std::string hash = then.value("binary_xxh3", ""); hash != machine::binary_hash()) {
    reproduction.notes.push_back(
        "it was made by another program: feedrate " + then.value("feedrate_version", "?") +
        ", commit " + then.value("git_commit", "?") + "; this is " +
        std::string(machine::version()) + ", commit " + std::string(machine::git_commit()));
  }
  if (!command.run) {
    print(reproduction, command.output);
    return 0;
  }
  for (const std::string& note : reproduction.notes)
    std::fprintf(stderr, "feedrate: note: %s\n", note.c_str());
  return run_all(reproduction, command.output);
}

}  // namespace

CommandEntry add_reproduce(CLI::App& program) {
  const auto command = std::make_shared<ReproduceCommand>();
  CLI::App* app = program.add_subcommand(
      "reproduce", "The commands that make a ledger again: its datasets and its sweeps");
  app->add_option("DIR", command->folder, "folder of the ledger")->required();
  app->add_option("-o,--output", command->output, "folder of the new ledger")
      ->type_name("DIR")
      ->capture_default_str();
  app->add_option("--dataset", command->dataset, "folder of the dataset; else that of the records")
      ->type_name("DIR");
  app->add_flag("--run", command->run, "carry them out, instead of printing them");
  return {app, [=] { return reproduce(*command); }};
}

}  // namespace feedrate::cli
