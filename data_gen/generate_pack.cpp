#include "data_gen/generate_pack.h"

#include <algorithm>
#include <system_error>

#include "base/file_remedy.h"
#include "base/whole_file.h"
#include "storage/container.h"

namespace feedrate::data_gen {
namespace {

namespace fs = std::filesystem;

// Whether dataset.json says that it was packed from the files as they are now.
bool is_recorded(const GeneratePlan& plan, const PlannedPack& pack) {
  const auto packed = plan.record.variants.find(pack.name),
             files = plan.record.variants.find(pack.from);
  const auto none = plan.record.variants.end();
  return packed != none && files != none && packed->second.complete &&
         packed->second.files_xxh3 == files->second.files_xxh3;
}

bool is_there(const GeneratePlan& plan, const PlannedPack& pack) {
  if (!is_recorded(plan, pack)) return false;
  try {
    pack.container->open(storage::read_variant(plan.data, pack.name, plan.record), {});
    return true;
  } catch (const UnreadableError&) {
    throw;  // whether it is whole is unknown
  } catch (const Error&) {
    return false;  // it is not whole
  }
}

}  // namespace

std::vector<PlannedPack> list_packs(const GeneratePlan& plan,
                                    const std::vector<std::string>& names) {
  std::vector<PlannedPack> packs;
  for (const storage::Container& container : storage::containers()) {
    if (container.packed.empty() || std::ranges::find(names, container.name) == names.end())
      continue;
    for (const PlannedVariant& variant : plan.variants) {
      PlannedPack pack{storage::in_container(variant.name, container.name), variant.name,
                       &container};
      pack.missing = !is_there(plan, pack);
      packs.push_back(std::move(pack));
    }
  }
  return packs;
}

void make_packs(GeneratePlan& plan, const std::function<void(const GenerateProgress&)>& on_progress,
                const std::function<bool()>& stop) {
  for (const PlannedPack& pack : plan.packs) {
    if (!pack.missing && is_recorded(plan, pack))
      continue;  // the files may have been made anew since
    plan.record.variants[pack.name] = {};
    plan.news.waits_for((plan.data / pack.from).string());
    storage::write_dataset_record(plan.data, plan.record);
    const storage::DatasetVariant from = storage::open_dataset(plan.data, pack.from);
    const fs::path folder = plan.data / pack.name;
    plan.news.waits_for(folder.string());
    make_folder(folder);
    GenerateProgress progress{.packing = true,
                              .samples = static_cast<std::int64_t>(from.samples.size())};
    const bool whole = pack.container->pack(from, folder, [&](std::size_t done) {
      progress.samples_done = static_cast<std::int64_t>(done);
      if (on_progress) on_progress(progress);
      if (done == from.samples.size()) plan.news.syncs(folder.string());
      return !(stop && stop());
    });
    if (!whole)
      throw Error("interrupted", "while " + pack.name + " was packed",
                  "run the same command again");
    plan.news.waits_for(folder.string());
    storage::VariantRecord record = storage::write_manifest(folder, from.samples);
    record.made_from = plan.record.variants[pack.from].made_from;
    plan.record.variants[pack.name] = std::move(record);
    storage::write_dataset_record(plan.data, plan.record);
  }
}

}  // namespace feedrate::data_gen
