#include "pipeline/planted.h"

#include <utility>

#include "measure/clock.h"
#include "measure/delays.h"

namespace feedrate::pipeline {
namespace {

std::int64_t service_of(const PlantedStage& planted, std::int64_t stream_index) {
  if (stream_index < planted.free_first) return 0;
  const bool spikes = planted.every > 0 && stream_index % planted.every == planted.every - 1;
  return planted.ns + (spikes ? planted.spike_ns : 0);
}

class PlantedMaker : public SampleMaker {
 public:
  PlantedMaker(std::unique_ptr<SampleMaker> inner, const PlantedTimes& times,
               std::vector<measure::Stage> stages, measure::StageTimer& timer)
      : inner_(std::move(inner)), times_(times), stages_(std::move(stages)), timer_(timer) {}

  void give_up() override { inner_->give_up(); }
  std::span<std::byte> landing(std::size_t bytes, std::byte* out) const override {
    return inner_->landing(bytes, out);
  }
  void make(const Draw& draw, const FileBytes& file, std::byte* out) override {
    inner_->make(draw, file, out);
    for (const measure::Stage stage : stages_) {
      const PlantedStage& planted = times_[static_cast<std::size_t>(stage)];
      const std::int64_t service_ns = service_of(planted, draw.index);
      if (planted.burns) {
        burn(stage, service_ns);
      } else {
        serve(stage, service_ns);
      }
    }
  }

 private:
  void serve(measure::Stage stage, std::int64_t service_ns) {
    if (service_ns == 0) return;
    const std::int64_t start = measure::now_ns();
    sleep_.sleep(service_ns);
    timer_.add(stage, start, measure::now_ns(), 0);
  }

  void burn(measure::Stage stage, std::int64_t service_ns) {
    const std::int64_t start = measure::now_ns(), cpu = measure::thread_cpu_ns();
    measure::burn(service_ns);
    timer_.add(stage, start, measure::now_ns(), measure::thread_cpu_ns() - cpu);
  }

  const std::unique_ptr<SampleMaker> inner_;
  const PlantedTimes& times_;
  const std::vector<measure::Stage> stages_;
  measure::StageTimer& timer_;
  measure::ExactSleep sleep_;
};

}  // namespace

std::unique_ptr<SampleMaker> make_planted_maker(std::unique_ptr<SampleMaker> inner,
                                                const PlantedTimes& times,
                                                std::vector<measure::Stage> stages,
                                                measure::StageTimer& timer) {
  return std::make_unique<PlantedMaker>(std::move(inner), times, std::move(stages), timer);
}

}  // namespace feedrate::pipeline
