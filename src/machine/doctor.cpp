#include "machine/doctor.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <set>

#include "base/error.h"
#include "base/proc_files.h"
#include "base/supervised_process.h"
#include "device/accelerator.h"
#include "device/cuda_errors.h"
#include "device/registry.h"
#include "judge/flags.h"
#include "measure/affinity.h"
#include "measure/amx.h"
#include "measure/clock.h"
#include "measure/host_counters.h"
#include "measure/memory.h"
#include "ranks/rank_processes.h"
#include "run/cell_runner.h"
#include "run/probe_cell_data.h"
#include "storage/dataset.h"
#include "storage/image_folder.h"

namespace feedrate::machine {
namespace {

constexpr int kCuda = 13000;  // which the pinned LibTorch is built with

// What a program prints on stdout, and whether it ended well. Its words reach it as they are.
std::pair<std::string, bool> output_of(std::vector<std::string> words) {
  const std::vector<char*> arguments = exec_arguments(words);
  SupervisedProcess program(
      [&] {
        dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
        execvp(arguments.front(), arguments.data());
        return 127;
      },
      SupervisedProcess::Output::captured);
  const std::string text = *program.output();
  return {text, program.wait() == 0};
}

std::string gigabytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GB", bytes / 1e9);
  return text;
}

void look_at_disk(const FindingSink& tell, const std::string& folder) {
  struct statvfs disk;
  if (statvfs(folder.c_str(), &disk) != 0) return;  // look_at_dataset() says so
  const double free_gb =
      static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize) / 1e9;
  char text[96];
  std::snprintf(text, sizeof text, "%.1f GB free at %s", free_gb, folder.c_str());
  if (free_gb < 12) {
    tell({Mark::note, "disk", text,
          "2048 pictures at 768x768 in every format take about 12 GB: `feedrate gen` "
          "checks before it writes"});
  } else {
    tell({Mark::ok, "disk", text});
  }
}

void look_at_dataset(const FindingSink& tell, const std::string& folder) {
  if (folder.empty()) return;
  try {
    if (storage::is_image_folder(folder)) {
      tell({Mark::note, "dataset", folder + " holds no dataset.json: taken as a folder of your own",
            "`run --dataset` reads all its pictures; name --data and --image-size mixed here, "
            "and a row `sweep` tells whether they can be read"});
      return;
    }
    for (const std::string& name : storage::dataset_variants(folder)) {
      const storage::DatasetVariant variant = storage::open_dataset(folder, name);
      tell({Mark::ok, "dataset",
            name + ": " + std::to_string(variant.samples.size()) + " samples, " +
                std::to_string(variant.total_bytes / 1'000'000) + " MB"});
      if (static_cast<double>(variant.total_bytes) >
          0.8 * static_cast<double>(measure::memory_available())) {
        tell({Mark::note, "dataset", name + " does not fit into the memory that is available",
              "its reads come from storage, not from the page cache; --cache encoded is refused"});
      }
    }
  } catch (const Error& error) {
    tell({Mark::missing, "dataset", error.what()});
  }
}

// Whether the dataset's storage answers: else nothing here may touch it.
bool storage_answers(const run::RunOptions& options, const FindingSink& tell) {
  if (options.data.empty()) return true;
  try {
    run::probe_dataset(options, *ranks::make_local_ranks({"rank"}));
    return true;
  } catch (const std::exception& error) {
    tell({Mark::missing, "dataset", error.what()});
    return false;
  }
}

}  // namespace

void look_at_machine(const FindingSink& tell) {
  tell({Mark::ok, "cpu",
        value_in("/proc/cpuinfo", "model name") + ", " + std::to_string(measure::allowed_cpus()) +
            " CPUs"});
  const double total_kib = std::atof(value_in("/proc/meminfo", "MemTotal").c_str());
  tell({Mark::ok, "memory",
        gigabytes(static_cast<double>(measure::memory_available())) + " available of " +
            gigabytes(1024 * total_kib)});
  const std::string governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (!governor.empty() && governor != "performance") {
    tell({Mark::note, "governor", governor + ": clocks change with the load",
          "cpupower frequency-set -g performance"});
  }
  const measure::HostCounters before = measure::read_host_counters();
  measure::sleep_until_ns(measure::now_ns() + 500'000'000);
  const measure::HostUse use = measure::host_use(before, measure::read_host_counters());
  const double others = std::max(use.cpu_other_processes, use.usable_cpus_other_processes);
  const std::string busy = std::to_string(static_cast<int>(100 * others)) +
                           " % of the CPUs busy with other processes, or the kernel";
  if (others < 0) {
    tell({Mark::note, "quiet", "/proc/stat cannot be read: other programs are not seen",
          "let this user read it"});
  } else if (others > *judge::flag_rule("noisy_neighbour").threshold) {
    tell({Mark::note, "quiet", busy, "end them before measuring"});
  } else {
    tell({Mark::ok, "quiet", busy});
  }
  if (use.psi_cpu_some < 0)
    tell({Mark::note, "pressure", "the kernel offers no /proc/pressure",
          "neighbours are seen by CPU time alone"});
}

void look_at_gpus(const FindingSink& tell) {
  const auto [gpus, found] = output_of(
      {"nvidia-smi", "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader"});
  if (!found || gpus.empty()) {
    tell({Mark::note, "gpu", "no NVIDIA GPU or driver",
          "use --device cpu or emulated:NAME; a GPU needs driver " +
              std::to_string(device::least_cuda_driver(kCuda)) + " or newer"});
    return;
  }
  std::size_t at = 0;
  for (std::size_t end; (end = gpus.find('\n', at)) != std::string::npos; at = end + 1) {
    const std::string line = gpus.substr(at, end - at);
    const auto first = line.find(", "), second = line.rfind(", ");
    const int driver = std::atoi(line.substr(first + 2).c_str());
    const double capability = std::atof(line.substr(second + 2).c_str());
    if (driver < device::least_cuda_driver(kCuda)) {
      tell({Mark::missing, "gpu", line,
            "this LibTorch is built for CUDA 13: install driver " +
                std::to_string(device::least_cuda_driver(kCuda)) + " or newer"});
    } else if (10 * capability < device::least_capability(kCuda)) {
      tell({Mark::missing, "gpu", line,
            "too old for CUDA 13: build with a LibTorch for CUDA 12 (CMAKE_PREFIX_PATH)"});
    } else {
      tell({Mark::ok, "gpu", line});
    }
  }
}

void look_at_training(const FindingSink& tell) {
  try {
    device::AcceleratorRegistry registry;
    tell({Mark::ok, "libtorch", registry.find("cpu").help});
    if (measure::amx_lacks_tiles()) {
      tell({Mark::note, "amx",
            "announced, but without the sizes of its tiles: a hypervisor's fault",
            "--device cpu does without it, so bf16 is slower than the CPU could be"});
    }
    const int gpus = registry.find("cuda").count();
    tell({Mark::ok, "cuda", std::to_string(gpus) + " devices that LibTorch can use"});
  } catch (const Error& error) {
    tell({Mark::note, "libtorch", error.what(), "emulated devices work all the same"});
  }
}

void look_at_report(const std::string& python, const FindingSink& tell) {
  const auto [version, found] =
      output_of({python, "-c", "import matplotlib; print(matplotlib.__version__)"});
  if (found) {
    tell(
        {Mark::ok, "report", python + " with matplotlib " + version.substr(0, version.find('\n'))});
  } else {
    tell({Mark::missing, "report", python + " has no matplotlib",
          "run scripts/bootstrap, or set FEEDRATE_PYTHON"});
  }
}

bool look_at_data(const run::RunOptions& options, const FindingSink& tell) {
  if (!storage_answers(options, tell)) return false;
  const std::string data = options.data.string();
  look_at_disk(tell, data.empty() ? "." : data);
  look_at_dataset(tell, data);
  return true;
}

void look_at_sweep(const std::vector<plan::Cell>& cells, const run::RunOptions& options,
                   const FindingSink& tell) {
  device::AcceleratorRegistry registry;
  const auto ranks = ranks::make_local_ranks({"rank"});  // to ask what they could run
  run::CellRunner runner(options, registry, *ranks);
  std::set<std::string> troubles;
  double memory = 0;
  for (const plan::Cell& cell : cells) {
    try {
      memory = std::max(memory, runner.check(cell));
    } catch (const Error& error) {
      if (troubles.insert(error.what()).second) tell({Mark::missing, "sweep", error.what()});
    } catch (const run::UnreadableDataset& error) {
      if (troubles.insert(error.what()).second) tell({Mark::missing, "sweep", error.what()});
    } catch (const std::exception& error) {
      // Storage that does not answer: each further cell would wait for it as long, and leave
      // another process behind.
      return tell({Mark::missing, "sweep", error.what()});
    }
  }
  if (!troubles.empty()) return;
  tell({Mark::ok, "sweep",
        std::to_string(cells.size()) + " cells; the largest holds " +
            std::to_string(std::lround(memory / 1e6)) +
            " MB (slabs, decoders, manifest, caches) of the " +
            gigabytes(static_cast<double>(measure::memory_available())) + " that are available"});
}

}  // namespace feedrate::machine
