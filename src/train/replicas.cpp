#include "train/replicas.h"

#include <torch/csrc/distributed/c10d/comm.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace feedrate::train {
namespace {

// The Reducer's usual all-reduce, which also tells when the last bucket is handed over. NCCL
// averages within its kernel; by Gloo, which cannot, the ranks' parts of the mean are added.
class Averaging : public c10d::CppCommHookInterface<ProcessGroup> {
 public:
  Averaging(ProcessGroup group, std::function<void()> handed_over)
      : CppCommHookInterface(std::move(group)), handed_over_(std::move(handed_over)) {}

  c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override {
    std::vector<at::Tensor> tensors = {bucket.getBufferRef()};
    c10d::AllreduceOptions options;
    if (tensors[0].is_cuda()) {
      options.reduceOp = c10d::ReduceOp::AVG;
    } else {
      tensors[0].div_(state_->getSize());
    }
    auto work = state_->allreduce(tensors, options);
    if (bucket.isLast() && handed_over_) handed_over_();
    return work->getFuture();
  }

 private:
  const std::function<void()> handed_over_;
};

constexpr std::size_t kBroadcastBytes = std::size_t{250}
                                        << 20;  // torch.nn.parallel.DistributedDataParallel's

std::unique_ptr<c10d::Reducer> make_reducer(const ProcessGroup& group,
                                            const std::vector<at::Tensor>& parameters) {
  const std::vector<bool> sparse(parameters.size(), false);
  // Gradients come in about the reverse order of the parameters: the first bucket to be sent is
  // that of the last ones.
  auto [buckets, sizes] = c10d::compute_bucket_assignment_by_size(
      parameters, {c10d::kDefaultFirstBucketBytes, c10d::kDefaultBucketBytesCap}, sparse);
  std::reverse(buckets.begin(), buckets.end());
  return std::make_unique<c10d::Reducer>(
      parameters, std::move(buckets), group, sparse, c10d::kDefaultBucketBytesCap,
      /*find_unused_parameters=*/false, /*gradient_as_bucket_view=*/true,
      std::unordered_map<std::size_t, std::string>{}, c10d::kDefaultFirstBucketBytes,
      /*skip_all_reduce_unused_params=*/false, /*use_python_reducer=*/false,
      std::vector<std::int64_t>{});
}

}  // namespace

Replicas::Replicas(ProcessGroup group, const std::vector<at::Tensor>& parameters,
                   const std::vector<at::Tensor>& state, ExchangeWatch watch)
    : group_(std::move(group)), watch_(std::move(watch)) {
  std::vector<at::Tensor> values;
  for (const at::Tensor& t : state) values.push_back(t.detach());
  c10d::broadcast_coalesced(group_, values, kBroadcastBytes);
  reducer_ = make_reducer(group_, parameters);
  reducer_->register_comm_hook(std::make_unique<Averaging>(group_, watch_.handed_over));
}

Replicas::~Replicas() {
  reducer_.reset();
  // Ending together waits for the others, who may wait for this one's gradients.
  if (std::uncaught_exceptions() > 0) abandon();
  try {
    if (!is_abandoned_) group_->shutdown();
  } catch (const std::exception&) {  // they are gone
  }
}

void Replicas::abandon() noexcept {
  if (std::exchange(is_abandoned_, true)) return;
  try {
    group_->abort();
  } catch (const std::exception&) {  // as before, or the library knows no such end
  }
}

void Replicas::before_forward() {
  reducer_->prepare_for_forward();
  reducer_->rebuild_buckets();  // once, in the order in which the first backward pass has made them
}
void Replicas::before_backward() { reducer_->prepare_for_backward({}); }
void Replicas::after_backward() {
  if (watch_.averaged) watch_.averaged();
}

}  // namespace feedrate::train
