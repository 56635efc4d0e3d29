#include "experiment/cell_memory.h"

#include <algorithm>
#include <string>

#include "measure/error.h"
#include "measure/memory.h"
#include "pipeline/encoded_slot.h"

namespace feedrate {

double bytes_held(const CellSettings& s, const DatasetVariant& dataset, bool ranks_are_apart) {
  // A decoder has about the picture as coefficients or rows, and as pixels; the file lies beside it.
  const double decoder = s.data == "tensor" ? 0 : 8.0 * s.image_size.width * s.image_size.height;
  const auto samples = static_cast<double>(dataset.samples.size());
  constexpr double kManifestLine = 100;
  const auto batch = static_cast<double>(s.batch_spec().bytes());
  const double ahead = s.loader == "batch" ? 1.0 * s.workers * s.prefetch : s.prefetch + 5.0;
  double bytes = batch * (ahead + 5) * s.gpus + kManifestLine * samples;
  bytes += (decoder + static_cast<double>(dataset.total_bytes) / std::max(samples, 1.0)) * std::max(s.workers, 1) * s.gpus;
  // DALI keeps each batch under way encoded, decoded and resized.
  if (s.loader == "dali") bytes += 3.0 * s.image_size.width * s.image_size.height * s.batch_size * s.prefetch * s.gpus;
  const int caches = ranks_are_apart ? s.gpus : 1;  // each process has its own
  if (s.cache == "encoded") bytes += caches * static_cast<double>(dataset.total_bytes);
  if (s.cache == "sample") {
    const std::size_t element = s.data == "tensor" ? size_of(s.transfer) : 1;  // pictures are kept as uint8
    bytes += caches * static_cast<double>(dataset.samples.size() * s.batch_spec().sample_elements() * element);
  }
  return bytes;
}

void check_memory(const CellSettings& s, const DatasetVariant& dataset, bool ranks_are_apart) {
  const double needed = bytes_held(s, dataset, ranks_are_apart);
  const auto available = static_cast<double>(memory_available());
  if (available == 0 || needed < 0.9 * available) return;
  throw Error("memory", "the cell needs " + std::to_string(static_cast<long>(needed / 1e6)) + " MB, " +
                            std::to_string(static_cast<long>(available / 1e6)) + " MB are available",
              "use a smaller --batch-size, fewer --workers or --gpus, or --cache none");
}

void make_room(CellSettings& s, const DatasetVariant* dataset) {
  if (!s.decode_on_device || dataset == nullptr) return;
  std::size_t largest = 0;
  for (const SampleFile& file : dataset->samples) largest = std::max<std::size_t>(largest, file.bytes);
  s.encoded_slot = encoded_slot_for(largest);
}

}  // namespace feedrate
