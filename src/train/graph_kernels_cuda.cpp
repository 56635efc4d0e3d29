#include "train/graph_kernels_cuda.h"

#include <cuda.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
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

// By its mangled name.
bool is_of_a_library(std::string_view kernel) {
  constexpr std::string_view kOthers[] = {"_ZN2at", "_ZN3c10", "_ZN8feedrate"};
  return std::ranges::none_of(kOthers,
                              [&](std::string_view other) { return kernel.starts_with(other); });
}

// Nothing where one cannot be found out.
std::optional<std::vector<std::string>> kernels_of(cudaGraph_t graph) {
  std::size_t count = 0;
  if (cudaGraphGetNodes(graph, nullptr, &count) != cudaSuccess) return std::nullopt;
  std::vector<cudaGraphNode_t> nodes(count);
  if (cudaGraphGetNodes(graph, nodes.data(), &count) != cudaSuccess) return std::nullopt;
  const KernelNames names;
  std::vector<std::string> all;
  for (cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type{};
    if (cudaGraphNodeGetType(node, &type) != cudaSuccess) return std::nullopt;
    if (type != cudaGraphNodeTypeKernel) continue;
    auto name = names.of(node);
    if (!name) return std::nullopt;
    all.push_back(*std::move(name));
  }
  return all;
}

}  // namespace

std::string kernels_xxh3(cudaGraph_t graph) {
  auto kernels = kernels_of(graph);
  cudaGetLastError();  // of what could not be found out: else the next launch would report it
  if (!kernels) return {};
  std::erase_if(*kernels, [](const std::string& kernel) { return !is_of_a_library(kernel); });
  std::ranges::sort(*kernels);
  std::string text;
  for (const std::string& kernel : *kernels) text += kernel + "\n";
  return to_hex(xxh3_of(text));
}

}  // namespace feedrate::train
