#include "cli/manual.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/text.h"
#include "plan/axes.h"

namespace feedrate::cli {
namespace {

std::vector<const CLI::App*> shown_commands(const CLI::App& program) {
  std::vector<const CLI::App*> shown;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
    if (!command->get_group().empty()) shown.push_back(command);
  return shown;
}

std::vector<const CLI::Option*> options_of(const CLI::App& command) {
  return command.get_options(
      [](const CLI::Option* option) { return !option->get_group().empty(); });
}

// "--data", "-o": none of a positional.
std::vector<std::string> option_words(const CLI::Option& option) {
  std::vector<std::string> words;
  for (const std::string& name : option.get_snames()) words.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) words.push_back("--" + name);
  return words;
}

// By an option's long name: what is known of its values. "emulated:NAME" is no value to complete.
std::map<std::string, std::vector<std::string>> known_axis_values() {
  std::map<std::string, std::vector<std::string>> known;
  for (const plan::Axis& axis : plan::axes())
    for (const plan::AxisValue& value : axis.values)
      if (value.value.find_first_of(":ABCDEFGHIJKLMNOPQRSTUVWXYZ") == std::string_view::npos)
        known["--" + std::string(axis.name)].emplace_back(value.value);
  return known;
}

// "bash zsh": as shells have lists.
template <typename Range>
std::string spaced(const Range& words) {
  std::string all = listed(words);
  std::erase(all, ',');
  return all;
}

std::string replaced(const std::string& text, const std::map<char, std::string>& by) {
  std::string all;
  for (const char c : text) {
    const auto other = by.find(c);
    all += other == by.end() ? std::string(1, c) : other->second;
  }
  return all;
}

// Text of a man page: no line of it is taken for a request, and a hyphen stays one to copy.
std::string roff(const std::string& text) {
  const std::string all = replaced(text, {{'\\', "\\e"}, {'-', "\\-"}, {'\n', " "}});
  return all.starts_with('.') || all.starts_with('\'') ? "\\&" + all : all;
}

// In single quotes, in which zsh's _arguments gives brackets and colons a meaning.
std::string quoted(const std::string& text) {
  return replaced(
      text,
      {{'[', "\\["}, {']', "\\]"}, {':', "\\:"}, {'\\', "\\\\"}, {'\n', " "}, {'\'', "'\\''"}});
}

std::string roff_options(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : options_of(command)) {
    std::string names = listed(option_words(*option));
    if (names.empty()) names = option->get_name();
    const std::string type = option->get_type_size() == 0 ? "" : " " + option->get_type_name();
    text += ".TP\n.B " + roff(names + type) + "\n" + roff(option->get_description()) + "\n";
  }
  return text;
}

}  // namespace

std::string manual_of(const CLI::App& program, const std::string& version) {
  std::string text =
      ".TH FEEDRATE 1 \"\" \"feedrate " + roff(version) +
      "\" \"User Commands\"\n.SH NAME\nfeedrate \\- what training data costs\n"
      ".SH SYNOPSIS\n.B feedrate\n.I SUBCOMMAND\n[\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n" +
      roff(program.get_description()) + "\n";
  for (const CLI::App* command : shown_commands(program)) {
    text += ".SH \"FEEDRATE " + roff(command->get_name()) + "\"\n" +
            roff(command->get_description()) + "\n" + roff_options(*command);
    if (options_of(*command).empty())  // they are read by another program, which says them itself
      text += ".br\nIts options: " + roff("feedrate " + command->get_name() + " --help") + "\n";
  }
  return text + ".SH NOTES\n" + roff(program.get_footer()) +
         "\n.SH ENVIRONMENT\n.TP\n.B NO_COLOR\nIf it is set to anything, no colours are shown.\n"
         ".TP\n.B FEEDRATE_PYTHON\nThe Python that draws reports, which has matplotlib.\n";
}

std::string bash_completion_of(const CLI::App& program) {
  std::string names, cases;
  for (const CLI::App* command : shown_commands(program)) {
    names += command->get_name() + " ";
    std::string words;
    for (const CLI::Option* option : options_of(*command))
      for (const std::string& word : option_words(*option))
        if (word.starts_with("--")) words += word + " ";
    cases += "    " + command->get_name() + ") options=\"" + words + "\" ;;\n";
  }
  std::string values;
  for (const auto& [axis, known] : known_axis_values())
    values += "    " + axis + ") values=\"" + spaced(known) + "\" ;;\n";
  return R"(# feedrate's completion for bash: source it, or lay it into
# ~/.local/share/bash-completion/completions/feedrate
_feedrate() {
  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"
  local options="" values="" head=""
  COMPREPLY=()
  # The shell takes --data=jpeg for three words.
  if [[ $before == = ]]; then
    before="${COMP_WORDS[COMP_CWORD-2]}"
  elif [[ $word == = ]]; then
    word=""
  fi
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W ")" +
         names + R"(--help --version" -- "$word"))
    return
  fi
  case "$before" in
    completion) values=")" +
         spaced(kShells) + "\" ;;\n" + values + R"(  esac
  if [[ -n $values ]]; then
    [[ $word != *,* ]] || head="${word%,*},"
    COMPREPLY=($(compgen -P "$head" -W "$values" -- "${word##*,}"))
    return
  fi
  case "${COMP_WORDS[1]}" in
)" + cases +
         R"(  esac
  [[ $word != -* ]] || COMPREPLY=($(compgen -W "$options" -- "$word"))
}
complete -o default -F _feedrate feedrate
)";
}

std::string zsh_completion_of(const CLI::App& program) {
  const auto known = known_axis_values();
  std::string commands, cases;
  for (const CLI::App* command : shown_commands(program)) {
    commands += "    '" + command->get_name() + ":" + quoted(command->get_description()) + "'\n";
    cases += "    " + command->get_name() + ")\n      _arguments \\\n";
    for (const CLI::Option* option : options_of(*command)) {
      for (const std::string& word : option_words(*option)) {
        const auto values = known.find(word);
        std::string argument;
        if (values != known.end()) {
          argument = ":value:_values -s , value " + spaced(values->second);
        } else if (option->get_type_size() != 0) {
          argument = ":" + quoted(option->get_type_name()) + ":_files";
        }
        cases += "        '*" + word + "[" + quoted(option->get_description()) + "]" + argument +
                 "' \\\n";
      }
    }
    cases += command->get_name() == "completion"
                 ? "        '1:shell:(" + spaced(kShells) + ")'\n      ;;\n"
                 : "        '*:file:_files'\n      ;;\n";
  }
  return R"(#compdef feedrate
# feedrate's completion for zsh: lay it into a folder of $fpath, as _feedrate.
_feedrate() {
  local -a commands=(
)" + commands +
         R"(  )
  if ((CURRENT == 2)); then
    _describe 'subcommand' commands
    return
  fi
  local command=${words[2]}
  shift words
  ((CURRENT--))
  case $command in
)" + cases +
         R"(  esac
}
_feedrate "$@"
)";
}

}  // namespace feedrate::cli
