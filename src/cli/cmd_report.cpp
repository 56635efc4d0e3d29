// What the Python package does: figures and tables, comparisons, checks.
#include <cstdio>
#include <fstream>
#include <optional>

#include "cli/commands.h"
#include "cli/python_report.h"
#include "experiment/cell.h"
#include "measure/error.h"

namespace feedrate {
namespace {

// Everything behind the name goes to the Python side as it was typed, --help as well.
CommandEntry add_passed_on(CLI::App& program, const std::string& name, const std::string& help, std::function<void(const std::vector<std::string>&)> carry_out) {
  CLI::App* app = program.add_subcommand(name, help);
  app->set_help_flag("");
  app->prefix_command();
  return {app, [=]() -> int {
            carry_out(app->remaining());
            return 0;
          }};
}

std::filesystem::path ledger_of(const std::filesystem::path& folder) {
  return std::filesystem::is_regular_file(folder) ? folder : folder / "ledger.jsonl";
}

// Before Python is asked: where the first word is a folder without a ledger.
void need_ledger(const std::vector<std::string>& words) {
  if (words.empty() || words.front().starts_with("-") || std::filesystem::exists(ledger_of(words.front()))) return;
  throw Error(words.front(), "holds no ledger.jsonl", "measure first: `feedrate sweep -o " + words.front() + "`");
}

std::vector<std::string> with(const char* command, std::vector<std::string> words) {
  words.insert(words.begin(), command);
  return words;
}

std::string id_of_axes(const nlohmann::ordered_json& axes) {
  Cell cell;
  for (const auto& [axis, value] : axes.items()) {
    if (!value.is_null()) cell.set(axis, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return cell.id();
}

// Records whose cell_id is not that of their axes, a line of stdout each. The Python makes the other checks, those of lines
// that are no record among them.
std::size_t wrong_cell_ids(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::size_t wrong = 0, number = 1;
  for (std::string line; std::getline(file, line); ++number) {
    const auto record = nlohmann::ordered_json::parse(line, nullptr, false);
    if (!record.is_object() || !record.contains("cell") || !record["cell"].is_object() || !record.contains("cell_id")) continue;
    std::string problem;
    try {
      const std::string id = id_of_axes(record["cell"]);
      if (record["cell_id"] == id) continue;
      problem = "is not that of its axes, " + id;
    } catch (const Error& error) {
      problem = std::string("cannot be told: ") + error.what();
    }
    std::printf("line %zu: cell_id %s %s\n", number, record["cell_id"].dump().c_str(), problem.c_str());
    ++wrong;
  }
  std::fflush(stdout);
  return wrong;
}

// The word that names the ledger, wherever it stands among the options.
std::optional<std::filesystem::path> named_ledger(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool is_value = i > 0 && (words[i - 1] == "-o" || words[i - 1] == "--output");
    if (!is_value && !words[i].starts_with("-") && std::filesystem::exists(ledger_of(words[i]))) return ledger_of(words[i]);
  }
  return std::nullopt;
}

}  // namespace

CommandEntry add_report(CLI::App& program) {
  return add_passed_on(program, "report", "Draw the figures and tables of a ledger", [](const std::vector<std::string>& words) {
    need_ledger(words);
    become_report(with("report", words));
  });
}

CommandEntry add_compare(CLI::App& program) {
  return add_passed_on(program, "compare", "Hold ledgers against a first one, cell by cell: faster, slower, or not to be told",
                       [](const std::vector<std::string>& words) { become_report(with("compare", words)); });
}

CommandEntry add_validate(CLI::App& program) {
  return add_passed_on(program, "validate", "Check every record of a ledger, and what was derived from it", [](const std::vector<std::string>& words) {
    need_ledger(words);
    auto all = with("check", words);
    if (const auto file = named_ledger(words)) all.push_back("--found=" + std::to_string(wrong_cell_ids(*file)));
    become_report(all);
  });
}

}  // namespace feedrate
