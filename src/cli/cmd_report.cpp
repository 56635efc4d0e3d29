// What the Python package does: figures and tables, comparisons, checks.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <ranges>
#include <set>
#include <string_view>
#include <system_error>

#include "base/closest.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/python_report.h"
#include "codec/codec.h"
#include "ledger/check_records.h"
#include "storage/dataset.h"
#include "storage/image_folder.h"
#include "storage/variant_name.h"

namespace feedrate::cli {
namespace {

// Everything behind the name goes to the Python side as it was typed, --help as well.
CommandEntry add_passed_on(CLI::App& program, const std::string& name, const std::string& help,
                           std::function<void(const std::vector<std::string>&)> run_python) {
  CLI::App* app = program.add_subcommand(name, help);
  app->set_help_flag("");
  app->prefix_command();
  return {app, [=]() -> int {
            run_python(app->remaining());
            return 0;
          }};
}

std::filesystem::path ledger_of(const std::filesystem::path& folder) {
  return std::filesystem::is_regular_file(folder) ? folder : folder / "ledger.jsonl";
}

// A dataset that `gen` made, or a folder of pictures; a sweep's folder may hold figures.
bool holds_pictures(const std::filesystem::path& folder) {
  std::error_code error;
  if (std::filesystem::exists(folder / "dataset.json", error)) return true;
  if (std::filesystem::exists(folder / "axes.json", error)) return false;
  const auto holds_results = [&](const std::string& below) {
    std::error_code ignored;
    return std::filesystem::exists(folder / below / "ledger.jsonl", ignored) ||
           std::filesystem::exists(folder / below / "axes.json", ignored);
  };
  return !storage::find_picture(folder, codec::picture_endings(), holds_results).empty();
}

// Which of several sizes; the only one is what `run` takes anyway. A tensor's is the input's.
std::string size_words(const storage::VariantName& name, const std::vector<std::string>& variants) {
  if (!name.dtype.empty()) return " --tensor-dtype " + name.dtype + " --input-size " + name.size;
  const auto is_of_its_kind = [&](const std::string& variant) {
    const storage::VariantName other = storage::variant_name_from(variant);
    return other.format == name.format && other.container == name.container;
  };
  if (std::ranges::count_if(variants, is_of_its_kind) == 1) return "";
  return " --image-size " + name.size + (name.detail.empty() ? "" : " --detail " + name.detail);
}

// The options of `run` that load what is in it.
std::string words_to_load(const std::filesystem::path& folder) {
  const std::string dataset = " --dataset " + shell_word(folder.string());
  if (!std::filesystem::exists(folder / "dataset.json")) return dataset;
  const std::vector<std::string> variants = storage::dataset_variants(folder);
  if (variants.empty()) return dataset;
  // Plain files, where there are some.
  const auto in_no_container = [](const std::string& variant) {
    return storage::variant_name_from(variant).container.empty();
  };
  const auto plain = std::ranges::find_if(variants, in_no_container);
  const auto name = storage::variant_name_from(plain == variants.end() ? variants.front() : *plain);
  return " --data " + name.format +
         (name.container.empty() ? "" : " --container " + name.container) +
         size_words(name, variants) + dataset;
}

// Adds the folders in `root`/`below`, to so many levels, that hold a ledger: as paths from root.
void add_ledgers(const std::filesystem::path& root, const std::filesystem::path& below, int levels,
                 std::set<std::string>& paths) {
  std::error_code error, ignored;
  for (std::filesystem::directory_iterator entry(root / below, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!entry->is_directory(ignored)) continue;
    const std::filesystem::path path = below / entry->path().filename();
    if (std::filesystem::exists(entry->path() / "ledger.jsonl", ignored))
      paths.insert(path.string());
    if (levels > 1) add_ledgers(root, path, levels - 1, paths);
  }
}

// The folders in it that hold a ledger, as several.py of the report finds them: results/NAME and
// results/KIND/NAME.
std::set<std::string> ledgers_below(const std::filesystem::path& folder) {
  constexpr int kLevels = 2;
  std::set<std::string> paths;
  add_ledgers(folder, "", kLevels, paths);
  return paths;
}

// "a, b, c ..."
std::string first_of(const std::set<std::string>& names) {
  constexpr std::size_t kMost = 3;
  return listed(std::views::take(names, kMost)) + (names.size() > kMost ? " ..." : "");
}

[[noreturn]] void refuse_without_ledger(const std::string& folder) {
  const std::string quoted = shell_word(folder);
  if (!std::filesystem::exists(folder))
    if (const std::string meant = did_you_mean_folder(folder); !meant.empty())
      throw Error(folder, "no such folder", meant);
  if (holds_pictures(folder))
    throw Error(
        folder, "holds pictures, not results",
        "name the folder of a sweep (`sweep -o`), or measure these pictures: `feedrate run" +
            words_to_load(folder) + "`");
  if (const auto below = ledgers_below(folder); !below.empty())
    throw Error(folder, "holds no ledger.jsonl itself", "name a folder in it: " + first_of(below));
  throw Error(folder, "holds no ledger.jsonl", "measure first: `feedrate sweep -o " + quoted + "`");
}

// Fails before Python starts if the first word is a folder without a ledger. What may be a trace,
// Python looks at.
void need_ledger(const std::vector<std::string>& words) {
  if (words.empty() || words.front().starts_with("-") || words.front().ends_with(".json") ||
      std::filesystem::exists(ledger_of(words.front())))
    return;
  refuse_without_ledger(words.front());
}

// The same, but the folders in it may hold the ledgers.
void need_ledgers(const std::vector<std::string>& words) {
  if (words.empty() || ledgers_below(words.front()).empty()) need_ledger(words);
}

std::vector<std::string> with_command(const char* command, std::vector<std::string> words) {
  words.insert(words.begin(), command);
  return words;
}

// Prints what check_records() finds, a line of stdout each, and returns how many. Python makes all
// other checks, also of lines that are not records.
std::size_t print_findings(const std::filesystem::path& ledger) {
  const ledger::CheckedRecords checked = ledger::check_records(ledger);
  for (const auto& [line, words] : checked.findings)
    std::printf("line %zu: %s\n", line, words.c_str());
  std::fflush(stdout);
  if (checked.unsealed > 0) {
    std::fprintf(
        stderr,
        "feedrate validate: note: %zu records are of an older schema and carry no checksums\n",
        checked.unsealed);
  }
  return checked.findings.size();
}

// The word that names the ledger, wherever it stands among the options.
std::optional<std::filesystem::path> named_ledger(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool is_value = i > 0 && (words[i - 1] == "-o" || words[i - 1] == "--output");
    if (!is_value && !words[i].starts_with("-") && std::filesystem::exists(ledger_of(words[i])))
      return ledger_of(words[i]);
  }
  return std::nullopt;
}

}  // namespace

CommandEntry add_report(CLI::App& program) {
  return add_passed_on(program, "report",
                       "Draw the figures and tables of ledgers, or the figures of a trace",
                       [](const std::vector<std::string>& words) {
                         need_ledgers(words);
                         become_report(with_command("report", words));
                       });
}

CommandEntry add_compare(CLI::App& program) {
  return add_passed_on(
      program, "compare",
      "Compare ledgers with a first one, cell by cell: faster, slower, equal or inconclusive",
      [](const std::vector<std::string>& words) { become_report(with_command("compare", words)); });
}

CommandEntry add_validate(CLI::App& program) {
  return add_passed_on(
      program, "validate",
      "Derive again what a ledger's records and its report say, and name what differs",
      [](const std::vector<std::string>& words) {
        need_ledger(words);
        auto all = with_command("check", words);
        if (const auto file = named_ledger(words))
          all.push_back("--found=" + std::to_string(print_findings(*file)));
        become_report(all);
      });
}

}  // namespace feedrate::cli
