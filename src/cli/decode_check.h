#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "storage/verify.h"

namespace feedrate::cli {

// Decodes the whole of what `verify` reads, each picture by its contents, as `run` does, other
// files by the format that their names say. Thread-safe; outlives what make() returns.
class DecodeCheck {
 public:
  // For one thread, which keeps a decoder for each format.
  storage::CheckSample make();
  // How many were decoded and are good: "64 jpeg, 3 png"; "none".
  std::string decoded() const;

 private:
  void count(std::string_view kind);

  mutable std::mutex mutex_;
  std::map<std::string_view, std::uint64_t> kinds_;  // by the format's name
};

}  // namespace feedrate::cli
