#pragma once
#include <memory>
#include <span>
#include <string_view>

#include "storage/placed_files.h"
#include "storage/storage.h"

namespace feedrate::storage {

// A way to get bytes out of files: a file that defines one, and a line in io_engine.cpp.
struct IoEngine {
  std::string_view name;         // as typed after --io
  std::string_view help;         // one line, for `feedrate list`
  bool past_page_cache = false;  // reads with O_DIRECT
  // Reads samples by up to `depth` requests in flight. Throws an Error naming what cannot be
  // opened.
  std::unique_ptr<Storage> (*open)(Placement placement, int depth) = nullptr;
  // Throws the Error that says why this machine cannot do it; null: every one can.
  void (*check)() = nullptr;
};

// All engines, the usual one first. Thread-safe, immutable.
std::span<const IoEngine> io_engines();
const IoEngine& find_io_engine(std::string_view name);  // throws UsageError

// How a worker reads.
struct Io {
  const IoEngine* engine = &io_engines().front();
  int depth = 1;  // requests in flight
};

// Each in the file of its name.
IoEngine buffered_reads();
IoEngine direct_reads();
IoEngine mapped_reads();
IoEngine uring_reads();
IoEngine direct_uring_reads();

}  // namespace feedrate::storage
