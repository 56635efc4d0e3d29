#pragma once
#include <c10/macros/Macros.h>

#include <vector>

// A way to write GPU kernels that a host test can run as they are. A kernel is a struct with its
// arguments as members:
//
//   static constexpr int kThreads;   // in a block
//   static constexpr int kPhases;    // between two of them the block's threads wait for each other
//   static constexpr int kResident;  // threads at once on a processor, for its registers
//   using Shared = ...;              // what a block's threads share; trivial
//   template <int kPhase> C10_HOST_DEVICE void phase(Place place, Shared& shared) const;
//
// Nothing survives from phase to phase but what is in memory. blocks_cuda.cuh runs it on a GPU,
// OnHost here on the CPU.
namespace feedrate::models {

struct Grid {
  int x = 1, y = 1;
};
struct Place {
  int block_x = 0, block_y = 0, thread = 0;
};

// 16 bytes: what a thread reads and writes at once.
template <typename T>
struct alignas(16) Pack {
  static constexpr int kWidth = static_cast<int>(16 / sizeof(T));
  T values[kWidth];
};

// As many blocks of a kernel as run at once.
template <typename Launcher, typename Kernel>
int blocks_at_once() {
  return Kernel::kResident / Kernel::kThreads * Launcher::processors();
}

// Runs one block after the other, and in it one thread after the other, phase by phase.
struct OnHost {
  static int processors() { return 2; }
  template <typename Kernel>
  static void launch(Grid grid, const Kernel& kernel) {
    std::vector<typename Kernel::Shared> shared(1);
    for (int y = 0; y < grid.y; ++y) {
      for (int x = 0; x < grid.x; ++x) run_phases<0>({x, y, 0}, kernel, shared[0]);
    }
  }

 private:
  template <int kPhase, typename Kernel>
  static void run_phases(Place place, const Kernel& kernel, typename Kernel::Shared& shared) {
    if constexpr (kPhase < Kernel::kPhases) {
      for (place.thread = 0; place.thread < Kernel::kThreads; ++place.thread)
        kernel.template phase<kPhase>(place, shared);
      run_phases<kPhase + 1>(place, kernel, shared);
    }
  }
};

}  // namespace feedrate::models
