#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "device/graph_memsets.h"

namespace feedrate::tests {
namespace {

using device::GraphMemset;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

// A graph whose nodes are numbers: "memset", "kernel", or "fill VALUE" for what was put in.
class StandInGraph {
 public:
  int add(std::string kind) {
    kinds_.push_back(std::move(kind));
    return static_cast<int>(kinds_.size()) - 1;
  }
  std::vector<int> memsets() const {
    std::vector<int> found;
    for (int node = 0; node < static_cast<int>(kinds_.size()); ++node)
      if (kinds_[static_cast<std::size_t>(node)] == "memset") found.push_back(node);
    return found;
  }
  GraphMemset memset(int node) const { return {.value = static_cast<std::uint32_t>(node)}; }
  std::vector<int> before(int node) const {
    std::vector<int> found;
    for (const auto& [from, to] : edges_)
      if (to == node) found.push_back(from);
    return found;
  }
  std::vector<int> behind(int node) const {
    std::vector<int> found;
    for (const auto& [from, to] : edges_)
      if (from == node) found.push_back(to);
    return found;
  }
  int add_fill(const std::vector<int>& before, const GraphMemset& memset) {
    const int node = add("fill " + std::to_string(memset.value));
    for (const int one : before) wait(node, one);
    return node;
  }
  void wait(int behind, int before) { edges_.emplace(before, behind); }
  void remove(int node) {
    kinds_[static_cast<std::size_t>(node)] = "gone";
    std::erase_if(edges_,
                  [&](const auto& edge) { return edge.first == node || edge.second == node; });
  }
  // "what>what waits for it"
  std::vector<std::string> edges() const {
    std::vector<std::string> words;
    for (const auto& [from, to] : edges_) words.push_back(kind(from) + ">" + kind(to));
    return words;
  }
  std::string kind(int node) const { return kinds_[static_cast<std::size_t>(node)]; }

 private:
  std::vector<std::string> kinds_;
  std::set<std::pair<int, int>> edges_;
};

TEST(GraphMemsets, KernelsTakeTheirPlace) {
  StandInGraph graph;
  const int first = graph.add("a"), memset = graph.add("memset"), beside = graph.add("b"),
            last = graph.add("c");
  graph.wait(memset, first), graph.wait(beside, first);
  graph.wait(last, memset), graph.wait(last, beside);
  EXPECT_EQ(device::memsets_to_kernels(graph), 1u);
  EXPECT_THAT(graph.edges(), UnorderedElementsAre("a>fill 1", "a>b", "fill 1>c", "b>c"));
  EXPECT_EQ(device::memsets_to_kernels(graph), 0u);
}

TEST(GraphMemsets, OneBehindTheOtherStayInThatOrder) {
  StandInGraph graph;
  for (int i = 0; i < 3; ++i) graph.add("memset");
  const int last = graph.add("c");
  graph.wait(1, 0), graph.wait(2, 1), graph.wait(2, 0), graph.wait(last, 2);
  EXPECT_EQ(device::memsets_to_kernels(graph), 3u);
  EXPECT_THAT(graph.edges(),
              UnorderedElementsAre("fill 0>fill 1", "fill 1>fill 2", "fill 0>fill 2", "fill 2>c"));
}

TEST(GraphMemsets, ThoseWithoutNeighboursStayAlone) {
  StandInGraph graph;
  graph.add("memset");
  EXPECT_EQ(device::memsets_to_kernels(graph), 1u);
  EXPECT_THAT(graph.edges(), ElementsAre());
  EXPECT_EQ(graph.kind(1), "fill 0");
}

TEST(GraphMemsets, APatternHoldsTheValueAsOftenAsItFits) {
  const auto pattern = [](std::uint32_t value, unsigned bytes) {
    return GraphMemset{.value = value, .element_bytes = bytes}.pattern();
  };
  EXPECT_EQ(pattern(0xab, 1), 0xababababu);
  EXPECT_EQ(pattern(0xfffffffb, 1), 0xfbfbfbfbu) << "its low byte alone";
  EXPECT_EQ(pattern(0x1234, 2), 0x12341234u);
  EXPECT_EQ(pattern(0x12345678, 4), 0x12345678u);
}

}  // namespace
}  // namespace feedrate::tests
