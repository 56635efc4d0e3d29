#pragma once
#include "run/window.h"
#include "session/capacity_search.h"

namespace feedrate::session {

// Seconds: about how long `feedrate capacity` takes, before anything is known of the storage; one
// that is slow takes longer. `reads_axes`: see searched_reads_axes(); `limits`: of the search for
// GPUs; `measures_client`: what this machine manages from memory is measured as well.
double expected_search_s(const SearchedCell& searched, int reads_axes, const run::RunLimits& limits,
                         const SearchOptions& options, bool measures_client);

}  // namespace feedrate::session
