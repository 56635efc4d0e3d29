#include "pipeline/sample_makers.h"

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "pipeline/planted.h"

namespace feedrate::pipeline {
namespace {

std::unique_ptr<SampleMaker> unplanted(const SampleRecipe& recipe, measure::StageTimer& timer) {
  if (recipe.sample_cache) return make_cached_maker(recipe, timer);
  if (recipe.decoded_cache) return make_decoded_maker(recipe, timer);
  if (recipe.raw_read) return make_raw_maker(recipe, timer);
  if (!recipe.format) return make_tensor_maker(recipe, timer);
  if (recipe.spec.encoded_slot != 0) return make_encoded_maker(recipe, timer);
  return make_picture_maker(recipe, timer);
}

// What a worker does for each sample.
std::vector<measure::Stage> stages_of(const SampleRecipe& recipe) {
  if (recipe.sample_cache) return {measure::Stage::collate};
  std::vector<measure::Stage> stages;
  if (recipe.reads_storage()) stages.push_back(measure::Stage::read);
  if (recipe.format && recipe.spec.encoded_slot == 0) {
    if (!recipe.decoded_cache) stages.push_back(measure::Stage::decode);
    stages.push_back(measure::Stage::augment);
  }
  stages.push_back(measure::Stage::collate);
  return stages;
}

}  // namespace

std::unique_ptr<SampleMaker> make_sample_maker(const SampleRecipe& recipe,
                                               measure::StageTimer& timer) {
  auto maker = unplanted(recipe, timer);
  if (recipe.planted == nullptr) return maker;
  return make_planted_maker(std::move(maker), *recipe.planted, stages_of(recipe), timer);
}

void refuse_picture_size(std::string_view name, codec::PixelSize stored, const char* remedy) {
  throw Error(std::string(name),
              "has " + codec::to_string(stored) +
                  " pixels, not those of its folder; the device takes pictures of one size",
              remedy);
}

void check_crop(const AugmentPolicy& policy, codec::PixelSize stored, std::string_view name) {
  if (policy.takes(stored)) return;
  throw Error(
      std::string(name),
      "has " + codec::to_string(stored) + " pixels, too few for a crop of " +
          codec::to_string(policy.crop) + " that is not resized",
      "use an --input-size that the smallest picture has, --on-bad skip, or --augment train");
}

}  // namespace feedrate::pipeline
