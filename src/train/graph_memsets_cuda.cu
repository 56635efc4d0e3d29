#include "train/graph_memsets_cuda.h"

#include <vector>

#include "device/graph_memsets.h"
#include "models/blocks_cuda.cuh"
#include "train/fill_blocks.h"
#include "train/normalise_launch.h"

namespace feedrate::train {
namespace {

using Node = cudaGraphNode_t;

// CUDA 13 tells of edges what those of memset nodes do not have.
#if CUDART_VERSION >= 13000
constexpr auto kNoMore = nullptr;
cudaError_t dependencies(Node node, Node* nodes, std::size_t* count) {
  return cudaGraphNodeGetDependencies(node, nodes, kNoMore, count);
}
cudaError_t dependents(Node node, Node* nodes, std::size_t* count) {
  return cudaGraphNodeGetDependentNodes(node, nodes, kNoMore, count);
}
cudaError_t add_dependency(cudaGraph_t graph, Node before, Node behind) {
  return cudaGraphAddDependencies(graph, &before, &behind, kNoMore, 1);
}
#else
cudaError_t dependencies(Node node, Node* nodes, std::size_t* count) {
  return cudaGraphNodeGetDependencies(node, nodes, count);
}
cudaError_t dependents(Node node, Node* nodes, std::size_t* count) {
  return cudaGraphNodeGetDependentNodes(node, nodes, count);
}
cudaError_t add_dependency(cudaGraph_t graph, Node before, Node behind) {
  return cudaGraphAddDependencies(graph, &before, &behind, 1);
}
#endif

class CudaGraphNodes {
 public:
  explicit CudaGraphNodes(cudaGraph_t graph) : graph_(graph) {}

  std::vector<Node> memsets() const {
    std::vector<Node> found;
    for (const Node node : listed([&](Node* nodes, std::size_t* count) {
           return cudaGraphGetNodes(graph_, nodes, count);
         })) {
      cudaGraphNodeType type{};
      C10_CUDA_CHECK(cudaGraphNodeGetType(node, &type));
      if (type == cudaGraphNodeTypeMemset) found.push_back(node);
    }
    return found;
  }
  device::GraphMemset memset(Node node) const {
    cudaMemsetParams params{};
    C10_CUDA_CHECK(cudaGraphMemsetNodeGetParams(node, &params));
    return {.to = reinterpret_cast<std::uintptr_t>(params.dst),
            .pitch = params.pitch,
            .row_bytes = params.width * params.elementSize,
            .rows = params.height,
            .value = params.value,
            .element_bytes = params.elementSize};
  }
  std::vector<Node> before(Node node) const {
    return listed(
        [&](Node* nodes, std::size_t* count) { return dependencies(node, nodes, count); });
  }
  std::vector<Node> behind(Node node) const {
    return listed([&](Node* nodes, std::size_t* count) { return dependents(node, nodes, count); });
  }
  Node add_fill(const std::vector<Node>& before, const device::GraphMemset& memset) {
    FillRows kernel(memset);
    kernel.grid = grid_for<models::OnCuda>(kernel, static_cast<std::int64_t>(kernel.packs()));
    return models::OnCuda::add_to(graph_, before, kernel.grid, kernel);
  }
  void wait(Node behind, Node before) { C10_CUDA_CHECK(add_dependency(graph_, before, behind)); }
  void remove(Node node) { C10_CUDA_CHECK(cudaGraphDestroyNode(node)); }

 private:
  // `list` says how many there are where it is given no room for them.
  template <typename List>
  static std::vector<Node> listed(const List& list) {
    std::size_t count = 0;
    C10_CUDA_CHECK(list(nullptr, &count));
    std::vector<Node> nodes(count);
    if (count > 0) C10_CUDA_CHECK(list(nodes.data(), &count));
    return nodes;
  }

  const cudaGraph_t graph_;
};

}  // namespace

std::size_t memsets_to_kernels(cudaGraph_t graph) {
  CudaGraphNodes nodes(graph);
  return device::memsets_to_kernels(nodes);
}

}  // namespace feedrate::train
