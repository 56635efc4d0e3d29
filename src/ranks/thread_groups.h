#pragma once
#include <memory>
#include <vector>

#include "device/group.h"

namespace feedrate::ranks {

// `size` ranks as threads of this process; element r is for rank r.
std::vector<std::unique_ptr<device::Group>> make_thread_groups(int size);

}  // namespace feedrate::ranks
