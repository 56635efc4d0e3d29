#include "base/error.h"
#include "pipeline/collate.h"
#include "pipeline/sample_bytes.h"
#include "pipeline/sample_sources.h"

namespace feedrate::pipeline {
namespace {

class TensorSource : public SampleSource {
 public:
  TensorSource(const SampleRecipe& recipe, measure::StageCounters& counters)
      : recipe_(recipe), bytes_(recipe), timer_(counters) {}

  void expect(const Draw& draw) override { bytes_.expect(draw, timer_); }
  void give_up() override { timer_.more(measure::Stage::read); }
  void make(const Draw& draw, std::byte* out) override {
    timer_.start();
    const codec::TensorView tensor = get(draw, out);
    const auto bytes = static_cast<std::int64_t>(tensor.payload.size());
    const bool in_place = tensor.payload.data() == out;
    if (in_place) return timer_.pass(measure::Stage::collate, bytes);
    collate(tensor.payload, tensor.dtype, recipe_.spec, out);
    timer_.lap(measure::Stage::collate, bytes);
  }

 private:
  // If nothing has to be converted, reads the payload straight into its slot.
  codec::TensorView get(const Draw& draw, std::byte* out) {
    const BatchSpec& spec = recipe_.spec;
    const std::span<std::byte> slot(out, spec.sample_bytes());
    const auto header = bytes_.get_apart(draw, codec::kTensorHeaderBytes, slot, timer_);
    const codec::TensorView tensor =
        header ? codec::parse_tensor(*header, slot, bytes_.name(draw))
               : codec::parse_tensor(bytes_.get(draw, timer_), bytes_.name(draw));
    if (tensor.size != spec.size) {
      throw Error(bytes_.name(draw), "holds another size than its folder says",
                  "run `feedrate verify`");
    }
    if (tensor.dtype != codec::Dtype::uint8 && tensor.dtype != spec.dtype) {
      throw Error(bytes_.name(draw), "holds another element type than its folder says",
                  "run `feedrate verify`");
    }
    return tensor;
  }

  const SampleRecipe& recipe_;
  SampleBytes bytes_;
  measure::StageTimer timer_;
};

}  // namespace

std::unique_ptr<SampleSource> make_tensor_source(const SampleRecipe& recipe,
                                                 measure::StageCounters& counters) {
  return std::make_unique<TensorSource>(recipe, counters);
}

}  // namespace feedrate::pipeline
