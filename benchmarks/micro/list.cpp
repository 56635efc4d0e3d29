#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>

#include "base/error.h"
#include "benchmarks/micro/micro.h"
#include "storage/image_folder.h"

namespace feedrate::micro {
namespace {

namespace fs = std::filesystem;

// Bytes, by a name in /proc/self/status; 0: unknown.
std::int64_t status_bytes(std::string_view field) {
  std::ifstream status("/proc/self/status");
  for (std::string name; status >> name;) {
    std::int64_t kib = 0;
    if (name == field && status >> kib) return 1024 * kib;
    status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

// Names as ImageNet's, of empty files. Folders that have just changed would be listed each time.
void make_pictures(const fs::path& root, std::int64_t files, std::int64_t classes) {
  const auto hour_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (std::int64_t i = 0; i < classes; ++i) {
    const std::string name = "n" + std::to_string(10'000'000 + i);
    fs::create_directories(root / name);
    for (std::int64_t file = i; file < files; file += classes)
      std::ofstream(root / name / (name + "_" + std::to_string(100'000 + file) + ".JPEG"));
    fs::last_write_time(root / name, hour_ago);
  }
  fs::last_write_time(root, hour_ago);
}

// A folder of the user's own, listed by one thread, anew or by what is kept of it. Beside the time,
// the most memory that it took: bytes_a_file.
void list(benchmark::State& state, bool is_kept) {
  static constexpr std::string_view kJpeg[] = {".jpeg"};
  const std::int64_t files = state.range(0);
  const TemporaryFolder folder;
  const fs::path root = folder.path() / "mine";
  make_pictures(root, files, state.range(1));
  setenv("XDG_CACHE_HOME", (folder.path() / "cache").c_str(), 1);
  std::int64_t most = 0;
  try {
    storage::list_image_folder(root, kJpeg, 1);
    for (auto _ : state) {
      malloc_trim(0);
      std::ofstream("/proc/self/clear_refs") << "5";  // the peak begins anew
      const std::int64_t before = status_bytes("VmRSS:");
      const auto dataset = storage::list_image_folder(root, kJpeg, 1, {}, {}, {.relist = !is_kept});
      benchmark::DoNotOptimize(dataset.samples.data());
      most = std::max(most, status_bytes("VmHWM:") - before);
    }
  } catch (const Error& error) {
    state.SkipWithError(error.what());
  }
  unsetenv("XDG_CACHE_HOME");
  set_rates(state, files, 0);
  state.counters["bytes_a_file"] = static_cast<double>(most) / static_cast<double>(files);
}

}  // namespace

// As many pictures a class as ImageNet-1k's subset of 300,000 has, and as ImageNet-21k's.
void register_list() {
  for (const bool is_kept : {false, true}) {
    benchmark::RegisterBenchmark(is_kept ? "list/kept" : "list/anew",
                                 [is_kept](benchmark::State& state) { list(state, is_kept); })
        ->ArgNames({"files", "classes"})
        ->Args({30'000, 100})
        ->Args({30'000, 2'184})
        ->Iterations(10)  // a search for their number would make the files each time
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace feedrate::micro
