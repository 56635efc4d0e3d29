#pragma once
#include <ATen/cuda/CUDAContextLight.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

#include <vector>

#include "models/blocks.h"

namespace feedrate::models {
namespace blocks_detail {

template <int kPhase, typename Kernel>
__device__ void run_phases(Place place, const Kernel& kernel, typename Kernel::Shared& shared) {
  if constexpr (kPhase < Kernel::kPhases) {
    if constexpr (kPhase > 0) __syncthreads();
    kernel.template phase<kPhase>(place, shared);
    run_phases<kPhase + 1>(place, kernel, shared);
  }
}

template <typename Kernel>
__global__ void __launch_bounds__(Kernel::kThreads, Kernel::kResident / Kernel::kThreads)
    run(const Kernel kernel) {
  __shared__ typename Kernel::Shared shared;
  const Place place{static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y),
                    static_cast<int>(threadIdx.x)};
  run_phases<0>(place, kernel, shared);
}

}  // namespace blocks_detail

// Queues kernels of blocks.h on the current stream. Errors: c10::Error where the launch is refused.
struct OnCuda {
  static int processors() { return at::cuda::getCurrentDeviceProperties()->multiProcessorCount; }
  template <typename Kernel>
  static void launch(Grid grid, const Kernel& kernel) {
    check_size_of<Kernel>();
    const dim3 blocks(static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y));
    blocks_detail::run<<<blocks, Kernel::kThreads, 0, c10::cuda::getCurrentCUDAStream()>>>(kernel);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  }
  // The same as a node of a graph, behind these.
  template <typename Kernel>
  static cudaGraphNode_t add_to(cudaGraph_t graph, const std::vector<cudaGraphNode_t>& before,
                                Grid grid, Kernel kernel) {
    check_size_of<Kernel>();
    void* arguments[] = {&kernel};
    cudaKernelNodeParams params{};
    params.func = reinterpret_cast<void*>(&blocks_detail::run<Kernel>);
    params.gridDim = dim3(static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y));
    params.blockDim = dim3(Kernel::kThreads);
    params.kernelParams = arguments;
    cudaGraphNode_t node{};
    C10_CUDA_CHECK(cudaGraphAddKernelNode(&node, graph, before.data(), before.size(), &params));
    return node;
  }

 private:
  template <typename Kernel>
  static constexpr void check_size_of() {
    static_assert(sizeof(typename Kernel::Shared) <= 48 * 1024,
                  "what every GPU gives a block without being asked");
    static_assert(sizeof(Kernel) <= 4096, "what a launch carries");
  }
};

}  // namespace feedrate::models
