#pragma once
#include <memory>

#include "measure/stages.h"
#include "pipeline/sample_maker.h"
#include "pipeline/sample_recipe.h"

namespace feedrate::pipeline {

// The kinds of makers, each in the file of its name. `recipe` and `timer` outlive them.

// Pictures: decoded, augmented, collated on the host.
std::unique_ptr<SampleMaker> make_picture_maker(const SampleRecipe& recipe,
                                                measure::StageTimer& timer);
// Encoded pictures, for a decoder on the device.
std::unique_ptr<SampleMaker> make_encoded_maker(const SampleRecipe& recipe,
                                                measure::StageTimer& timer);
// Precached tensors.
std::unique_ptr<SampleMaker> make_tensor_maker(const SampleRecipe& recipe,
                                               measure::StageTimer& timer);
// cache=decoded: decoded pictures from memory, augmented and collated.
std::unique_ptr<SampleMaker> make_decoded_maker(const SampleRecipe& recipe,
                                                measure::StageTimer& timer);
// cache=sample: finished samples from memory.
std::unique_ptr<SampleMaker> make_cached_maker(const SampleRecipe& recipe,
                                               measure::StageTimer& timer);
// Nothing: what was read is thrown away.
std::unique_ptr<SampleMaker> make_raw_maker(const SampleRecipe& recipe, measure::StageTimer& timer);

// The one that the recipe asks for, with the times that it plants.
std::unique_ptr<SampleMaker> make_sample_maker(const SampleRecipe& recipe,
                                               measure::StageTimer& timer);

}  // namespace feedrate::pipeline
