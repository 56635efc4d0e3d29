#include "pipeline/sample_source.h"

#include <string>
#include <vector>

#include "benchmarks/micro/micro.h"

namespace feedrate::micro {
namespace {

// What one worker does for one sample, from its name to its slot in the batch, files in the page
// cache. Bytes are those of the stored files.
void make_samples(benchmark::State& state, const std::string& variant, const codec::Format* format,
                  codec::Dtype dtype, Material& material) {
  const storage::DatasetVariant dataset = storage::open_dataset(material.data(), variant);
  const pipeline::SampleRecipe recipe{
      .dataset = &dataset, .format = format, .spec = {1, kInput, dtype}};
  measure::StageCounters counters;
  pipeline::SampleSource source(recipe, counters);
  const pipeline::Sampler sampler(static_cast<std::int64_t>(dataset.samples.size()), 0, 0, 1);
  std::vector<std::byte> slot(recipe.spec.sample_bytes());
  std::int64_t index = 0, bytes = 0;
  for (auto _ : state) {
    const pipeline::Draw draw = sampler.at(index++);
    source.make(draw, slot.data());
    benchmark::ClobberMemory();
    bytes +=
        static_cast<std::int64_t>(dataset.samples[static_cast<std::size_t>(draw.sample)].bytes);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
  state.SetBytesProcessed(bytes);
}

void add(const std::string& name, const std::string& variant, const codec::Format* format,
         codec::Dtype dtype, Material& material) {
  benchmark::RegisterBenchmark(("sample/" + name).c_str(), [=, &material](benchmark::State& state) {
    make_samples(state, variant, format, dtype, material);
  })->Unit(benchmark::kMicrosecond);
}

}  // namespace

void register_sample_source(Material& material) {
  for (const codec::Format& format : codec::picture_formats()) {
    const std::string name(format.name);
    for (const codec::PixelSize stored : kStoredSizes) {
      const std::string variant = name + "/" + codec::to_string(stored);
      add(variant, variant, &format, codec::Dtype::uint8, material);
    }
  }
  add("jpeg/transfer-fp16", "jpeg/500x375", codec::find_picture_format("jpeg"), codec::Dtype::fp16,
      material);
  for (const codec::Dtype dtype : {codec::Dtype::uint8, codec::Dtype::fp16, codec::Dtype::fp32}) {
    const std::string name = "tensor-" + std::string(codec::name_of(dtype));
    add(name, name + "/224x224", nullptr, dtype, material);
  }
}

}  // namespace feedrate::micro
