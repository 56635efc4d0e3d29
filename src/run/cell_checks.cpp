#include "run/cell_checks.h"

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "codec/decoders.h"
#include "pipeline/encoded_slot.h"
#include "pipeline/loader.h"
#include "run/cell_memory.h"
#include "run/dataset_part.h"
#include "storage/container.h"
#include "storage/dataset.h"
#include "storage/placed_files.h"
#include "storage/tar_shards.h"

namespace feedrate::run {
namespace {

// The last layer of a ResNet-50 then has 200 million weights, eight times as many as all others.
constexpr int kMostClasses = 100'000;

// Opens each packed file by itself, so that one that hangs is named, and thousands that open
// quickly one after the other are not taken for one that hangs.
void open_each(const storage::DatasetVariant& dataset, storage::OutstandingReads::Slot& slot) {
  for (std::size_t i = 0; i < dataset.packed.size(); ++i) {
    slot.begin(storage::first_sample_in(dataset, i));
    storage::ReadOnlyFile{storage::stored_file(dataset, i).string()};
  }
  slot.end();
}

void check_engine(const plan::CellSettings& settings) {
  const storage::IoEngine& engine = storage::find_io_engine(settings.io);
  if (engine.check) engine.check();
}

// What a cell reads, tried in its way; null for synthetic ones. Throws an UnreadableDataset. What
// the user typed wrong, and what the machine cannot do, is no fault of the dataset.
std::shared_ptr<const storage::DatasetVariant> readable_dataset(const plan::Cell& cell,
                                                                const plan::CellSettings& settings,
                                                                const RunOptions& options,
                                                                CellRanks& ranks,
                                                                Datasets& datasets) {
  const std::string variant = settings.variant(), way = way_of_reading(settings);
  if (variant.empty()) return nullptr;
  check_engine(settings);
  datasets.refuse_unreadable(variant, way);
  try {
    ranks.probe_cell_data(cell, settings, options, datasets);
    auto dataset = datasets.of(settings);
    check_reading(settings, *dataset, nullptr);
    return dataset;
  } catch (const UsageError&) {
    throw;
  } catch (const storage::MissingVariant&) {  // was never made: so is this
    throw;
  } catch (const std::runtime_error& error) {
    datasets.note_unreadable(variant, way, error.what());
    throw UnreadableDataset(error.what());
  }
}

// How long a shard may become is not an option of `gen`, so that more of them need more samples.
[[noreturn]] void refuse_by_shard(const storage::DatasetVariant& dataset) {
  const std::string folder = dataset.folder.string();
  constexpr std::string_view kOrder = "--order by-shard";
  const storage::Container& container = *dataset.container;
  if (container.name != storage::kShardsContainer) {
    throw UsageError(kOrder, folder + " does not lie in several packed files",
                     "use --container webdataset, or --order sequential");
  }
  if (container.pack == nullptr) {  // of the user's own
    throw UsageError(kOrder, folder + " holds one shard",
                     "put its samples into several tar files, or use --order sequential");
  }
  throw UsageError(kOrder, folder + " lies in one shard",
                   "use --order sequential, or a dataset of several: `gen` begins another shard "
                   "at " +
                       std::to_string(container.layout.most >> 20) +
                       " MiB, so give it a larger --count or --image-size");
}

void check_dataset(const plan::CellSettings& settings, const storage::DatasetVariant& dataset) {
  const std::string folder = dataset.folder.string();
  if (dataset.classes > kMostClasses) {
    throw Error(folder,
                "has " + std::to_string(dataset.classes) + " classes, the network at most " +
                    std::to_string(kMostClasses),
                "use a part of it: at most that many class folders");
  }
  if (settings.order == pipeline::Order::by_shard && dataset.packed.size() < 2) {
    refuse_by_shard(dataset);
  }
  const auto samples = static_cast<std::int64_t>(dataset.samples.size());
  if (samples < settings.gpus) {
    throw Error(folder, "has fewer samples than there are GPUs",
                "make more: `feedrate gen --count`");
  }
  // A device that captures graphs is not measured before its eighth step, one of several GPUs not
  // before its sixteenth.
  const bool may_be_graph = settings.step.cuda_graph || settings.open_step.contains("cuda-graph");
  const int least_steps = !may_be_graph ? 4 : settings.gpus == 1 ? 16 : 24;
  const std::int64_t least = std::int64_t{least_steps} * settings.batch_size;
  if (settings.page_cache == "cold" && samples / settings.gpus < least) {
    throw Error(folder,
                "is too small for a cold run: less than " + std::to_string(least_steps) +
                    " batches of " + std::to_string(settings.batch_size) + " for each GPU",
                "a cold run is one pass at most: make more pictures, or use a smaller "
                "--batch-size");
  }
}

}  // namespace

void check_reading(const plan::CellSettings& settings, const storage::DatasetVariant& dataset,
                   storage::OutstandingReads::Slot* slot) {
  check_engine(settings);
  const storage::IoEngine& engine = storage::find_io_engine(settings.io);
  if (slot) open_each(dataset, *slot);
  // The library of a single file may read from it, too. Several files take long together.
  if (slot && dataset.packed.size() == 1) slot->begin(dataset.samples.front());
  const auto storage = storage::make_storage(dataset, {&engine, 1});
  if (slot) {
    slot->end();
    storage->report_waits_to(*slot);
  }
  if (reads_first_sample(settings)) storage->read(dataset.samples.front());
}

bool reads_first_sample(const plan::CellSettings& settings) {
  return storage::find_io_engine(settings.io).past_page_cache && settings.reads_storage() &&
         !settings.skip_bad;
}

std::string way_of_reading(const plan::CellSettings& settings) {
  return settings.io + " " + std::to_string(settings.io_depth) +
         (reads_first_sample(settings) ? " first sample" : "");
}

void check_device(const plan::CellSettings& settings, const RunOptions& options,
                  device::AcceleratorRegistry& registry, const CellRanks& ranks) {
  const device::AcceleratorKind& kind = registry.find(settings.device);
  // An empty slot is enough to ask the device whether it can decode.
  const std::size_t slot = settings.decode_on_device ? pipeline::encoded_slot_for(0) : 0;
  kind.check(settings.device_argument, settings.step_spec(options.seed, slot));
  if (settings.gpus > 1 && kind.ranks_are_processes && !settings.device_argument.empty()) {
    throw UsageError("--gpus " + std::to_string(settings.gpus),
                     "--device " + settings.device + " is one device",
                     "use --device " + kind.name + ": each rank takes the one of its number");
  }
  ranks.check(settings, kind);
}

double check_cell(const plan::Cell& cell, const plan::CellSettings& settings,
                  const RunOptions& options, device::AcceleratorRegistry& registry,
                  CellRanks& ranks, Datasets& datasets) {
  check_device(settings, options, registry, ranks);
  const auto dataset = readable_dataset(cell, settings, options, ranks, datasets);
  if (!dataset) return 0;
  if (const pipeline::LoaderKind& loader = pipeline::find_loader_kind(settings.loader);
      loader.check)
    loader.check();
  codec::check_decoder(settings.decoder);
  check_dataset(settings, *dataset);
  const auto part =
      part_of(*dataset, kept_samples(settings, dataset->samples.size(), options.most_cached));
  return check_memory(settings, part ? *part : *dataset, ranks.here(settings),
                      ranks.apart(settings));
}

}  // namespace feedrate::run
