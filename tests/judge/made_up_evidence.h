#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

#include "judge/diagnosis.h"

namespace feedrate::tests {

// A pair in which the delay, as long as a diagnosis would choose it, cost `slope` of what it would
// cost if the run waited for its place alone.
inline judge::BlockPair pair_of(measure::Place place, bool burns, double slope,
                                const judge::Servers& servers, double off = 200) {
  constexpr int kDepth = 6;  // one of six reads may be withheld: a fifth more time
  judge::BlockPair pair{.place = place,
                        .delay = place == measure::Place::in_flight
                                     ? judge::withheld_of(kDepth)
                                     : judge::delay_of(place, burns, off, servers),
                        .off = off};
  pair.on = off / std::pow(judge::full_factor(pair, servers), slope);
  return pair;
}

// Of 100 samples, each of which took a worker so long.
inline measure::StageTotal each(double wall_ms, double cpu_ms) {
  constexpr double kSamples = 100;
  return {std::llround(1e6 * wall_ms * kSamples), std::llround(1e6 * cpu_ms * kSamples),
          std::llround(kSamples), 0};
}

// Three rounds that agree: 4 workers of 20 ms a sample reach 200 images/s, a fifth of the ceiling;
// decoding takes most. Tests change what they are about.
class MadeUpEvidence {
 public:
  MadeUpEvidence() {
    evidence.settings.workers = 4;
    evidence.settings.batch_size = 10;
    evidence.settings.data = "jpeg";
    evidence.settings.input_size = {224, 224};
    evidence.settings.image_size = {300, 300};
    evidence.servers = {.workers = 4, .cpus = 100, .images_per_step = 10};
    evidence.rounds.resize(3);
    for (judge::RoundEvidence& round : evidence.rounds) {
      round.rates = {{judge::LadderRung::synthetic, 1000}, {judge::LadderRung::none, 200}};
      round.undelayed.emplace();
    }
    stage(measure::Stage::read, 4, 1);
    stage(measure::Stage::decode, 12, 10);
    stage(measure::Stage::augment, 3, 2);
    stage(measure::Stage::collate, 1, 1);
  }

  MadeUpEvidence& rate(judge::LadderRung rung, double imgs_per_s) {
    for (auto& round : evidence.rounds) round.rates[rung] = imgs_per_s;
    return *this;
  }
  MadeUpEvidence& stage(measure::Stage stage, double wall_ms, double cpu_ms) {
    for (auto& round : evidence.rounds) round.undelayed.value()[stage] = each(wall_ms, cpu_ms);
    return *this;
  }
  // Two pairs in each round, `scatter` apart.
  MadeUpEvidence& slope(measure::Place place, bool burns, double slope, double scatter = 0.02) {
    for (auto& round : evidence.rounds)
      for (const double off : {-scatter / 2, scatter / 2})
        round.pairs.push_back(pair_of(place, burns, slope + off, evidence.servers));
    return *this;
  }
  // Slept, but for those of the CPU; what is not said costs nothing.
  struct Slopes {
    double worker = 0, burnt = 0, copy = 0, step = 0;
  };
  MadeUpEvidence& slopes(const Slopes& s) {
    return slope(measure::Place::worker, false, s.worker)
        .slope(measure::Place::worker, true, s.burnt)
        .slope(measure::Place::copy, false, s.copy)
        .slope(measure::Place::step, false, s.step);
  }
  MadeUpEvidence& capacity(const char* resource, const char* stage) {
    for (auto& round : evidence.rounds)
      round.capacities = {{.resource = resource, .imgs_per_s = 200, .largest_stage = stage}};
    return *this;
  }
  judge::Diagnosis diagnosis() const { return judge::diagnosis_of(evidence); }

  judge::Evidence evidence;
};

}  // namespace feedrate::tests
