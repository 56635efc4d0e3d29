#include "pipeline/sample_bytes.h"

#include "base/error.h"
#include "storage/container.h"

namespace feedrate::pipeline {

SampleBytes::SampleBytes(const SampleRecipe& recipe)
    : recipe_(recipe), prefix_(storage::sample_prefix(*recipe.dataset)) {
  if (recipe.encoded_cache) return;
  storage_ = storage::make_storage(*recipe.dataset);
  if (recipe.reads) storage_->tell(recipe.reads->add());
}

std::span<const std::byte> SampleBytes::get(const Draw& draw, measure::StageTimer& timer) {
  if (recipe_.encoded_cache)
    return (*recipe_.encoded_cache)[static_cast<std::size_t>(draw.sample)].bytes();
  return read(draw, {}, timer);
}

std::optional<std::span<const std::byte>> SampleBytes::get_apart(const Draw& draw, std::size_t head,
                                                                 std::span<std::byte> tail,
                                                                 measure::StageTimer& timer) {
  if (recipe_.encoded_cache || file_of(draw).bytes != head + tail.size()) return std::nullopt;
  return read(draw, tail, timer);
}

std::size_t SampleBytes::length(const Draw& draw) const {
  if (recipe_.encoded_cache)
    return (*recipe_.encoded_cache)[static_cast<std::size_t>(draw.sample)].bytes().size();
  return file_of(draw).bytes;
}

void SampleBytes::expect(const Draw& draw, measure::StageTimer& timer) {
  if (!storage_) return;
  timer.start();
  storage_->expect(file_of(draw));
  timer.more(measure::Stage::read);
}

std::string_view SampleBytes::name(const Draw& draw) {
  return name_.assign(prefix_).append(file_of(draw).path);
}

const storage::SampleFile& SampleBytes::file_of(const Draw& draw) const {
  return recipe_.dataset->samples[static_cast<std::size_t>(draw.sample)];
}

std::span<const std::byte> SampleBytes::read(const Draw& draw, std::span<std::byte> tail,
                                             measure::StageTimer& timer) {
  const storage::SampleFile& file = file_of(draw);
  const std::int64_t lock_ns = storage_->read(file, buffer_, tail);
  if (recipe_.dataset->container->locks) timer.take(measure::Stage::lock, lock_ns);
  timer.lap(measure::Stage::read, static_cast<std::int64_t>(file.bytes));
  return buffer_.bytes();
}

void refuse_picture_size(std::string_view name, codec::PixelSize stored, const char* remedy) {
  throw Error(std::string(name),
              "has " + codec::to_string(stored) +
                  " pixels, not those of its folder; the device takes pictures of one size",
              remedy);
}

}  // namespace feedrate::pipeline
