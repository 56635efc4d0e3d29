#include "run/cell_memory.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "codec/any_picture.h"
#include "measure/memory.h"
#include "pipeline/loader.h"
#include "run/datasets.h"
#include "storage/dataset.h"

namespace feedrate::run {

namespace {

// Of many sizes: by the largest file. A JPEG or WebP has a byte for some 4 pixels, a PNG for one
// half, what is not compressed for a third. Of several formats it may be a JPEG.
double pixels_of_largest(const plan::CellSettings& s, const storage::DatasetVariant& dataset) {
  if (!s.mixed_sizes) return 1.0 * s.image_size.width * s.image_size.height;
  const auto largest = static_cast<double>(dataset.largest_bytes);
  const bool may_be_lossy = s.data == "jpeg" || s.data == "webp" || s.data == codec::kAnyPicture;
  return may_be_lossy ? std::min(4 * largest, 1.0 * codec::kMaxPixels) : largest / 2;
}

// Of all pictures, decoded. Of many sizes, a low estimate: memory is watched while they are
// decoded. A JPEG has at most about a byte for each pixel, and no other file is much larger than
// its pixels.
double decoded_bytes(const plan::CellSettings& s, const storage::DatasetVariant& dataset) {
  const auto samples = static_cast<double>(dataset.samples.size());
  if (!s.mixed_sizes) return samples * 3.0 * s.image_size.width * s.image_size.height;
  return (s.data == "jpeg" || s.data == "webp" ? 3.0 : 1.0) *
         static_cast<double>(dataset.total_bytes);
}

// The batches of a ceiling beside the cell, on a device whose memory is the machine's, see
// train/synthetic.h. A run that is not in pairs has none, but is not known here for all.
double synthetic_bytes(const plan::CellSettings& s) {
  constexpr double kBatches = 4, kMost = 1 << 30;
  const bool is_apart = s.page_cache == "cold" || s.loader == "dali";
  if (s.device_kind != "cpu" || (is_apart && !s.discards())) return 0;
  const double batch =
      3.0 * s.batch_size * s.input_size.width * s.input_size.height * sizeof(float);
  return std::max(batch, std::min(kBatches * batch, kMost));
}

}  // namespace

double bytes_held(const plan::CellSettings& s, const storage::DatasetVariant& dataset,
                  int gpus_here, bool ranks_are_apart) {
  const pipeline::BatchSpec spec = s.batch_spec(encoded_slot_of(s, &dataset));
  const double picture = pixels_of_largest(s, dataset);
  // A decoder holds about the whole picture, as coefficients or rows and as pixels. The file comes
  // on top.
  double decoder = s.data == "tensor" || s.raw_read ? 0 : 8.0 * picture;
  // One more whole picture, before it is cropped.
  if (s.augment.mask_colour == pipeline::MaskColour::whole) decoder += 3.0 * picture;
  const auto samples = static_cast<double>(dataset.samples.size());
  const auto files = static_cast<double>(dataset.total_bytes);
  constexpr double kManifestLine = 100;
  const double on_their_way = 1.0 * s.workers * (s.io_depth - 1) / s.batch_size;
  const double ahead =
      s.loader == "batch" ? 1.0 * s.workers * s.prefetch : s.prefetch + 5.0 + on_their_way;
  double bytes =
      static_cast<double>(spec.bytes()) * (ahead + 5) * gpus_here + kManifestLine * samples;
  const auto read = static_cast<double>(dataset.largest_bytes) * s.io_depth;
  bytes += (decoder + read) * std::max(s.workers, 1) * gpus_here;
  // DALI keeps each batch under way encoded, decoded and resized.
  if (s.loader == "dali") bytes += 3.0 * picture * s.batch_size * s.prefetch * gpus_here;
  if (s.cache == "host")
    bytes += static_cast<double>(spec.bytes()) * pipeline::host_cache_batches(spec) * gpus_here;
  bytes += synthetic_bytes(s) * gpus_here;
  const int caches = ranks_are_apart ? gpus_here : 1;
  if (s.cache == "encoded") bytes += caches * files;
  if (s.cache == "decoded") bytes += caches * decoded_bytes(s, dataset);
  if (s.cache == "sample") {
    // Pictures are kept as uint8.
    const std::size_t element = s.data == "tensor" ? codec::size_of(s.transfer) : 1;
    bytes += caches * samples * static_cast<double>(spec.sample_elements() * element);
  }
  return bytes;
}

double check_memory(const plan::CellSettings& s, const storage::DatasetVariant& dataset,
                    int gpus_here, bool ranks_are_apart) {
  const double needed = bytes_held(s, dataset, gpus_here, ranks_are_apart);
  const auto available = static_cast<double>(measure::memory_available());
  if (available == 0 || needed < 0.9 * available) return needed;
  throw Error("memory",
              "the cell needs " + std::to_string(static_cast<long>(needed / 1e6)) + " MB, " +
                  std::to_string(static_cast<long>(available / 1e6)) + " MB are available",
              "use a smaller --batch-size, fewer --workers or --gpus, or --cache none");
}

}  // namespace feedrate::run
