#pragma once
#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "pipeline/sample_source.h"

namespace feedrate::pipeline {

// Fills the caches of the same name by `threads` threads; every sample once, augmented as in epoch
// 0. Once `stop` is requested they return soon, with an incomplete cache. Where the recipe allows
// bad samples (`bad`), their entries keep the Error: a source that draws one throws it.
std::shared_ptr<const std::vector<CachedSample>> fill_encoded_cache(const SampleRecipe& recipe,
                                                                    int threads,
                                                                    std::stop_token stop = {});
std::shared_ptr<const std::vector<CachedSample>> fill_sample_cache(const SampleRecipe& recipe,
                                                                   std::uint64_t seed, int threads,
                                                                   std::stop_token stop = {});

}  // namespace feedrate::pipeline
