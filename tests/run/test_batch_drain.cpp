#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "pipeline/slab_ring.h"
#include "run/batch_drain.h"

namespace feedrate::tests {
namespace {

// Gives as many batches as were released, and then waits, fails or has been stopped.
class FakeLoader : public pipeline::Loader {
 public:
  pipeline::BatchLease next() override {
    std::unique_lock lock(mutex_);
    ++asked_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return stopped_ || fails_ || released_ > 0; });
    if (fails_) throw Error("sample 7", "is bad");
    if (stopped_) return nullptr;
    --released_;
    ++given_;
    changed_.notify_all();
    return ring_->acquire();
  }
  void stop() override { change(stopped_, true); }
  std::int64_t samples_ahead_limit() const override { return 0; }
  measure::StageTotals stages() const override { return {}; }

  void release(int batches) { change(released_, batches); }
  void fail() { change(fails_, true); }
  int given() {
    const std::lock_guard lock(mutex_);
    return given_;
  }
  bool stopped() {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }
  void wait_until_given(int batches) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return given_ >= batches; });
  }
  void wait_until_asked() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return asked_ > 0; });
  }

 private:
  template <typename Value>
  void change(Value& value, Value to) {
    const std::lock_guard lock(mutex_);
    value = to;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false, fails_ = false;
  int released_ = 0, asked_ = 0, given_ = 0;
  // Of one slab: a batch that is not dropped would be waited for.
  const std::shared_ptr<pipeline::SlabRing> ring_ =
      pipeline::SlabRing::make({1, {1, 1}, codec::Dtype::uint8}, 1, pipeline::host_slabs());
};

void give_it_time() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }

TEST(BatchDrain, TakesABatchForEachStepAndDropsIt) {
  FakeLoader loader;
  run::BatchDrain discarding(loader);
  loader.release(1000);
  give_it_time();
  EXPECT_EQ(loader.given(), 0) << "no step was made";
  for (int step = 1; step <= 10; ++step) {
    discarding.allow_one();
    loader.wait_until_given(step);
  }
  give_it_time();
  EXPECT_EQ(loader.given(), 10);
}

TEST(BatchDrain, NoStepWaitsAndLoadersNeedNotMakeUpForAll) {
  FakeLoader loader;
  run::BatchDrain discarding(loader);
  for (int step = 0; step < 1000; ++step) discarding.allow_one();  // would wait for ever otherwise
  loader.release(1000);
  loader.wait_until_given(4);
  give_it_time();
  EXPECT_LE(loader.given(), 5) << "what it waited for, and four more";
}

TEST(BatchDrain, EndsAlthoughTheLoaderHasNothing) {
  FakeLoader loader;
  {
    run::BatchDrain discarding(loader);
    discarding.allow_one();
    loader.wait_until_asked();
  }
  EXPECT_TRUE(loader.stopped());
  FakeLoader never_asked;
  const run::BatchDrain idle(never_asked);
}

TEST(BatchDrain, ALoadersErrorEndsTheSteps) {
  FakeLoader loader;
  run::BatchDrain discarding(loader);
  loader.fail();
  const auto step_for_ever = [&] {
    for (;;) {
      discarding.allow_one();
      std::this_thread::yield();
    }
  };
  EXPECT_THROW(step_for_ever(), Error);
  EXPECT_THROW(discarding.allow_one(), Error) << "nor does it go on";
}

TEST(BatchDrain, ALoaderThatWasStoppedIsNoError) {
  FakeLoader loader;
  run::BatchDrain discarding(loader);
  loader.stop();
  for (int step = 0; step < 100; ++step) discarding.allow_one();
}

}  // namespace
}  // namespace feedrate::tests
