#include <sys/statvfs.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/proc_files.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/python_report.h"
#include "device/accelerator.h"
#include "device/cuda_errors.h"
#include "device/registry.h"
#include "measure/affinity.h"
#include "measure/amx.h"
#include "measure/clock.h"
#include "measure/host_counters.h"
#include "measure/memory.h"
#include "plan/expand.h"
#include "ranks/rank_processes.h"
#include "record/flags.h"
#include "run/cell_runner.h"
#include "run/look_ahead.h"
#include "storage/dataset.h"
#include "storage/image_folder.h"

namespace feedrate::cli {
namespace {

constexpr int kCuda = 13000;  // which the pinned LibTorch is built with

class Findings {
 public:
  void good(const std::string& what, const std::string& finding) { print("ok", what, finding, ""); }
  void note(const std::string& what, const std::string& finding, const std::string& remedy) {
    print("note", what, finding, remedy);
  }
  void bad(const std::string& what, const std::string& finding, const std::string& remedy) {
    print("MISSING", what, finding, remedy);
    ++missing_;
  }
  int missing() const { return missing_; }

 private:
  static void print(const char* mark, const std::string& what, const std::string& finding,
                    const std::string& remedy) {
    std::printf("%-8s %-14s %s\n", mark, what.c_str(), finding.c_str());
    if (!remedy.empty()) std::printf("%-23s -> %s\n", "", remedy.c_str());
  }
  int missing_ = 0;
};

// What a command prints, and whether it ended well. The command is one of ours, never user input.
std::pair<std::string, bool> output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
  if (!pipe) return {"", false};
  std::array<char, 256> chunk;
  while (std::fgets(chunk.data(), chunk.size(), pipe)) text += chunk.data();
  const int status = pclose(pipe);
  return {text, WIFEXITED(status) && WEXITSTATUS(status) == 0};
}

std::string gigabytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GB", bytes / 1e9);
  return text;
}

void look_at_machine(Findings& findings) {
  findings.good("cpu", value_in("/proc/cpuinfo", "model name") + ", " +
                           std::to_string(measure::allowed_cpus()) + " CPUs");
  const double total_kib = std::atof(value_in("/proc/meminfo", "MemTotal").c_str());
  findings.good("memory", gigabytes(static_cast<double>(measure::memory_available())) +
                              " available of " + gigabytes(1024 * total_kib));
  const std::string governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (!governor.empty() && governor != "performance") {
    findings.note("governor", governor + ": clocks change with the load",
                  "cpupower frequency-set -g performance");
  }
  const measure::HostCounters before = measure::read_host_counters();
  measure::sleep_until_ns(measure::now_ns() + 500'000'000);
  const measure::HostUse use = measure::host_use(before, measure::read_host_counters());
  const double others = std::max(use.cpu_other_processes, use.usable_cpus_other_processes);
  const std::string busy =
      std::to_string(static_cast<int>(100 * others)) + " % of the CPUs busy with other processes";
  if (others < 0) {
    findings.note("quiet", "/proc/stat cannot be read: other programs are not seen",
                  "let this user read it");
  } else if (others > *record::flag_rule("noisy_neighbour").threshold) {
    findings.note("quiet", busy, "end them before measuring");
  } else {
    findings.good("quiet", busy);
  }
  if (use.psi_cpu_some < 0)
    findings.note("pressure", "the kernel offers no /proc/pressure",
                  "neighbours are seen by CPU time alone");
}

void look_at_gpus(Findings& findings) {
  const auto [gpus, found] =
      output_of("nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader");
  if (!found || gpus.empty()) {
    findings.note("gpu", "no NVIDIA GPU or driver",
                  "use --device cpu or emulated:NAME; a GPU needs driver " +
                      std::to_string(device::least_cuda_driver(kCuda)) + " or newer");
    return;
  }
  std::size_t at = 0;
  for (std::size_t end; (end = gpus.find('\n', at)) != std::string::npos; at = end + 1) {
    const std::string line = gpus.substr(at, end - at);
    const auto first = line.find(", "), second = line.rfind(", ");
    const int driver = std::atoi(line.substr(first + 2).c_str());
    const double capability = std::atof(line.substr(second + 2).c_str());
    if (driver < device::least_cuda_driver(kCuda)) {
      findings.bad("gpu", line,
                   "this LibTorch is built for CUDA 13: install driver " +
                       std::to_string(device::least_cuda_driver(kCuda)) + " or newer");
    } else if (10 * capability < device::least_capability(kCuda)) {
      findings.bad("gpu", line,
                   "too old for CUDA 13: build with a LibTorch for CUDA 12 (CMAKE_PREFIX_PATH)");
    } else {
      findings.good("gpu", line);
    }
  }
}

void look_at_training(Findings& findings) {
  try {
    device::AcceleratorRegistry registry;
    findings.good("libtorch", registry.find("cpu").help);
    if (measure::amx_lacks_tiles()) {
      findings.note("amx", "announced, but without the sizes of its tiles: a hypervisor's fault",
                    "--device cpu does without it, so bf16 is slower than the CPU could be");
    }
    const int gpus = registry.find("cuda").count();
    findings.good("cuda", std::to_string(gpus) + " devices that LibTorch can use");
  } catch (const Error& error) {
    findings.note("libtorch", error.what(), "emulated devices work all the same");
  }
}

void look_at_report(Findings& findings) {
  const std::string python = report_python();
  const auto [version, found] =
      output_of("'" + python + "' -c 'import matplotlib; print(matplotlib.__version__)'");
  if (found) {
    findings.good("report", python + " with matplotlib " + version.substr(0, version.find('\n')));
  } else {
    findings.bad("report", python + " has no matplotlib",
                 "run scripts/bootstrap, or set FEEDRATE_PYTHON");
  }
}

// Whether the dataset's storage answers: else nothing here may touch it.
bool storage_answers(Findings& findings, const ExperimentOptions& experiment) {
  if (experiment.data.empty()) return true;
  run::RunOptions options = experiment.run;
  options.data = experiment.data;
  try {
    run::look_over(options, *ranks::make_local_ranks({"rank"}));
    return true;
  } catch (const std::exception& error) {
    findings.bad("dataset", error.what(), "");
    return false;
  }
}

void look_at_disk(Findings& findings, const std::string& folder) {
  struct statvfs disk;
  if (statvfs(folder.c_str(), &disk) != 0) return;  // look_at_dataset() says so
  const double free_gb =
      static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize) / 1e9;
  char text[96];
  std::snprintf(text, sizeof text, "%.1f GB free at %s", free_gb, folder.c_str());
  if (free_gb < 12) {
    findings.note("disk", text,
                  "2048 pictures at 768x768 in every format take about 12 GB: `feedrate gen` "
                  "checks before it writes");
  } else {
    findings.good("disk", text);
  }
}

void look_at_dataset(Findings& findings, const std::string& folder) {
  if (folder.empty()) return;
  try {
    if (storage::is_image_folder(folder)) {
      findings.note("dataset", folder + " holds no dataset.json: taken as a folder of your own",
                    "say what is to be read, as in --data jpeg --image-size mixed: a row `sweep` "
                    "then tells whether it can be");
      return;
    }
    for (const std::string& name : storage::dataset_variants(folder)) {
      const storage::DatasetVariant variant = storage::open_dataset(folder, name);
      findings.good("dataset", name + ": " + std::to_string(variant.samples.size()) + " samples, " +
                                   std::to_string(variant.total_bytes / 1'000'000) + " MB");
      if (static_cast<double>(variant.total_bytes) >
          0.8 * static_cast<double>(measure::memory_available())) {
        findings.note(
            "dataset", name + " does not fit into the memory that is available",
            "its reads come from storage, not from the page cache; --cache encoded is refused");
      }
    }
  } catch (const Error& error) {
    findings.bad("dataset", error.what(), "");
  }
}

// Whether this machine has what the cells need; each trouble once, whichever cells have it.
void look_at_sweep(Findings& findings, CLI::App& app, ExperimentOptions& experiment) {
  const std::vector<plan::Cell> cells =
      cells_of(app, experiment);  // fills in what the runner is told
  device::AcceleratorRegistry registry;
  const auto ranks = ranks::make_local_ranks({"rank"});  // to ask what they could run
  run::CellRunner runner(experiment.run, registry, *ranks);
  std::set<std::string> troubles;
  double memory = 0;
  for (const plan::Cell& cell : cells) {
    try {
      memory = std::max(memory, runner.check(cell));
    } catch (const Error& error) {
      if (troubles.insert(error.what()).second) findings.bad("sweep", error.what(), "");
    } catch (const run::UnreadableDataset& error) {
      if (troubles.insert(error.what()).second) findings.bad("sweep", error.what(), "");
    } catch (const std::exception& error) {
      // Storage that does not answer: each further cell would wait for it as long, and leave
      // another process behind.
      return findings.bad("sweep", error.what(), "");
    }
  }
  if (!troubles.empty()) return;
  findings.good("sweep", std::to_string(cells.size()) + " cells; the largest holds " +
                             std::to_string(std::lround(memory / 1e6)) +
                             " MB (slabs, decoders, manifest, caches) of the " +
                             gigabytes(static_cast<double>(measure::memory_available())) +
                             " that are available");
}

bool asks_for_cells(const ExperimentOptions& experiment) {
  const auto typed = [](const auto& axis) { return !axis.second.empty(); };
  return !experiment.config.empty() ||
         std::any_of(experiment.axes.begin(), experiment.axes.end(), typed);
}

}  // namespace

CommandEntry add_doctor(CLI::App& program) {
  const auto experiment = std::make_shared<ExperimentOptions>();
  CLI::App* app = program.add_subcommand(
      "doctor", "What this machine has, what is missing, what would spoil a measurement");
  add_experiment_options(*app, *experiment, "Axes of a sweep that is planned");
  return {app, [=] {
            const std::string data = experiment->data.string();
            Findings findings;
            look_at_machine(findings);
            look_at_gpus(findings);
            look_at_training(findings);
            look_at_report(findings);
            if (storage_answers(findings, *experiment)) {
              look_at_disk(findings, data.empty() ? "." : data);
              look_at_dataset(findings, data);
              if (asks_for_cells(*experiment)) look_at_sweep(findings, *app, *experiment);
            }
            return findings.missing() == 0 ? 0 : 1;
          }};
}

}  // namespace feedrate::cli
