#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

#include "measure/error.h"
#include "storage/dataset.h"
#include "storage/manifest.h"
#include "storage/whole_file.h"

namespace feedrate {
namespace {

// One file to check, and afterwards what was wrong with it.
struct Check {
  std::string name;  // relative to the dataset's folder
  SampleFile expected;
  std::string wrong;  // empty: as the manifest says
};

std::string find_wrong(const std::filesystem::path& path, const SampleFile& expected) {
  try {
    const FileHash found = hash_file(path);
    if (found.bytes != expected.bytes) {
      return "size " + std::to_string(found.bytes) + " instead of " +
             std::to_string(expected.bytes);
    }
    if (found.xxh3 != expected.xxh3) {
      return "checksum " + to_hex(found.xxh3) + " instead of " + to_hex(expected.xxh3);
    }
  } catch (const std::system_error& error) {
    return error.code().message();
  }
  return {};
}

// The files that the manifests list; a variant without a readable manifest is damage of its own.
std::vector<Check> list_checks(const std::filesystem::path& data, VerifyResult& result) {
  std::vector<Check> checks;
  const DatasetRecord record = read_dataset_record(data);
  for (const auto& [name, variant] : record.variants) {
    if (!variant.complete) {
      result.damaged.push_back(name + ": not complete, run `feedrate gen` again");
      continue;
    }
    try {
      for (SampleFile& sample : read_manifest(data, name, variant, record.classes)) {
        const std::string file = name + "/" + sample.path;
        checks.push_back({file, std::move(sample), {}});
      }
    } catch (const Error& error) {
      result.damaged.push_back(name + "/files.tsv: " + error.what());
    }
  }
  return checks;
}

// Workers take the next file until there is none; the calling thread is one of them.
class Verification {
 public:
  Verification(const std::filesystem::path& data, std::vector<Check>& checks,
               const std::function<void(std::uint64_t, std::uint64_t)>& on_progress)
      : data_(data), checks_(checks), on_progress_(on_progress) {
    for (const Check& check : checks_) total_ += check.expected.bytes;
  }

  void run(int threads) {
    std::vector<std::jthread> helpers;
    for (int i = 1; i < threads; ++i) helpers.emplace_back([this] { work(); });
    work();
    helpers.clear();  // joins
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void work() {
    try {
      for (std::size_t i = next_++; i < checks_.size(); i = next_++) {
        checks_[i].wrong = find_wrong(data_ / checks_[i].name, checks_[i].expected);
        report(checks_[i].expected.bytes);
      }
    } catch (...) {
      next_ = checks_.size();
      const std::scoped_lock lock(mutex_);
      error_ = std::current_exception();
    }
  }

  void report(std::uint64_t bytes) {
    const std::scoped_lock lock(mutex_);
    done_ += bytes;
    if (on_progress_) on_progress_(done_, total_);
  }

  const std::filesystem::path& data_;
  std::vector<Check>& checks_;
  const std::function<void(std::uint64_t, std::uint64_t)>& on_progress_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::exception_ptr error_;
  std::uint64_t done_ = 0, total_ = 0;
};

}  // namespace

VerifyResult verify_dataset(const std::filesystem::path& data, int threads,
                            const std::function<void(std::uint64_t, std::uint64_t)>& on_progress) {
  VerifyResult result;
  std::vector<Check> checks = list_checks(data, result);
  Verification(data, checks, on_progress).run(std::max(threads, 1));
  for (const Check& check : checks) {
    ++result.files;
    result.bytes += check.expected.bytes;
    if (!check.wrong.empty()) result.damaged.push_back(check.name + ": " + check.wrong);
  }
  return result;
}

}  // namespace feedrate
