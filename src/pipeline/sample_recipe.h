#pragma once
#include <memory>
#include <vector>

#include "codec/codec.h"
#include "codec/decoders.h"
#include "measure/delays.h"
#include "pipeline/augment.h"
#include "pipeline/bad_samples.h"
#include "pipeline/batch.h"
#include "pipeline/cached_sample.h"
#include "pipeline/noted_samples.h"
#include "pipeline/planted_times.h"
#include "pipeline/resize.h"
#include "storage/dataset.h"
#include "storage/io_engine.h"
#include "storage/outstanding_reads.h"

namespace feedrate::pipeline {

class ExtraReads;

// What samples are made of, the same for all workers of a rank. Outlives every source.
struct SampleRecipe {
  const storage::DatasetVariant* dataset = nullptr;
  const codec::Format* format = nullptr;                 // null: precached tensors
  codec::DecoderKind decoder = codec::DecoderKind::own;  // of pictures, on the host
  bool raw_read = false;  // files are read and thrown away; what a batch holds means nothing
  storage::Io io;
  BatchSpec spec;
  ResizeFilter filter = ResizeFilter::antialias;
  bool decode_scale =
      false;  // a window at least twice the output is decoded at 1/2, 1/4, 1/8 of its size
  AugmentPolicy augment;
  bool augment_on_device =
      false;  // samples are whole pictures of spec.size; what is drawn goes with the batch
  const PlantedTimes* planted = nullptr;
  // Of each sample, in the thread that makes it; no stage counts them. Null: none.
  const measure::Delays* delays = nullptr;
  ExtraReads* extra_reads = nullptr;  // is told of each sample that was made; may be null
  std::shared_ptr<storage::OutstandingReads>
      reads;  // is told what is read; null: nobody wants to know
  std::shared_ptr<BadSamples>
      bad;  // takes samples that cannot be made; null: the first one ends the run
  std::shared_ptr<NotedSamples>
      stray_bytes;  // takes pictures in which the decoder passed over some; null: nobody asks it
  std::shared_ptr<const std::vector<CachedSample>>
      encoded_cache;  // cache=encoded: a file's bytes by sample
  std::shared_ptr<const std::vector<CachedSample>>
      decoded_cache;  // cache=decoded: whole pictures, RGB
  std::shared_ptr<const std::vector<CachedSample>>
      sample_cache;  // cache=sample: finished samples (pictures: uint8)

  bool reads_storage() const { return !encoded_cache && !decoded_cache && !sample_cache; }
};

}  // namespace feedrate::pipeline
