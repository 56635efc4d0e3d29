#include "codec/checks.h"
#include "pipeline/collate.h"
#include "pipeline/sample_makers.h"

namespace feedrate::pipeline {
namespace {

class TensorMaker : public SampleMaker {
 public:
  TensorMaker(const SampleRecipe& recipe, measure::StageTimer& timer)
      : recipe_(recipe), timer_(timer) {}

  void give_up() override { timer_.more(measure::Stage::collate); }

  // The payload, if nothing has to be converted.
  std::span<std::byte> landing(std::size_t bytes, std::byte* out) const override {
    const std::size_t payload = recipe_.spec.sample_bytes();
    if (bytes != codec::kTensorHeaderBytes + payload) return {};
    return {out, payload};
  }

  void make(const Draw&, const FileBytes& file, std::byte* out) override {
    const codec::TensorView tensor =
        file.landed != 0 ? codec::parse_tensor(file.bytes, {out, file.landed}, file.name)
                         : codec::parse_tensor(file.bytes, file.name);
    check(tensor, file.name);
    const auto bytes = static_cast<std::int64_t>(tensor.payload.size());
    if (file.landed != 0) return timer_.pass(measure::Stage::collate, bytes);
    timer_.begin(measure::Stage::collate);
    collate(tensor.payload, tensor.dtype, recipe_.spec, out);
    timer_.lap(measure::Stage::collate, bytes);
  }

 private:
  void check(const codec::TensorView& tensor, std::string_view name) const {
    const BatchSpec& spec = recipe_.spec;
    if (tensor.size != spec.size)
      codec::refuse_picture(name, "holds another size than its folder says");
    if (tensor.dtype != codec::Dtype::uint8 && tensor.dtype != spec.dtype)
      codec::refuse_picture(name, "holds another element type than its folder says");
  }

  const SampleRecipe& recipe_;
  measure::StageTimer& timer_;
};

}  // namespace

std::unique_ptr<SampleMaker> make_tensor_maker(const SampleRecipe& recipe,
                                               measure::StageTimer& timer) {
  return std::make_unique<TensorMaker>(recipe, timer);
}

}  // namespace feedrate::pipeline
