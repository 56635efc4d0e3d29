#include <cstring>
#include <string>

#include "base/error.h"
#include "pipeline/encoded_slot.h"
#include "pipeline/sample_makers.h"

namespace feedrate::pipeline {
namespace {

// For a decoder on the device: the file's bytes go into the batch; only its header is looked at
// here.
class EncodedMaker : public SampleMaker {
 public:
  EncodedMaker(const SampleRecipe& recipe, measure::StageTimer& timer)
      : recipe_(recipe), decoder_(recipe.format->make_decoder()), timer_(timer) {}

  void give_up() override { timer_.more(measure::Stage::collate); }

  std::span<std::byte> landing(std::size_t bytes, std::byte* out) const override {
    if (!fits(bytes)) return {};
    return {out + kEncodedSlotHeader, bytes};
  }

  void make(const Draw&, const FileBytes& file, std::byte* out) override {
    timer_.begin(measure::Stage::collate);
    const std::size_t length = file.bytes.size() + file.landed;
    if (!fits(length))
      throw Error(std::string(file.name), "is larger than a slot of its batch",
                  "run `feedrate verify`");
    const std::span<std::byte> slot = open_encoded_slot(out, length);
    if (file.landed == 0) std::memcpy(slot.data(), file.bytes.data(), length);
    const codec::PixelSize stored = decoder_->open(slot, file.name);
    if (stored != recipe_.spec.size) {
      refuse_picture_size(file.name, stored, "use --decoder auto and --augment-on host");
    }
    check_crop(recipe_.augment, stored, file.name);
    timer_.lap(measure::Stage::collate, static_cast<std::int64_t>(length));
  }

 private:
  bool fits(std::size_t bytes) const {
    return bytes + kEncodedSlotHeader <= recipe_.spec.encoded_slot;
  }

  const SampleRecipe& recipe_;
  std::unique_ptr<codec::Decoder> decoder_;
  measure::StageTimer& timer_;
};

}  // namespace

std::unique_ptr<SampleMaker> make_encoded_maker(const SampleRecipe& recipe,
                                                measure::StageTimer& timer) {
  return std::make_unique<EncodedMaker>(recipe, timer);
}

}  // namespace feedrate::pipeline
