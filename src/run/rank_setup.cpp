#include "run/rank_setup.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/random.h"

namespace feedrate::run {
namespace {

pipeline::SampleOrder order_of(pipeline::Order order, const storage::DatasetVariant& dataset) {
  pipeline::SampleOrder all{.order = order};
  if (order != pipeline::Order::by_shard) return all;
  const auto& samples = dataset.samples;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (i == 0 || samples[i].shard != samples[i - 1].shard)
      all.first_of_shard.push_back(static_cast<std::int64_t>(i));
  }
  return all;
}

// A second pass over a cold cell's data would find the files in the cache.
std::int64_t pass_steps_of(const RankTask& task, const device::Group& group) {
  if (!task.recipe || task.settings.page_cache != "cold") return 0;
  return static_cast<std::int64_t>(task.recipe->dataset->samples.size()) / group.size() /
         task.settings.batch_size;
}

// Batches for the training thread, whatever the feed. Of the setup all is there but the loader.
std::unique_ptr<pipeline::Loader> open_loader(const RankTask& task, const device::Group& group,
                                              const RankSetup& setup) {
  if (!task.recipe) return nullptr;
  const plan::CellSettings& s = task.settings;
  const storage::DatasetVariant& dataset = *task.recipe->dataset;
  const pipeline::Sampler sampler(static_cast<std::int64_t>(dataset.samples.size()),
                                  task.options.seed, group.rank(), group.size(),
                                  order_of(s.order, dataset));
  const auto slabs = setup.device->slabs();
  pipeline::LoaderOptions options{*task.recipe, sampler, s.workers, s.prefetch, slabs, s.in_order};
  if (s.pin_workers) options.first_cpu = group.rank() * s.workers;
  // Workers must not read ahead into a second pass. A pass of fewer steps may be over before its
  // window: a device is two steps behind.
  if (setup.pass_steps >= 8) options.batches = setup.pass_steps;
  options.trace = setup.trace.get();
  options.recipe.delays = setup.served;
  options.recipe.extra_reads = setup.extra_reads.get();
  if (task.options.planted_rank.value_or(group.rank()) != group.rank())
    options.recipe.planted = nullptr;
  auto loader = pipeline::make_loader(s.loader, std::move(options));
  if (s.cache != "host") return loader;
  const pipeline::BatchSpec& spec = task.recipe->spec;
  return pipeline::make_host_cache(std::move(loader), spec, slabs,
                                   pipeline::host_cache_batches(spec));
}

// Null where no block asks for them, or they cannot be had: none are counted then.
std::unique_ptr<pipeline::ExtraReads> open_extra_reads(const RankTask& task,
                                                       const device::Group& group,
                                                       const measure::Delays* delays) {
  const auto is_storage = [](const Block& block) { return block.place == measure::Place::storage; };
  if (!task.recipe || !delays || std::ranges::none_of(task.options.blocks.blocks, is_storage))
    return nullptr;
  // Twice as many as a fifth of the workers' reads keeps busy.
  constexpr int kLeast = 2, kMost = 64;
  const int in_flight = std::max(task.settings.workers, 1) * task.settings.io_depth;
  try {
    return std::make_unique<pipeline::ExtraReads>(
        *task.recipe->dataset, *delays, std::clamp(2 * in_flight / 5, kLeast, kMost),
        mix64(task.options.seed, static_cast<std::uint64_t>(group.rank())),
        task.recipe->reads.get());
  } catch (const std::runtime_error&) {  // too few descriptors or threads, no O_DIRECT
    return nullptr;
  }
}

// Null where each step takes its batch, or there are none.
std::unique_ptr<BatchDrain> open_discarding(const RankTask& task, pipeline::Loader* loader) {
  if (!loader || !task.settings.discards()) return nullptr;
  return std::make_unique<BatchDrain>(*loader);
}

// Null where none was asked for.
std::shared_ptr<measure::Trace> open_trace(const RankTask& task, const device::Group& group) {
  if (task.options.trace.empty()) return nullptr;
  return std::make_shared<measure::Trace>(group.rank(), task.settings.batch_size);
}

std::unique_ptr<device::Accelerator> open_device(const RankTask& task, device::Group& group,
                                                 measure::Trace* trace,
                                                 const measure::Delays* delays, KeptDevice& kept) {
  if (auto device = kept.take(task, group)) return device;
  device::StepSpec step = task.step;
  step.delays = delays;
  step.synthetic_beside = task.options.blocks.in_pairs;
  if (trace) step.copies = &trace->copies();
  return task.kind->make(task.settings.device_argument, step, group);
}

// Null: nothing is ever delayed.
const measure::Delays* plant_delays(const RankTask& task, measure::Delays& delays) {
  bool any = !task.options.blocks.blocks.empty() && !task.options.blocks.in_pairs;
  for (const measure::Place place : measure::kPlaces) {
    const std::int64_t ns = task.options.planted_delays[static_cast<std::size_t>(place)];
    delays.plant(place, ns);
    any = any || ns > 0;
  }
  return any ? &delays : nullptr;
}

}  // namespace

RankSetup::RankSetup(const RankTask& task, device::Group& group, KeptDevice& kept)
    : pass_steps(pass_steps_of(task, group)),
      trace(open_trace(task, group)),
      served(plant_delays(task, delays)),
      device(open_device(task, group, trace.get(), served, kept)),
      extra_reads(open_extra_reads(task, group, served)),
      loader(open_loader(task, group, *this)),
      discarding(open_discarding(task, loader.get())) {}

}  // namespace feedrate::run
