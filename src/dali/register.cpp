#include "dali/dali_loader.h"

// What the program looks up after loading this library: MakeLoader in loader.h.
extern "C" __attribute__((visibility("default"))) void feedrate_dali(feedrate::LoaderOptions&& options,
                                                                     std::unique_ptr<feedrate::Loader>& made) {
  made = feedrate::dali::make_loader(std::move(options));
}
