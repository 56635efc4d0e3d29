#include "train/process_group.h"

namespace feedrate::train {

Backend make_gloo(const c10::intrusive_ptr<c10d::Store>&, int, int, bool) { return nullptr; }

}  // namespace feedrate::train
