#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "codec/decoders.h"
#include "codec/image.h"
#include "codec/tensor.h"
#include "device/accelerator.h"
#include "pipeline/augment.h"
#include "pipeline/batch.h"
#include "pipeline/resize.h"
#include "pipeline/sampler.h"
#include "plan/cell.h"

namespace feedrate::plan {

// A cell's values with their types. Made once for each cell, constant afterwards.
struct CellSettings {
  std::string device = "emulated:inf";  // as typed: "cuda:1", "emulated:a100"
  std::string device_kind = "emulated", device_argument = "inf";  // the same, split at the colon
  std::string model, precision;
  std::string data = "synthetic", cache = "none", container = "files", page_cache;
  std::string loader = "pool";  // also of what is loaded without workers, by one thread
  int gpus = 1, batch_size = 1, workers = 0, prefetch = 1;
  int device_threads = 0;  // 0: not on the CPU
  codec::PixelSize image_size, input_size;
  std::string detail = "medium";  // of stored pictures
  bool mixed_sizes = false;       // of stored pictures: image_size means nothing
  codec::Dtype tensor_dtype = codec::Dtype::uint8, transfer = codec::Dtype::uint8;
  pipeline::AugmentPolicy augment;
  pipeline::ResizeFilter filter = pipeline::ResizeFilter::antialias;
  bool augment_on_device = false, decode_on_device = false, decode_scale = false;
  int engine_share = 100;  // percent of a batch that the GPU's JPEG engine decodes
  codec::DecoderKind decoder = codec::DecoderKind::own;  // on the host
  bool raw_read = false;
  std::string io = "buffered";
  int io_depth = 1;
  pipeline::Order order = pipeline::Order::shuffled;
  bool in_order = false, pin_workers = false, pin_memory = false;
  bool skip_bad = false;
  device::Feed feed = device::Feed::synthetic;
  bool pictures = false;  // what synthetic batches show; else normal noise
  device::StepOptions step;
  std::set<std::string> open_step;  // axes of it that the device is to find out, see Axis::open
  device::Emulation emulation;

  bool emulated() const { return device_kind == "emulated"; }
  // The steps wait for each copy, as on a CPU, or the loading does, which an emulated copy holds up
  // where one thread does both.
  bool has_serial_copies() const { return device_kind == "cpu" || (emulated() && workers == 0); }
  // DALI's threads are its own: nobody can delay them, and they tell of no single sample.
  bool workers_can_be_delayed() const { return loader != "dali"; }
  // A worker asks for no sample of the next batch before it has made the whole one: at each batch's
  // end no read is on its way.
  bool drains_each_batch() const { return workers == 0 || loader == "batch"; }
  // The most reads that a worker has in flight.
  int reads_of_worker() const {
    return drains_each_batch() ? std::min(io_depth, batch_size) : io_depth;
  }
  // Loaders work, and no step takes their batches.
  bool discards() const { return data != "synthetic" && cache == "discard"; }
  // Whether a loader works while it is measured.
  bool loads() const { return feed == device::Feed::streamed || discards(); }
  // Whether loader threads make batches meanwhile.
  bool has_workers_at_work() const { return loads() && workers > 0 && cache != "host"; }
  // While it is measured; else what is cached is read before that, or nothing is.
  bool reads_storage() const { return data != "synthetic" && (cache == "none" || discards()); }

  // `encoded_slot`: bytes that the dataset's largest file takes, where the device decodes; else 0.
  pipeline::BatchSpec batch_spec(std::size_t encoded_slot = 0) const;
  device::StepSpec step_spec(std::uint64_t seed, std::size_t encoded_slot = 0) const;
  // Where its samples lie below the dataset's folder, e.g. "jpeg/500x375"; empty for synthetic.
  std::string variant() const;
};

CellSettings settings_of(const Cell& cell);

}  // namespace feedrate::plan
