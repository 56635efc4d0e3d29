#include "storage/verify.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "base/file_remedy.h"
#include "base/in_parallel.h"
#include "base/whole_file.h"
#include "base/xxh3.h"
#include "storage/container.h"
#include "storage/dataset.h"
#include "storage/listing.h"
#include "storage/manifest.h"

namespace feedrate::storage {
namespace {

// What is wrong with a file.
struct Finding {
  enum class Kind : std::uint8_t { damaged, unreadable, bad };
  std::string text;  // empty: nothing
  Kind kind = Kind::damaged;
};
// One file to check, and afterwards what was found.
struct Check {
  std::string name;  // relative to the dataset's folder
  SampleFile expected;
  const DatasetVariant* variant;
  Finding finding{};
};
using Variants = std::vector<std::unique_ptr<DatasetVariant>>;

void keep(VerifyResult& result, const std::string& name, const Finding& finding) {
  if (finding.text.empty()) return;
  std::vector<std::string>& lines = finding.kind == Finding::Kind::unreadable ? result.unreadable
                                    : finding.kind == Finding::Kind::bad      ? result.bad
                                                                              : result.damaged;
  lines.push_back(name + ": " + finding.text);
}

CheckSample check_of_thread(const MakeCheck& make_check) {
  return make_check ? make_check() : CheckSample();
}

// Of a sample of which nothing else is wrong.
Finding look_at_bytes(const CheckSample& check, std::span<const std::byte> bytes,
                      const std::string& name) {
  if (!check) return {};
  return {check(bytes, name), Finding::Kind::bad};
}

// Of the exception that is being handled.
Finding failure() {
  try {
    throw;
  } catch (const UnreadableError& error) {
    return {error.what(), Finding::Kind::unreadable};
  } catch (const Error& error) {
    return {error.what()};
  } catch (const std::system_error& error) {
    const std::string_view cure = cure_of_reading(error.code().value());
    const std::string reason = error.code().message();
    if (cure.empty()) return {reason};
    return {reason + "; " + std::string(cure), Finding::Kind::unreadable};
  }
}

Finding compare(std::uint64_t found, const SampleFile& expected) {
  if (found == expected.xxh3) return {};
  return {"checksum " + to_hex(found) + " instead of " + to_hex(expected.xxh3)};
}

// A file of any length may hang in its middle, and take long while it does not. `kept`, which may
// be null, becomes its bytes.
FileHash hash_watched(const std::filesystem::path& path, const VerifyWaits& waits_for,
                      std::vector<std::byte>* kept) {
  const std::string name = path.string();
  waits_for(name);
  if (kept) kept->clear();
  return hash_file(path, [&](std::span<const std::byte> piece) {
    if (kept) kept->insert(kept->end(), piece.begin(), piece.end());
    waits_for(name);
  });
}

Finding find_wrong(const std::filesystem::path& path, const SampleFile& expected,
                   const VerifyWaits& waits_for, std::vector<std::byte>* kept) {
  try {
    const FileHash found = hash_watched(path, waits_for, kept);
    if (found.bytes == expected.bytes) return compare(found.xxh3, expected);
    return {"size " + std::to_string(found.bytes) + " instead of " +
            std::to_string(expected.bytes)};
  } catch (const std::system_error&) {
    return failure();
  }
}

// The same of a sample in a packed file.
Finding find_wrong(Storage& storage, const SampleFile& expected, Buffer& buffer) {
  try {
    storage.read(expected, buffer);
  } catch (const Error&) {
    return failure();
  }
  return compare(xxh3_of(buffer.bytes()), expected);
}

// One reader, and the storage that it opens once.
class Checker {
 public:
  // `waits_for` outlives it.
  Checker(const VerifyWaits& waits_for, CheckSample check)
      : waits_for_(waits_for), check_(std::move(check)) {}

  void check(const std::filesystem::path& data, Check& check) {
    const DatasetVariant& variant = *check.variant;
    const bool is_file = variant.packed.empty();
    if (is_file) {
      check.finding =
          find_wrong(data / check.name, check.expected, waits_for_, check_ ? &file_ : nullptr);
    } else {
      waits_for_(name_sample(variant, check.expected));
      auto& storage = packed_[&variant];
      if (!storage) storage = make_storage(variant);
      check.finding = find_wrong(*storage, check.expected, buffer_);
    }
    if (check.finding.text.empty())
      check.finding = look_at_bytes(
          check_, is_file ? std::span<const std::byte>(file_) : buffer_.bytes(), check.name);
  }

 private:
  const VerifyWaits& waits_for_;
  const CheckSample check_;
  std::map<const DatasetVariant*, std::unique_ptr<Storage>> packed_;
  std::vector<std::byte> file_;
  Buffer buffer_;
};

// Checks what cannot be checked sample by sample: the manifest, and whether packed files can be
// opened.
std::unique_ptr<DatasetVariant> open_variant(const std::filesystem::path& data,
                                             const std::string& name, const DatasetRecord& record,
                                             VerifyResult& result) {
  std::unique_ptr<DatasetVariant> variant;
  try {
    variant = std::make_unique<DatasetVariant>(read_variant(data, name, record));
  } catch (const Error&) {
    keep(result, name + "/files.tsv", failure());
    return nullptr;
  }
  if (variant->packed.empty()) return variant;
  try {
    make_storage(*variant);
  } catch (const Error&) {
    keep(result, name, failure());
    return nullptr;
  }
  return variant;
}

// The files that the manifests list, and the variants that have one; a variant without a readable
// manifest is damage of its own.
std::vector<Check> list_checks(const std::filesystem::path& data, VerifyResult& result,
                               Variants& variants, const VerifyWaits& waits_for) {
  std::vector<Check> checks;
  waits_for(data.string());
  const DatasetRecord record = read_dataset_record(data);
  for (const auto& [name, variant] : record.variants) {
    if (!variant.complete) {
      result.damaged.push_back(name + ": not complete, run `feedrate gen` again");
      continue;
    }
    waits_for((data / name).string());
    auto opened = open_variant(data, name, record, result);
    if (!opened) continue;
    for (const SampleFile& sample : opened->samples)
      checks.push_back({name + "/" + sample.path, sample, opened.get()});
    variants.push_back(std::move(opened));
  }
  return checks;
}

// Files below a variant's folder that its manifest does not list: a program that reads the whole
// folder, such as torchvision's ImageFolder, reads them too.
void find_unlisted(const std::filesystem::path& data, const DatasetVariant& variant,
                   VerifyResult& result, const VerifyWaits& waits_for) {
  waits_for(variant.folder.string());
  std::set<std::filesystem::path> listed{variant.folder / "files.tsv"};
  for (std::size_t i = 0; i < stored_files(variant); ++i) listed.insert(stored_file(variant, i));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           variant.folder, std::filesystem::directory_options::skip_permission_denied)) {
    waits_for(entry.path().string());
    std::error_code error;
    const bool is_file = entry.is_regular_file(error);
    if (error && !leads_nowhere(error.value())) throw std::system_error(error);
    if (!is_file || listed.contains(entry.path())) continue;
    keep(result, entry.path().lexically_relative(data).generic_string(),
         {"not in the manifest; remove it"});
  }
}

void find_unlisted(const std::filesystem::path& data, const Variants& variants,
                   VerifyResult& result, const VerifyWaits& waits_for) {
  for (const auto& variant : variants) {
    try {
      find_unlisted(data, *variant, result, waits_for);
    } catch (const std::system_error&) {  // of a folder
      keep(result, variant->folder.lexically_relative(data).generic_string(), failure());
    }
  }
}

// A reader of samples that have no checksum yet.
class OwnReader {
 public:
  // `variant` and `waits_for` outlive it.
  OwnReader(const DatasetVariant& variant, const VerifyWaits& waits_for, CheckSample check)
      : variant_(variant), waits_for_(waits_for), check_(std::move(check)) {
    if (!variant.packed.empty()) storage_ = make_storage(variant);
  }

  // Fills in the sample's checksum; returns what is wrong, or nothing.
  Finding read(SampleFile& sample) {
    try {
      if (storage_) {
        waits_for_(name_sample(variant_, sample));
        storage_->read(sample, buffer_);
        sample.xxh3 = xxh3_of(buffer_.bytes());
        return look_at_bytes(check_, buffer_.bytes(), sample.path);
      }
      const FileHash found =
          hash_watched(variant_.folder / sample.path, waits_for_, check_ ? &file_ : nullptr);
      sample.xxh3 = found.xxh3;
      if (found.bytes != sample.bytes) return {"changed while it was read"};
      return look_at_bytes(check_, file_, sample.path);
    } catch (const std::exception&) {
      return failure();
    }
  }

 private:
  const DatasetVariant& variant_;
  const VerifyWaits& waits_for_;
  const CheckSample check_;
  std::unique_ptr<Storage> storage_;  // null: each sample is a file
  std::vector<std::byte> file_;
  Buffer buffer_;
};

}  // namespace

VerifyResult verify_own_folder(DatasetVariant variant, int threads,
                               const VerifyProgress& on_progress, const VerifyWaits& waits_for,
                               const MakeCheck& make_check) {
  VerifyResult result{.files = variant.samples.size(), .bytes = variant.total_bytes};
  std::uint64_t done = 0;
  std::mutex mutex;
  in_parallel(
      variant.samples.size(), std::max(threads, 1),
      [&] {
        const auto reader =
            std::make_shared<OwnReader>(variant, waits_for, check_of_thread(make_check));
        return [&, reader](std::size_t i) {
          SampleFile& sample = variant.samples[i];
          const Finding finding = reader->read(sample);
          const std::scoped_lock lock(mutex);
          done += sample.bytes;
          keep(result, sample.path, finding);
          if (on_progress) on_progress(done, variant.total_bytes);
        };
      },
      [] { return false; });
  std::ranges::sort(result.damaged);
  std::ranges::sort(result.unreadable);
  std::ranges::sort(result.bad);
  if (!result.is_whole()) return result;  // not all contents are known
  std::string all;
  for (const SampleFile& sample : variant.samples)
    all += sample.path + "\t" + to_hex(sample.xxh3) + "\n";
  result.contents_xxh3 = to_hex(xxh3_of(all));
  return result;
}

VerifyResult verify_dataset(const std::filesystem::path& data, int threads,
                            const VerifyProgress& on_progress, const VerifyWaits& waits_for,
                            const MakeCheck& make_check) {
  VerifyResult result;
  Variants variants;
  std::vector<Check> checks = list_checks(data, result, variants, waits_for);
  std::uint64_t done = 0, total = 0;
  for (const Check& check : checks) total += check.expected.bytes;
  std::mutex mutex;
  in_parallel(
      checks.size(), std::max(threads, 1),
      [&] {
        const auto checker = std::make_shared<Checker>(waits_for, check_of_thread(make_check));
        return [&, checker](std::size_t i) {
          checker->check(data, checks[i]);
          const std::scoped_lock lock(mutex);
          done += checks[i].expected.bytes;
          if (on_progress) on_progress(done, total);
        };
      },
      [] { return false; });
  for (const Check& check : checks) {
    ++result.files;
    result.bytes += check.expected.bytes;
    keep(result, check.name, check.finding);
  }
  find_unlisted(data, variants, result, waits_for);
  return result;
}

}  // namespace feedrate::storage
