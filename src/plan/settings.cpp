#include "plan/settings.h"

#include "plan/axes.h"
#include "storage/container.h"

namespace feedrate::plan {

CellSettings settings_of(const Cell& cell) {
  CellSettings settings;
  for (const Axis& axis : axes()) {
    const auto& value = cell[axis.name];
    if (!value) continue;
    if (axis.open && *value == "auto")
      settings.open_step.emplace(axis.name);
    else
      axis.set(settings, *value);
  }
  settings.augment.crop = settings.input_size;
  if (!cell["image-size"] || settings.mixed_sizes) settings.image_size = settings.input_size;
  if (settings.data != "synthetic" && !settings.discards())
    settings.feed = settings.cache == "device" ? device::Feed::resident : device::Feed::streamed;
  return settings;
}

pipeline::BatchSpec CellSettings::batch_spec(std::size_t encoded_slot) const {
  const bool divided = augment.mask_colour != pipeline::MaskColour::none;
  return {batch_size, augment_on_device ? image_size : input_size, transfer, encoded_slot,
          divided ? codec::Normalisation::unit : codec::Normalisation::imagenet};
}

device::StepSpec CellSettings::step_spec(std::uint64_t seed, std::size_t encoded_slot) const {
  device::StepSpec spec{.batch = batch_spec(encoded_slot),
                        .model = model,
                        .precision = precision,
                        .pin_memory = pin_memory,
                        .threads = device_threads,
                        .step = step,
                        .seed = seed,
                        .feed = feed};
  spec.engine_share = engine_share;
  spec.emulation = emulation;
  if (augment_on_device)
    spec.augmentation = {.output = input_size,
                         .filter = filter,
                         .jitter = augment.jitter,
                         .mask_colour = augment.mask_colour};
  return spec;
}

std::string CellSettings::variant() const {
  if (data == "synthetic") return {};
  const std::string size =
      mixed_sizes ? std::string(storage::kMixedSizes) : codec::to_string(image_size);
  const std::string files = data == "tensor"
                                ? "tensor-" + std::string(codec::name_of(tensor_dtype)) + "/" +
                                      codec::to_string(input_size)
                                : data + "/" + storage::with_detail(size, detail);
  return storage::in_container(files, container);
}

}  // namespace feedrate::plan
