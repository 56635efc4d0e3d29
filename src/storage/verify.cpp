#include <algorithm>
#include <mutex>
#include <set>
#include <string>
#include <system_error>

#include "measure/error.h"
#include "measure/in_parallel.h"
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

// The files that the manifests list, and the variants that have one; a variant without a readable manifest is damage of its own.
std::vector<Check> list_checks(const std::filesystem::path& data, VerifyResult& result, std::vector<std::string>& variants) {
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
      variants.push_back(name);
    } catch (const Error& error) {
      result.damaged.push_back(name + "/files.tsv: " + error.what());
    }
  }
  return checks;
}

// Files below a variant's folder that its manifest does not know: who reads the folder as it is, such as
// torchvision's ImageFolder, reads them too.
void find_unlisted(const std::filesystem::path& data, const std::vector<std::string>& variants,
                   const std::vector<Check>& checks, VerifyResult& result) {
  std::set<std::string> listed;
  for (const Check& check : checks) listed.insert(check.name);
  for (const std::string& variant : variants) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(
             data / variant, std::filesystem::directory_options::skip_permission_denied)) {
      const std::string name = entry.path().lexically_relative(data).generic_string();
      if (!entry.is_regular_file() || listed.contains(name) || name == variant + "/files.tsv") continue;
      result.damaged.push_back(name + ": not in the manifest; remove it");
    }
  }
}

}  // namespace

VerifyResult verify_dataset(const std::filesystem::path& data, int threads,
                            const std::function<void(std::uint64_t, std::uint64_t)>& on_progress) {
  VerifyResult result;
  std::vector<std::string> variants;
  std::vector<Check> checks = list_checks(data, result, variants);
  std::uint64_t done = 0, total = 0;
  for (const Check& check : checks) total += check.expected.bytes;
  std::mutex mutex;
  in_parallel(checks.size(), std::max(threads, 1), [&] {
    return [&](std::size_t i) {
      checks[i].wrong = find_wrong(data / checks[i].name, checks[i].expected);
      const std::scoped_lock lock(mutex);
      done += checks[i].expected.bytes;
      if (on_progress) on_progress(done, total);
    };
  }, [] { return false; });
  for (const Check& check : checks) {
    ++result.files;
    result.bytes += check.expected.bytes;
    if (!check.wrong.empty()) result.damaged.push_back(check.name + ": " + check.wrong);
  }
  find_unlisted(data, variants, checks, result);
  return result;
}

}  // namespace feedrate
