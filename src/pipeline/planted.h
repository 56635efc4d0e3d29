#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "measure/stages.h"
#include "pipeline/planted_times.h"
#include "pipeline/sample_maker.h"

namespace feedrate::pipeline {

// A maker with planted service times: after each sample of `inner` it sleeps once for each of
// `stages`, and the sleep counts as wall time of the stage. Sleeping needs no CPU, so few CPUs
// serve any number of workers; a stage that burns computes instead. If one sleep is too long, the
// next is shorter: the mean is exact. `times` and `timer` outlive it.
std::unique_ptr<SampleMaker> make_planted_maker(std::unique_ptr<SampleMaker> inner,
                                                const PlantedTimes& times,
                                                std::vector<measure::Stage> stages,
                                                measure::StageTimer& timer);

}  // namespace feedrate::pipeline
