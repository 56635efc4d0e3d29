#include "measure/kernel_threads.h"

#include "tests/measure/made_up_system.h"

namespace feedrate::tests {
namespace {

constexpr std::int64_t kTickNs = 10'000'000;  // of USER_HZ, which is 100

class KernelThreads : public MadeUpSystem {
 protected:
  void process(int pid, const std::string& name, bool is_kernels, int user, int system,
               int began = 7, int cpu = 0) {
    write("proc/" + std::to_string(pid) + "/stat",
          std::to_string(pid) + " (" + name + ") S 2 0 0 0 -1 " +
              std::to_string(is_kernels ? 69238880 : 4194304) + " 1 2 3 4 " + std::to_string(user) +
              " " + std::to_string(system) + " 5 6 20 0 1 0 " + std::to_string(began) +
              " 0 0 18446744073709551615 0 0 0 0 0 0 0 2147483647 0 0 0 0 17 " +
              std::to_string(cpu) + " 0 0 0 0 0\n");
  }
  measure::KernelThreads read() { return measure::read_kernel_threads(root_ / "proc"); }
};

TEST_F(KernelThreads, AreTheKernelsAlone) {
  write("proc/stat", "cpu 1 2 3 4\n");
  process(12, "kworker/0:1 (dm) crypt", true, 0, 100);
  process(13, "ksoftirqd/0", true, 0, 900);
  process(500, "dd) S 2 0", false, 50, 70);
  const measure::KernelThreads before = read();
  process(12, "kworker/0:1 (dm) crypt", true, 1, 141);
  process(13, "ksoftirqd/0", true, 0, 990);
  process(500, "dd) S 2 0", false, 90, 99);
  EXPECT_EQ(measure::cpu_ns_between(before, read()), 42 * kTickNs);
}

TEST_F(KernelThreads, ThatCameOrWentTakeNothingAway) {
  process(12, "kworker/0:1", true, 0, 5000);
  process(14, "kworker/0:2", true, 0, 10);
  const measure::KernelThreads before = read();
  process(12, "kworker/u:3", true, 0, 4, /*began=*/99);  // another one of that number
  process(14, "kworker/0:2", true, 0, 13);
  process(15, "nfsd", true, 0, 2);
  EXPECT_EQ(measure::cpu_ns_between(before, read()), (4 + 3 + 2) * kTickNs);
}

// Of a run that may use some of many CPUs, which others' interrupts and writing do not reach.
TEST_F(KernelThreads, CountWhereTheyRanLast) {
  process(12, "kworker/0:1", true, 0, 0, 7, 0);
  process(14, "kworker/63:2", true, 0, 0, 7, 63);
  const measure::KernelThreads before = read();
  process(12, "kworker/0:1", true, 0, 30, 7, 0);
  process(14, "kworker/63:2", true, 0, 500, 7, 63);
  const int usable[] = {0, 1, 2, 3}, none[] = {5};
  EXPECT_EQ(measure::cpu_ns_between(before, read()), 530 * kTickNs);
  EXPECT_EQ(measure::cpu_ns_between(before, read(), usable), 30 * kTickNs);
  EXPECT_EQ(measure::cpu_ns_between(before, read(), none), 0);
}

TEST_F(KernelThreads, AreUnknownWhereNoneCanBeSeen) {
  process(1, "a container's shell", false, 5, 5);
  write("proc/12/stat", "nonsense\n");
  EXPECT_EQ(measure::cpu_ns_between(read(), read()), -1);
  std::filesystem::remove_all(root_);
  EXPECT_EQ(measure::cpu_ns_between(read(), read()), -1);
}

}  // namespace
}  // namespace feedrate::tests
