#include "storage/storage.h"

namespace feedrate::storage {

std::int64_t Storage::read(const SampleFile& sample, Buffer& into, std::span<std::byte> tail) {
  const ReadRequest request{0, &sample, &into, tail};
  if (slot_) slot_->begin(sample);
  submit({&request, 1});
  ReadCompletion done;
  poll({&done, 1}, true);
  if (slot_) slot_->end();
  if (done.error) std::rethrow_exception(done.error);
  return done.lock_ns;
}

void ReadsOnDemand::submit(std::span<const ReadRequest> requests) {
  if (next_ == pending_.size()) pending_.clear(), next_ = 0;
  pending_.insert(pending_.end(), requests.begin(), requests.end());
}

std::size_t ReadsOnDemand::poll(std::span<ReadCompletion> done, bool) {
  std::size_t count = 0;
  for (; count < done.size() && next_ < pending_.size(); ++count) {
    const ReadRequest& request = pending_[next_++];
    done[count] = {.tag = request.tag};
    try {
      done[count].lock_ns = carry_out(request);
    } catch (...) {
      done[count].error = std::current_exception();
    }
  }
  return count;
}

}  // namespace feedrate::storage
