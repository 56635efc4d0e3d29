#pragma once
#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace feedrate {

// A failure that a user can meet: the thing, the reason and the remedy. main prints them as one
// line, "thing: reason; remedy". The remedy may be empty.
class Error : public std::runtime_error {
 public:
  Error(std::string_view thing, std::string_view reason, std::string_view remedy = {})
      : std::runtime_error(join(thing, reason, remedy)),
        reason_at_(thing.size() + kJoint.size()),
        reason_size_(reason.size()) {}

  // Parts of the line, for whoever names the thing in another way, or knows the remedy. Valid as
  // long as the error.
  std::string_view reason() const {
    const std::string_view line = without_remedy();
    return line.substr(std::min(reason_at_, line.size()));
  }
  std::string_view without_remedy() const {
    return std::string_view(what()).substr(0, reason_at_ + reason_size_);
  }

 private:
  static constexpr std::string_view kJoint = ": ";

  static std::string join(std::string_view thing, std::string_view reason,
                          std::string_view remedy) {
    std::string line(thing);
    line.append(kJoint).append(reason);
    if (!remedy.empty()) line.append("; ").append(remedy);
    return line;
  }

  std::size_t reason_at_, reason_size_;  // in what()
};

// A mistake in what the user typed (option, axis value): exit code 2, as argument parsers do.
class UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace feedrate
