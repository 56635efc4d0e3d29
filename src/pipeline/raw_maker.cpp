#include "pipeline/sample_makers.h"

namespace feedrate::pipeline {
namespace {

class RawMaker : public SampleMaker {
 public:
  explicit RawMaker(measure::StageTimer& timer) : timer_(timer) {
    timer_.expect_only(measure::Stage::read);
  }

  void make(const Draw&, const FileBytes& file, std::byte*) override {
    timer_.pass(measure::Stage::collate, static_cast<std::int64_t>(file.bytes.size()));
  }

 private:
  measure::StageTimer& timer_;
};

}  // namespace

std::unique_ptr<SampleMaker> make_raw_maker(const SampleRecipe&, measure::StageTimer& timer) {
  return std::make_unique<RawMaker>(timer);
}

}  // namespace feedrate::pipeline
