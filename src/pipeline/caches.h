#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "pipeline/sample_source.h"

namespace feedrate::pipeline {

// What a filling tells while it goes on, one thread at a time.
using FillProgress = std::function<void(std::size_t samples_done, std::size_t samples)>;
// Says how many bytes of memory can be had without swapping; 0: unknown.
using MemoryLeft = std::function<std::uint64_t()>;

// Fills the caches of the same name by `threads` threads; every sample once, augmented as in epoch
// 0. Once `stop` is requested they return soon, with an incomplete cache. Where the recipe allows
// bad samples (`bad`), their entries keep the Error: a source that draws one throws it.
std::shared_ptr<const std::vector<CachedSample>> fill_encoded_cache(
    const SampleRecipe& recipe, int threads, std::stop_token stop = {},
    const FillProgress& progress = {});
std::shared_ptr<const std::vector<CachedSample>> fill_sample_cache(
    const SampleRecipe& recipe, std::uint64_t seed, int threads, std::stop_token stop = {},
    const FillProgress& progress = {});
// Whole pictures at their full size, not augmented. Throws an Error before the machine swaps.
// `memory_left` (empty: what this machine says) is asked by one thread at a time.
std::shared_ptr<const std::vector<CachedSample>> fill_decoded_cache(
    const SampleRecipe& recipe, int threads, std::stop_token stop = {},
    const FillProgress& progress = {}, MemoryLeft memory_left = {});

}  // namespace feedrate::pipeline
