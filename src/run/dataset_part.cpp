#include "run/dataset_part.h"

#include <algorithm>

namespace feedrate::run {

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
