#include "train/graph_kernels_cuda.h"

#include <cuda.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/text.h"
#include "base/xxh3.h"

namespace feedrate::train {
namespace {

// A function of the driver, to which nothing links: a machine without one runs everything else.
template <typename Function>
Function of_driver(const char* name, unsigned since) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status{};
  const cudaError_t asked =
      cudaGetDriverEntryPointByVersion(name, &found, since, cudaEnableDefault, &status);
  if (asked == cudaSuccess && status == cudaDriverEntryPointSuccess)
    return reinterpret_cast<Function>(found);
  cudaGetLastError();
  return nullptr;
}

// The driver's own: the runtime's knows no kernels that a library has loaded by itself, as cuDNN
// does.
class KernelNames {
 public:
  std::optional<std::string> of(cudaGraphNode_t node) const {
    CUDA_KERNEL_NODE_PARAMS params{};
    const char* name = nullptr;
    if (!params_of_ || !name_of_function_ || !name_of_kernel_ ||
        params_of_(node, &params) != CUDA_SUCCESS)
      return std::nullopt;
    const CUresult asked =
        params.func ? name_of_function_(&name, params.func) : name_of_kernel_(&name, params.kern);
    return asked == CUDA_SUCCESS && name ? std::optional<std::string>(name) : std::nullopt;
  }

 private:
  decltype(&cuGraphKernelNodeGetParams) params_of_ =
      of_driver<decltype(&cuGraphKernelNodeGetParams)>("cuGraphKernelNodeGetParams", 12000);
  decltype(&cuFuncGetName) name_of_function_ =
      of_driver<decltype(&cuFuncGetName)>("cuFuncGetName", 12030);
  decltype(&cuKernelGetName) name_of_kernel_ =
      of_driver<decltype(&cuKernelGetName)>("cuKernelGetName", 12030);
};

}  // namespace

std::string kernels_xxh3(cudaGraph_t graph) {
  std::size_t count = 0;
  if (cudaGraphGetNodes(graph, nullptr, &count) != cudaSuccess) return {};
  std::vector<cudaGraphNode_t> nodes(count);
  if (cudaGraphGetNodes(graph, nodes.data(), &count) != cudaSuccess) return {};
  const KernelNames names;
  std::vector<std::string> all;
  for (cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type{};
    if (cudaGraphNodeGetType(node, &type) != cudaSuccess) return {};
    if (type != cudaGraphNodeTypeKernel) continue;
    auto name = names.of(node);
    if (!name) return {};
    all.push_back(*std::move(name));
  }
  std::ranges::sort(all);
  std::string text;
  for (const std::string& name : all) text += name + "\n";
  return to_hex(xxh3_of(text));
}

}  // namespace feedrate::train
