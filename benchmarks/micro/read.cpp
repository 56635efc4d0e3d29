#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "benchmarks/micro/micro.h"
#include "storage/io_engine.h"

namespace feedrate::micro {
namespace {

constexpr int kFiles = 64;

std::vector<std::string> write_files(const std::filesystem::path& folder, std::size_t bytes) {
  std::vector<std::string> names;
  const std::string content(bytes, 'x');
  for (int i = 0; i < kFiles; ++i) {
    names.push_back(std::to_string(i) + ".bin");
    std::ofstream(folder / names.back(), std::ios::binary) << content;
  }
  return names;
}

// One worker's reads of files that were just written, one at a time: what storage costs when it
// costs nothing.
void read_by(const storage::IoEngine& engine, benchmark::State& state) {
  const TemporaryFolder folder;
  const auto bytes = static_cast<std::size_t>(state.range(0));
  std::vector<storage::SampleFile> files;
  for (const std::string& name : write_files(folder.path(), bytes))
    files.push_back({name, 0, bytes});
  try {
    const auto storage = engine.open({.folder = folder.path().string() + "/", .largest = bytes}, 1);
    storage->count_latencies();
    std::size_t next = 0;
    for (auto _ : state) {
      benchmark::DoNotOptimize(storage->read(files[next]).bytes.data());
      next = (next + 1) % files.size();
    }
    set_rates(state, 1, static_cast<std::int64_t>(bytes));
  } catch (const Error& error) {
    state.SkipWithError(error.what());
  }
}

// The system calls alone, one after the other: what the storage is to come near.
void read_bare(benchmark::State& state) {
  const TemporaryFolder folder;
  const auto bytes = static_cast<std::size_t>(state.range(0));
  std::vector<std::string> paths = write_files(folder.path(), bytes);
  for (std::string& path : paths) path = folder.path() / path;
  std::vector<std::byte> buffer(bytes);
  std::size_t next = 0;
  for (auto _ : state) {
    const int file = open(paths[next].c_str(), O_RDONLY | O_CLOEXEC);
    if (pread(file, buffer.data(), bytes, 0) != static_cast<ssize_t>(bytes))
      state.SkipWithError("short read");
    close(file);
    next = (next + 1) % paths.size();
  }
  set_rates(state, 1, static_cast<std::int64_t>(bytes));
}

}  // namespace

// Sizes of a JPEG of 500x375, of a precached uint8 tensor of 224x224, and of 500x375 plain pixels.
void register_read() {
  const auto add = [](const std::string& name, const auto& read) {
    benchmark::RegisterBenchmark(name.c_str(), read)
        ->ArgName("bytes")
        ->Arg(58'000)
        ->Arg(150'560)
        ->Arg(562'500);
  };
  for (const storage::IoEngine& engine : storage::io_engines()) {
    add("read/" + std::string(engine.name),
        [&engine](benchmark::State& state) { read_by(engine, state); });
  }
  add("read/bare", read_bare);
}

}  // namespace feedrate::micro
