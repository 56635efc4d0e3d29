#pragma once
#include <stdexcept>
#include <string>
#include <string_view>

namespace feedrate {

// A failure that a user can meet: the thing, the reason and the remedy. main prints them as one
// line, "thing: reason; remedy". The remedy may be empty.
class Error : public std::runtime_error {
 public:
  Error(std::string_view thing, std::string_view reason, std::string_view remedy = {})
      : std::runtime_error(join(thing, reason, remedy)) {}

 private:
  static std::string join(std::string_view thing, std::string_view reason,
                          std::string_view remedy) {
    std::string line(thing);
    line.append(": ").append(reason);
    if (!remedy.empty()) line.append("; ").append(remedy);
    return line;
  }
};

// A mistake in what the user typed (option, axis value): exit code 2, as argument parsers do.
class UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace feedrate
