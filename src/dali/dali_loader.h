#pragma once
#include "pipeline/loader.h"

namespace feedrate::dali {

// The loader "dali": see pipeline::make_dali_loader() in loader.h.
std::unique_ptr<pipeline::Loader> make_loader(pipeline::LoaderOptions options);

}  // namespace feedrate::dali
