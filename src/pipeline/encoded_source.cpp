#include <cstring>

#include "base/error.h"
#include "pipeline/encoded_slot.h"
#include "pipeline/sample_bytes.h"
#include "pipeline/sample_sources.h"

namespace feedrate::pipeline {
namespace {

// For a decoder on the device: the file's bytes go into the batch; only its header is looked at
// here.
class EncodedSource : public SampleSource {
 public:
  EncodedSource(const SampleRecipe& recipe, measure::StageCounters& counters)
      : recipe_(recipe),
        bytes_(recipe),
        decoder_(recipe.format->make_decoder()),
        timer_(counters) {}

  void expect(const Draw& draw) override { bytes_.expect(draw, timer_); }
  void give_up() override { timer_.more(measure::Stage::read); }
  void make(const Draw& draw, std::byte* out) override {
    timer_.start();
    const std::size_t length = bytes_.length(draw);
    if (length + kEncodedSlotHeader > recipe_.spec.encoded_slot) {
      throw Error(bytes_.name(draw), "is larger than a slot of its batch", "run `feedrate verify`");
    }
    const std::span<std::byte> slot = open_encoded_slot(out, length);
    const bool in_place = bytes_.get_apart(draw, 0, slot, timer_).has_value();
    if (!in_place) {
      const auto encoded = bytes_.get(draw, timer_);
      std::memcpy(slot.data(), encoded.data(), encoded.size());
    }
    const codec::PixelSize stored = decoder_->open(slot, bytes_.name(draw));
    if (stored != recipe_.spec.size) {
      refuse_picture_size(bytes_.name(draw), stored, "use --decoder auto and --augment-on host");
    }
    timer_.lap(measure::Stage::collate, static_cast<std::int64_t>(length));
  }

 private:
  const SampleRecipe& recipe_;
  SampleBytes bytes_;
  std::unique_ptr<codec::Decoder> decoder_;
  measure::StageTimer timer_;
};

}  // namespace

std::unique_ptr<SampleSource> make_encoded_source(const SampleRecipe& recipe,
                                                  measure::StageCounters& counters) {
  return std::make_unique<EncodedSource>(recipe, counters);
}

}  // namespace feedrate::pipeline
