#include "run/page_cache_state.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "measure/block_devices.h"
#include "measure/memory.h"
#include "measure/mounts.h"
#include "run/cell_memory.h"
#include "storage/io_engine.h"
#include "storage/page_cache.h"

namespace feedrate::run {
namespace {

namespace fs = std::filesystem;

// The rest is for what a run holds beyond its batches: libraries, the network, other programs.
constexpr double kUsableMemory = 0.8;
// More of the files than this in the page cache, and they were not dropped.
constexpr double kStays = 0.05;
// A claim about the files is one about all of them, as far as that takes seconds. To look at a file
// brings its inode into memory, so of files whose state nobody claims only some are looked at.
constexpr std::size_t kLook = 65'536, kGlance = 256;

// Warming reads whole files: what lies between a shard's samples is in memory then, too. What an
// earlier cell of this process left, as the network, is used again, or let go: `auto` must not
// depend on which cell came first. (Of several ranks, what the others' processes hold is not known
// here.)
bool fits_into_memory(const plan::CellSettings& settings, const storage::DatasetVariant& dataset,
                      int ranks_here) {
  const double held = bytes_held(settings, dataset, ranks_here, /*ranks_are_apart=*/true);
  const std::uint64_t packed =
      std::accumulate(dataset.packed_bytes.begin(), dataset.packed_bytes.end(), std::uint64_t{0});
  const std::uint64_t available =
      measure::memory_available() + measure::process_size().anonymous_bytes;
  return static_cast<double>(std::max(dataset.total_bytes, packed)) + held <
         kUsableMemory * static_cast<double>(available);
}

std::string state_of(const plan::CellSettings& settings, bool fits) {
  if (storage::find_io_engine(settings.io).past_page_cache) return "bypassed";
  if (settings.page_cache != "auto") return settings.page_cache;
  return fits ? "warm" : "as-is";
}

// On a machine that others use, root may leave their files in memory.
bool may_drop_all() { return environment_variable("FEEDRATE_DROP_CACHES") != "no"; }

// A cell's files, and those of the loop devices under them.
class Files {
 public:
  Files(const storage::DatasetVariant& dataset, storage::OutstandingReads::Slot* slot,
        std::stop_token stop)
      : dataset_(dataset), slot_(slot), stop_(std::move(stop)) {
    // Each of the file systems that are looked at here may hang.
    const storage::Waiting waiting(slot, dataset.samples.front());
    std::error_code failed;
    if (const auto mount = measure::mount_of(fs::weakly_canonical(dataset.folder, failed)))
      file_system_ = mount->type;
    for (const measure::BlockDevice& device : measure::block_devices_under(dataset.folder)) {
      if (device.cached_file.empty()) continue;
      loops_.push_back(device.name);
      below_.push_back(device.cached_file);
    }
  }

  const std::string& file_system() const { return file_system_; }  // its type
  std::string loops() const { return listed(loops_); }

  void warm() const { storage::warm_page_cache(dataset_, stop_, slot_); }
  void drop() const { storage::drop_from_page_cache(dataset_, below_, stop_, slot_); }

  void look_before(PageCache& cache) const {
    const storage::Residency found = look(cache);
    cache.before = found.share;
    cache.look = {.by = std::string(found.by),
                  .files = static_cast<std::int64_t>(found.files),
                  .of = static_cast<std::int64_t>(stored_files(dataset_)),
                  .unwritten_pages = found.unwritten_pages};
    if (cache.past_memory()) cache.loops_before = look_below();
  }
  void look_after(PageCache& cache) const {
    cache.after = look(cache).share;
    if (cache.past_memory()) cache.loops_after = look_below();
  }

 private:
  storage::Residency look(const PageCache& cache) const {
    const bool claimed = cache.state == "warm" || cache.state == "cold";
    return storage::page_cache_residency(dataset_, claimed ? kLook : kGlance, stop_, slot_);
  }
  // The files of loop devices may be far larger than the dataset, so the share is of its bytes.
  double look_below() const {
    const storage::Residency found = storage::page_cache_residency(below_, dataset_, slot_);
    if (found.files < below_.size() || below_.empty()) return -1;
    const auto all = static_cast<double>(std::max<std::uint64_t>(dataset_.total_bytes, 1));
    return std::min(1.0, static_cast<double>(found.bytes) / all);
  }

  const storage::DatasetVariant& dataset_;
  storage::OutstandingReads::Slot* const slot_;
  const std::stop_token stop_;
  std::string file_system_;
  std::vector<std::string> loops_;
  std::vector<fs::path> below_;
};

// What is known before anything is done.
PageCache surroundings_of(const plan::CellSettings& settings,
                          const storage::DatasetVariant& dataset, int ranks_here,
                          const Files& files) {
  PageCache cache{.fits = fits_into_memory(settings, dataset, ranks_here)};
  cache.state = state_of(settings, cache.fits);
  cache.file_system = files.file_system();
  cache.scope = measure::is_served(cache.file_system) ? "client" : "host";
  if (cache.past_memory()) cache.loops = files.loops();
  cache.memory_bytes = measure::memory_size();
  return cache;
}

void make_cold(PageCache& cache, const storage::DatasetVariant& dataset, const Files& files,
               const std::stop_token& stop) {
  files.drop();
  cache.method = "fadvise";
  files.look_before(cache);
  // Last, as looking brings inodes back that this drops.
  if (!stop.stop_requested() && may_drop_all() && storage::drop_all_caches(stop)) {
    cache.method = "drop_caches";
    if (cache.before > kStays || cache.loops_before > kStays) files.look_before(cache);
  }
  if (stop.stop_requested() || cache.before <= kStays) return;
  throw Error(dataset.folder.string(), "stays in the page cache although it was asked to go",
              "put the dataset on a disk's file system (tmpfs cannot be dropped), or use "
              "--page-cache warm");
}

void make_warm(PageCache& cache, const Files& files, const std::stop_token& stop) {
  files.look_before(cache);
  // Files that all lie there already are not read again.
  if (cache.before >= 1 || stop.stop_requested()) return;
  files.warm();
  files.look_before(cache);
}

// A share of loop devices, which one of two machines may lack; unknown where it is on either.
double of_loops(const PageCache& a, const PageCache& b, double PageCache::* share) {
  if (a.loops.empty() || b.loops.empty()) return (a.loops.empty() ? b : a).*share;
  return a.*share < 0 || b.*share < 0 ? -1 : std::max(a.*share, b.*share);
}

std::string both_names(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty() || a == b) return a.empty() ? b : a;
  return a + ", " + b;
}

CacheLook less_of(const CacheLook& a, const CacheLook& b) {
  CacheLook less = a.files <= b.files ? a : b;
  if (a.by != b.by && !a.by.empty() && !b.by.empty()) less.by = "mincore";
  const bool known = a.unwritten_pages >= 0 && b.unwritten_pages >= 0;
  less.unwritten_pages = known ? a.unwritten_pages + b.unwritten_pages : -1;
  return less;
}

}  // namespace

PageCache merge_page_caches(const PageCache& a, const PageCache& b) {
  if (a.state.empty() || b.state.empty()) return a.state.empty() ? b : a;
  PageCache both{.state = a.state == b.state ? a.state : "as-is",
                 .fits = a.fits && b.fits,
                 .before = std::min(a.before, b.before),
                 .after = std::min(a.after, b.after),
                 .look = less_of(a.look, b.look)};
  both.method = a.method == b.method ? a.method : "fadvise";
  both.scope = a.scope == b.scope ? a.scope : "client";
  both.file_system = both_names(a.file_system, b.file_system);
  both.loops = both_names(a.loops, b.loops);
  both.loops_before = of_loops(a, b, &PageCache::loops_before);
  both.loops_after = of_loops(a, b, &PageCache::loops_after);
  both.memory_bytes = a.memory_bytes + b.memory_bytes;
  return both;
}

PageCache prepare_page_cache(const plan::CellSettings& settings,
                             const storage::DatasetVariant* dataset, int ranks_here,
                             storage::OutstandingReads::Slot* slot, std::stop_token stop) {
  if (!dataset || !settings.reads_storage()) return {};
  const Files files(*dataset, slot, stop);
  PageCache cache = surroundings_of(settings, *dataset, ranks_here, files);
  if (cache.state == "cold") {
    make_cold(cache, *dataset, files, stop);
  } else if (cache.state == "warm") {
    make_warm(cache, files, stop);
  } else {
    if (cache.state == "bypassed") cache.method = "bypassed";
    files.look_before(cache);
  }
  return cache;
}

void look_after_window(PageCache& cache, const storage::DatasetVariant* dataset,
                       storage::OutstandingReads::Slot* slot, std::stop_token stop) {
  if (dataset && !cache.state.empty()) Files(*dataset, slot, std::move(stop)).look_after(cache);
}

}  // namespace feedrate::run
