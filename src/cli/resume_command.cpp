#include "cli/resume_command.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/supervised_process.h"
#include "ledger/ledger.h"
#include "ledger/plan_file.h"

namespace feedrate::cli {
namespace {

using ledger::Arguments;

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() != 0; }

// "--output", "-o": the value is the next word.
bool is_name_of(const CLI::Option& option, const std::string& word) {
  const auto is = [&](const std::string& dashes, const std::vector<std::string>& names) {
    return std::ranges::any_of(names, [&](const auto& name) { return word == dashes + name; });
  };
  return is("--", option.get_lnames()) || is("-", option.get_snames());
}

// That, or with the value in it: "--output=DIR", "-oDIR".
bool is_option_word(const std::string& word, const CLI::Option& option) {
  const auto begins = [&](const std::string& begin) { return word.starts_with(begin); };
  const auto with_value = [&](const std::string& name) { return begins("--" + name + "="); };
  const auto joined = [&](const std::string& name) { return begins("-" + name); };
  return is_name_of(option, word) || std::ranges::any_of(option.get_lnames(), with_value) ||
         (takes_value(option) && std::ranges::any_of(option.get_snames(), joined));
}

bool gives_option(const Arguments& words, const CLI::Option& option) {
  return std::ranges::any_of(words, [&](const auto& word) { return is_option_word(word, option); });
}

// Whether the words give the option this value, and once.
bool gives_option(const Arguments& words, const CLI::Option& option, const std::string& value) {
  const auto of_it = [&](const std::string& word) { return is_option_word(word, option); };
  const auto found = std::ranges::find_if(words, of_it);
  if (found == words.end() || std::ranges::count_if(words, of_it) > 1) return false;
  return is_name_of(option, *found) ? found + 1 != words.end() && found[1] == value
                                    : found->ends_with("=" + value);
}

// An axis may have several values behind it.
void remove_option(Arguments& words, const CLI::Option& option) {
  for (auto word = words.begin(); word != words.end();) {
    if (!is_option_word(*word, option)) {
      ++word;
      continue;
    }
    auto end = word + 1;
    if (takes_value(option) && is_name_of(option, *word))
      while (end != words.end() && !end->starts_with("-")) ++end;
    word = words.erase(word, end);
  }
}

// What was typed now counts; what says the same stays where it is, and the command as it was.
void override_option(Arguments& words, const CLI::Option& option) {
  for (const CLI::Option* other : option.get_excludes()) remove_option(words, *other);
  const std::string name = "--" + option.get_lnames().front();
  const std::vector<std::string>& values = option.results();
  if (!takes_value(option)) {
    if (!gives_option(words, option)) words.push_back(name);
  } else if (values.size() != 1 || !gives_option(words, option, values.front())) {
    remove_option(words, option);
    for (const std::string& value : values) words.insert(words.end(), {name, value});
  }
}

// Whether the words have options that were not typed.
bool has_untyped_options(const Arguments& words, const CLI::App& typed) {
  return std::ranges::any_of(typed.get_options(), [&](const CLI::Option* option) {
    return option->count() == 0 && gives_option(words, *option);
  });
}

// What ledger::Anonymizer writes in place of a path.
bool is_hidden(const std::string& word) {
  constexpr const char* kHidden[] = {"DATASET", "CONFIG", "TRACE"};
  return std::ranges::any_of(kHidden, [&](const std::string& name) {
    return word == name || word.find("=" + name) != std::string::npos;
  });
}

void check_paths_are_known(const Arguments& words, const std::filesystem::path& folder) {
  const bool is_anonymous = std::ranges::find(words, "--anonymize") != words.end();
  const auto is_no_utf8 = [](const std::string& word) {
    return word.find(ledger::kNoUtf8) != std::string::npos;
  };
  const auto lost = std::ranges::find_if(words, [&](const std::string& word) {
    return is_no_utf8(word) || (is_anonymous && is_hidden(word));
  });
  if (lost == words.end()) return;
  const bool is_dataset =
      lost->starts_with("--dataset=") || (lost != words.begin() && lost[-1] == "--dataset");
  throw UsageError(folder.string(),
                   is_no_utf8(*lost) ? "has a path that is no UTF-8, and was not kept"
                                     : "has no paths, because of --anonymize",
                   is_dataset ? "say the path again: --dataset DIR"
                              : "type the sweep's own options again, and --resume");
}

}  // namespace

Arguments command_to_go_on(const CLI::App& typed, const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "ledger.jsonl";
  ledger::LedgerText ledger;
  if (std::filesystem::exists(file)) ledger = ledger::read_ledger(file);
  Arguments words = ledger::first_typed(ledger::planned_command(folder, ledger.records));
  if (words.empty())
    throw UsageError(
        folder.string(), "holds no plan.json that names the sweep to resume",
        "give the folder of a sweep, or type the sweep's own options again, and --resume");
  if (words.front() != "sweep")
    throw UsageError(folder.string(),
                     "holds a `feedrate " + words.front() + "`, which `sweep` cannot resume",
                     "choose another folder: -o DIR");
  for (const CLI::Option* option : typed.get_options())
    if (option->count() > 0) override_option(words, *option);
  check_paths_are_known(words, folder);
  return has_untyped_options(words, typed) ? words : Arguments{};
}

void become(Arguments words) {
  words.insert(words.begin(), "feedrate");
  const std::vector<char*> arguments = exec_arguments(words);
  std::fflush(nullptr);
  execv("/proc/self/exe", arguments.data());
  throw Error("feedrate", std::strerror(errno));
}

}  // namespace feedrate::cli
