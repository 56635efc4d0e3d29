#include "storage/container.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "storage/packed_files.h"
#include "storage/variant_name.h"

namespace feedrate::storage {

std::span<const Container> containers() {
  static const std::array all = {files_container(), tar_container(), webdataset_container(),
                                 packed_container(), hdf5_container()};
  return all;
}

const Container* find_container(std::string_view name) {
  const auto found = std::ranges::find(containers(), name, &Container::name);
  return found == containers().end() ? nullptr : &*found;
}

const Container& container_of(std::string_view variant) {
  const std::string container = variant_name_from(variant).container;
  if (container.empty()) return containers().front();
  if (const Container* found = find_container(container)) return *found;
  throw Error(variant, "lies in a container that this program does not know",
              "use a newer feedrate");
}

std::string in_container(std::string_view variant, std::string_view container) {
  if (container == containers().front().name) return std::string(variant);
  VariantName name = variant_name_from(variant);
  name.container = container;
  return name.text();
}

void place_samples(DatasetVariant& variant) {
  const Container& container = *variant.container;
  if (container.packed.empty()) return;
  Placing placing(container.layout);
  for (SampleFile& sample : variant.samples) {
    const Placing::Place place = placing.next(sample.bytes);
    sample.shard = place.shard, sample.offset = place.offset;
  }
  variant.packed_bytes = placing.lengths();
  variant.packed = packed_names(container, variant.packed_bytes.size());
}

}  // namespace feedrate::storage
