#include "pipeline/sample_source.h"

#include <utility>
#include <vector>

#include "pipeline/planted.h"
#include "pipeline/sample_sources.h"

namespace feedrate::pipeline {
namespace {

std::unique_ptr<SampleSource> unplanted(const SampleRecipe& recipe,
                                        measure::StageCounters& counters) {
  if (recipe.sample_cache) return make_cached_source(recipe, counters);
  if (!recipe.format) return make_tensor_source(recipe, counters);
  if (recipe.spec.encoded_slot != 0) return make_encoded_source(recipe, counters);
  return make_picture_source(recipe, counters);
}

// What a worker does for each sample.
std::vector<measure::Stage> stages_of(const SampleRecipe& recipe) {
  if (recipe.sample_cache) return {measure::Stage::collate};
  std::vector<measure::Stage> stages;
  if (!recipe.encoded_cache) stages.push_back(measure::Stage::read);
  if (recipe.format && recipe.spec.encoded_slot == 0) {
    stages.push_back(measure::Stage::decode);
    stages.push_back(measure::Stage::augment);
  }
  stages.push_back(measure::Stage::collate);
  return stages;
}

}  // namespace

std::unique_ptr<SampleSource> make_sample_source(const SampleRecipe& recipe,
                                                 measure::StageCounters& counters) {
  auto source = unplanted(recipe, counters);
  if (recipe.planted == nullptr) return source;
  return make_planted_source(std::move(source), *recipe.planted, stages_of(recipe), counters);
}

}  // namespace feedrate::pipeline
