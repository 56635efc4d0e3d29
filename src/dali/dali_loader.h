#pragma once
#include "pipeline/loader.h"

namespace feedrate::dali {

// The loader "dali": see make_dali_loader() in loader.h.
std::unique_ptr<Loader> make_loader(LoaderOptions options);

}  // namespace feedrate::dali
