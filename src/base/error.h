#pragma once
#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace feedrate {

// A failure that a user can meet: the thing, the reason and the remedy. main prints them as one
// line, "thing: reason; remedy". The thing may be a file whose name holds any bytes: it is escaped
// (text.h). The remedy may be empty.
class Error : public std::runtime_error {
 public:
  Error(std::string_view thing, std::string_view reason, std::string_view remedy = {})
      : std::runtime_error(join(thing, reason, remedy)),
        reason_size_(reason.size()),
        remedy_size_(remedy.empty() ? 0 : remedy.size() + kBeforeRemedy.size()) {}

  // Parts of the line, for whoever names the thing in another way, or knows the remedy. Valid as
  // long as the error.
  std::string_view reason() const {
    const std::string_view line = without_remedy();
    return line.substr(line.size() - std::min(reason_size_, line.size()));
  }
  std::string_view without_remedy() const {
    const std::string_view line = what();
    return line.substr(0, line.size() - std::min(remedy_size_, line.size()));
  }

 private:
  static constexpr std::string_view kBeforeRemedy = "; ";

  static std::string join(std::string_view thing, std::string_view reason, std::string_view remedy);

  std::size_t reason_size_, remedy_size_;  // in what()
};

// A mistake in what the user typed (option, axis value): exit code 2, as argument parsers do.
class UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace feedrate
