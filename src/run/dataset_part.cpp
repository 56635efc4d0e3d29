#include "run/dataset_part.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/xxh3.h"
#include "storage/container.h"

namespace feedrate::run {
namespace {

// Which samples make a part, in their order. Each n-th of the list would be of few classes where
// these follow each other in turn, as `gen` has them.
std::vector<std::size_t> spread_over_classes(const std::vector<storage::SampleFile>& samples,
                                             std::size_t kept) {
  std::vector<std::size_t> by_class(samples.size());
  std::iota(by_class.begin(), by_class.end(), std::size_t{0});
  std::ranges::stable_sort(by_class, {}, [&](std::size_t i) { return samples[i].label; });
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < kept; ++i) chosen.push_back(by_class[i * samples.size() / kept]);
  std::ranges::sort(chosen);
  return chosen;
}

std::size_t classes_in(const std::vector<storage::SampleFile>& samples) {
  std::set<std::int32_t> labels;
  for (const storage::SampleFile& sample : samples) labels.insert(sample.label);
  return labels.size();
}

// Packed files that hold none of the samples, which are in the files' order.
void leave_out_unused_files(storage::DatasetVariant& dataset) {
  if (dataset.packed.empty()) return;
  std::vector<std::string> packed;
  std::vector<std::uint64_t> bytes;
  std::uint32_t last = 0;
  for (storage::SampleFile& sample : dataset.samples) {
    if (packed.empty() || sample.shard != last) {
      last = sample.shard;
      packed.push_back(dataset.packed[last]);
      bytes.push_back(dataset.packed_bytes[last]);
    }
    sample.shard = static_cast<std::uint32_t>(packed.size() - 1);
  }
  dataset.packed = std::move(packed), dataset.packed_bytes = std::move(bytes);
}

}  // namespace

bool keeps_samples(const plan::CellSettings& settings) {
  return settings.cache == "encoded" || settings.cache == "decoded" || settings.cache == "sample";
}

std::size_t kept_samples(const plan::CellSettings& settings, std::size_t samples,
                         std::size_t most) {
  if (most == 0 || !keeps_samples(settings)) return samples;
  // A pass over them must not be over within a few batches.
  const auto least =
      8 * static_cast<std::size_t>(settings.batch_size) * static_cast<std::size_t>(settings.gpus);
  return std::min(samples, std::max(most, least));
}

void keep_part(storage::DatasetVariant& dataset, std::size_t kept) {
  const std::size_t all = dataset.samples.size();
  if (kept == 0 || kept >= all) return;
  if (!dataset.container->takes_engines) {
    throw UsageError("--samples", dataset.folder.string() + " is read whole, by a library",
                     "use another --container, or leave it out");
  }
  const std::size_t all_classes = classes_in(dataset.samples);
  const std::vector<std::size_t> chosen = spread_over_classes(dataset.samples, kept);
  for (std::size_t i = 0; i < kept; ++i) {
    if (chosen[i] != i) dataset.samples[i] = std::move(dataset.samples[chosen[i]]);
  }
  dataset.samples.resize(kept);
  dataset.samples.shrink_to_fit();
  leave_out_unused_files(dataset);
  storage::sum_up(dataset);
  const std::size_t classes = classes_in(dataset.samples);
  dataset.made["samples"] = std::to_string(kept) + " of " + std::to_string(all) +
                            (classes == all_classes ? ", spread over all classes"
                                                    : ", of " + std::to_string(classes) + " of " +
                                                          std::to_string(all_classes) + " classes");
  dataset.manifest_xxh3 = to_hex(xxh3_of(dataset.manifest_xxh3 + "\t" + dataset.made["samples"]));
}

std::shared_ptr<const storage::DatasetVariant> part_of(const storage::DatasetVariant& dataset,
                                                       std::size_t kept) {
  const std::size_t all = dataset.samples.size();
  if (kept >= all) return nullptr;
  auto part = std::make_shared<storage::DatasetVariant>(dataset);
  part->samples.clear();
  for (std::size_t i = 0; i < kept; ++i) part->samples.push_back(dataset.samples[i * all / kept]);
  storage::sum_up(*part);
  return part;
}

}  // namespace feedrate::run
