#include <ATen/Functions.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "measure/clock.h"
#include "train/operators.h"

namespace feedrate::tests {
namespace {

void multiply() {
  const at::Tensor a = at::ones({64, 64});
  at::mm(a, a);
}

std::vector<std::string> names_of(const std::vector<measure::TraceOperator>& operators) {
  std::vector<std::string> names;
  for (const auto& o : operators) names.push_back(o.name);
  return names;
}

TEST(Operators, LieWithinTheStepsByOurClock) {
  std::int64_t begins = 0, ends = 0;
  const auto found = train::operators_of(/*on_gpu=*/false, [&] {
    begins = measure::now_ns();
    for (int i = 0; i < 3; ++i) multiply();
    ends = measure::now_ns();
  });
  const auto names = names_of(found);
  EXPECT_EQ(std::ranges::count(names, "aten::mm"), 3);
  constexpr std::int64_t kApart = 5'000'000;  // two clocks, and threads that were kept from a CPU
  for (const auto& o : found) {
    EXPECT_GE(o.start_ns, begins - kApart) << o.name;
    EXPECT_LE(o.start_ns + o.duration_ns, ends + kApart) << o.name;
    EXPECT_GE(o.duration_ns, 0) << o.name;
    EXPECT_FALSE(o.on_device) << o.name;
  }
}

TEST(Operators, HoldThoseOfTheBackwardPass) {
  const auto found = train::operators_of(/*on_gpu=*/false, [] {
    const at::Tensor a = at::ones({8, 8}).requires_grad_();
    at::mm(a, a).sum().backward();
  });
  EXPECT_THAT(names_of(found), testing::Contains(testing::HasSubstr("MmBackward0")));
}

TEST(Operators, AreSeenAgainAfterStepsThatFailed) {
  EXPECT_THROW(train::operators_of(false, [] { throw std::runtime_error("no memory"); }),
               std::runtime_error);
  EXPECT_THAT(names_of(train::operators_of(false, multiply)), testing::Contains("aten::mm"));
}

}  // namespace
}  // namespace feedrate::tests
