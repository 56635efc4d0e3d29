#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "codec/codec.h"
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
  // A line for each kind of stray bytes in good ones, with its count and the first names. Empty:
  // there are none.
  std::string notes() const;

 private:
  // Pictures of which the same is to be said.
  struct Noted {
    static constexpr std::size_t kNamed = 3;
    std::uint64_t count = 0;
    std::set<std::string> first;  // kNamed of their names, in order
  };
  void count(std::string_view kind);
  void note(const codec::StrayBytes& stray, const std::string& name);

  mutable std::mutex mutex_;
  std::map<std::string_view, std::uint64_t> kinds_;  // by the format's name
  Noted before_marker_, behind_end_;
};

}  // namespace feedrate::cli
