#include "run/rank_task.h"

#include <utility>

#include "codec/any_picture.h"
#include "data_gen/drawn_batch.h"
#include "measure/affinity.h"
#include "pipeline/caches.h"
#include "run/dataset_part.h"
#include "run/datasets.h"
#include "run/pairs.h"

namespace feedrate::run {
namespace {

storage::Io io_of(const plan::CellSettings& settings) {
  return {&storage::find_io_engine(settings.io), settings.io_depth};
}

// Null: precached tensors.
const codec::Format* format_of(const plan::CellSettings& settings,
                               const storage::DatasetVariant& dataset) {
  return settings.data == "tensor"   ? nullptr
         : dataset.contents_decide() ? &codec::any_picture_format()
                                     : codec::find_picture_format(settings.data);
}

// Whether its pictures are decoded by what tells of stray bytes: OpenCV, DALI and decoders on a
// device do not.
bool sees_stray_bytes(const plan::CellSettings& settings) {
  return settings.data != "tensor" && !settings.raw_read && !settings.decode_on_device &&
         settings.loader != "dali" && settings.decoder != codec::DecoderKind::opencv;
}

std::shared_ptr<const pipeline::SampleRecipe> recipe_of(
    const RankTask& task, const RunOptions& options, const storage::DatasetVariant& dataset,
    std::shared_ptr<storage::OutstandingReads> reads, std::stop_token stop) {
  const plan::CellSettings& settings = task.settings;
  pipeline::SampleRecipe recipe{.dataset = &dataset,
                                .format = format_of(settings, dataset),
                                .decoder = settings.decoder,
                                .raw_read = settings.raw_read,
                                .io = io_of(settings),
                                .spec = task.step.batch,
                                .filter = settings.filter,
                                .decode_scale = settings.decode_scale,
                                .augment = settings.augment,
                                .augment_on_device = settings.augment_on_device,
                                .planted = options.plant ? &options.planted : nullptr};
  recipe.reads = std::move(reads);
  if (settings.skip_bad) recipe.bad = std::make_shared<pipeline::BadSamples>();
  if (sees_stray_bytes(settings))
    recipe.stray_bytes = std::make_shared<pipeline::NotedSamples>(dataset.samples.size());
  const int threads = measure::allowed_cpus();
  const auto tell = [&](std::size_t done, std::size_t samples) {
    if (task.progress) task.progress({.cached = done, .to_cache = samples});
  };
  if (settings.cache == "encoded")
    recipe.encoded_cache = pipeline::fill_encoded_cache(recipe, threads, stop, tell);
  if (settings.cache == "decoded")
    recipe.decoded_cache = pipeline::fill_decoded_cache(recipe, threads, stop, tell);
  if (settings.cache == "sample")
    recipe.sample_cache =
        pipeline::fill_sample_cache(recipe, task.options.seed, threads, stop, tell);
  return std::make_shared<const pipeline::SampleRecipe>(std::move(recipe));
}

}  // namespace

RankTask make_rank_task(const plan::CellSettings& settings, const RunOptions& options,
                        device::AcceleratorRegistry& registry,
                        const storage::DatasetVariant* dataset,
                        std::shared_ptr<storage::OutstandingReads> reads, ProgressSink progress,
                        std::stop_token stop) {
  RankTask task{.settings = settings,
                .options = options,
                .kind = &registry.find(settings.device),
                .step = settings.step_spec(options.seed, encoded_slot_of(settings, dataset)),
                .progress = std::move(progress)};
  if (options.in_pairs)
    task.options.blocks = pairs_of(settings, options.limits, options.pairs_seed);
  if (!options.plant) task.options.planted_delays = {};
  task.step.classes = options.outputs;
  if (settings.pictures) task.step.draw = data_gen::draw_batch;
  if (!dataset) return task;
  task.part =
      part_of(*dataset, kept_samples(settings, dataset->samples.size(), options.most_cached));
  task.recipe = recipe_of(task, options, task.part ? *task.part : *dataset, std::move(reads),
                          std::move(stop));
  return task;
}

}  // namespace feedrate::run
