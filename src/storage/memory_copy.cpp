#include "storage/memory_copy.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "base/xxh3.h"
#include "storage/container.h"
#include "storage/dataset_record.h"
#include "storage/manifest.h"
#include "storage/variant_name.h"

namespace feedrate::storage {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMemory = "/dev/shm";  // tmpfs on every Linux

// Other versions name theirs "feedrate-copy-PID-...", do not lock them, and remove what has that
// beginning and a number of no process.
constexpr std::string_view kCopyName = "feedrate-locked-";

// What processes that were killed have left: the lock of a folder goes with its process, however it
// ends. A process id in its name would not do: another process may have that id by now, and one in
// another container is not seen from here.
void remove_left_over() {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(kMemory, ignored)) {
    if (!entry.path().filename().string().starts_with(kCopyName)) continue;
    try {
      const PosixFile folder(entry.path(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      if (flock(folder.get(), LOCK_EX | LOCK_NB) == 0) fs::remove_all(entry.path(), ignored);
    } catch (const std::system_error&) {  // another user's, or removed by now
    }
  }
}

// As many samples as fit, spread evenly over the variant.
std::vector<std::size_t> chosen(const DatasetVariant& variant, std::uint64_t most_bytes) {
  // What is packed lies there twice for a while.
  std::error_code unknown;
  const fs::space_info space = fs::space(kMemory, unknown);
  if (!unknown) most_bytes = std::min<std::uint64_t>(most_bytes, space.available / 3);
  const double share =
      std::min(1.0, static_cast<double>(most_bytes) / static_cast<double>(variant.total_bytes));
  const auto count = std::max<std::size_t>(
      1, static_cast<std::size_t>(share * static_cast<double>(variant.samples.size())));
  std::vector<std::size_t> samples(count);
  for (std::size_t i = 0; i < count; ++i) samples[i] = i * variant.samples.size() / count;
  return samples;
}

// Shards may repeat a name, and a user's own names may hold what no manifest takes.
std::string name_in_copy(const std::string& path, std::size_t number) {
  const std::size_t dot = path.find('.', path.rfind('/') + 1);
  std::string ending = dot == std::string::npos ? "" : path.substr(dot);
  if (!ending.empty() && !stays_inside(ending)) ending = ending.substr(ending.rfind('.'));
  return "class_000/" + format("%08zu", number) + ending;
}

std::string without_container(const std::string& variant) {
  VariantName name = variant_name_from(variant);
  name.container.clear();
  return name.text();
}

}  // namespace

// It is locked before it has the name that others look for.
MemoryCopy::Folder MemoryCopy::new_folder() {
  remove_left_over();
  std::string made = std::string(kMemory) + "/feedrate-new-XXXXXX";
  bool is_made = false;
  try {
    is_made = mkdtemp(made.data()) != nullptr;
    if (!is_made) throw std::system_error(errno, std::generic_category());
    PosixFile lock(made, O_RDONLY | O_DIRECTORY);
    if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
      throw std::system_error(errno, std::generic_category());
    fs::path folder = fs::path(kMemory) / (std::string(kCopyName) + made.substr(made.size() - 6));
    fs::rename(made, folder);
    return {std::move(folder), std::move(lock)};
  } catch (const std::system_error& error) {
    std::error_code ignored;
    if (is_made) fs::remove(made, ignored);
    throw Error(kMemory, error.code().message(),
                "the machine's own limit cannot be measured without it: --no-client");
  }
}

MemoryCopy::MemoryCopy() : folder_(new_folder()) {}

MemoryCopy::~MemoryCopy() {
  std::error_code ignored;
  fs::remove_all(data(), ignored);
}

std::size_t MemoryCopy::samples() const {
  return static_cast<std::size_t>(read_dataset_record(data()).count);
}

void copy_part(const DatasetVariant& variant, const std::string& name, std::uint64_t most_bytes,
               const fs::path& folder, const std::stop_token& stop, OutstandingReads::Slot* slot) {
  const std::string files = without_container(name);
  std::unique_ptr<Storage> storage;
  {
    const Waiting opening(slot, variant.samples.front());
    storage = make_storage(variant);
  }
  if (slot) storage->report_waits_to(*slot);
  Buffer buffer;
  std::vector<SampleFile> samples;
  for (const std::size_t i : chosen(variant, most_bytes)) {
    if (stop.stop_requested()) break;
    SampleFile sample = variant.samples[i];
    // Not `sample`, which changes: what is read is told to another thread.
    storage->read(variant.samples[i], buffer);
    sample.path = name_in_copy(sample.path, samples.size());
    fs::create_directories((folder / files / sample.path).parent_path());
    write_whole_file(folder / files / sample.path, buffer.bytes(), /*durable=*/false);
    sample.xxh3 = xxh3_of(buffer.bytes());
    samples.push_back(std::move(sample));
  }
  DatasetRecord record{.source = "generated copy in memory",
                       .count = static_cast<std::int64_t>(samples.size()),
                       .classes = variant.classes,
                       .options = {},
                       .variants = {}};
  if (variant.contents_decide()) record.options.insert(*variant.made.find(kFormats));
  record.variants[files] = write_manifest(folder / files, samples);
  if (files != name) {
    const DatasetVariant from = read_variant(folder, files, record);
    fs::create_directories(folder / name);
    // Shards of the user's own are packed as `gen` does.
    find_container(variant.container->name)->pack(from, folder / name, [&](std::size_t) {
      return !stop.stop_requested();
    });
    record.variants[name] = write_manifest(folder / name, samples);
  }
  write_dataset_record(folder, record);
}

}  // namespace feedrate::storage
