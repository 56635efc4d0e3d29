#include <cmath>
#include <cstdio>
#include <random>
#include <string>

#include "base/error.h"
#include "device/registry.h"
#include "ledger/ledger.h"
#include "ledger/record.h"
#include "ledger/record_json.h"
#include "machine/environment.h"
#include "plan/expand.h"
#include "tests/validation/validation.h"

namespace feedrate::tests {
namespace {

constexpr double kRate = 10000;  // images/s: steps of 1.6 ms
constexpr int kRepetitions = 6;

plan::Cell cell_at(double rate) {
  return plan::expand({{"device", {"emulated:" + std::to_string(std::llround(rate))}},
                       {"data", {"synthetic"}},
                       {"batch-size", {"16"}},
                       {"input-size", {"32"}}})
      .at(0);
}

}  // namespace

void make_pairs(int count, double noise, double gap, const std::filesystem::path& folder) {
  run::RunOptions options;
  options.limits = {.warmup_seconds = 0,
                    .max_warmup_seconds = 0.05,
                    .min_steps = 20,
                    .min_seconds = 0.01,
                    .max_seconds = 1};
  device::AcceleratorRegistry registry;
  run::CellRunner runner(options, registry);
  const nlohmann::ordered_json environment = machine::capture_environment({});
  const plan::Cell nominal = cell_at(kRate);
  std::mt19937_64 engine(7);
  std::normal_distribution<double> normal;
  for (int pair = 0; pair < count; ++pair) {
    char name[16];
    std::snprintf(name, sizeof name, "%04d", pair);
    ledger::Ledger a(folder / name / "a", false), b(folder / name / "b", false);
    for (int repetition = 0; repetition < kRepetitions; ++repetition) {
      for (ledger::Ledger* side : {&a, &b}) {
        const double rate = kRate * std::exp(noise * normal(engine)) * (side == &b ? 1 - gap : 1);
        const run::CellResult result = runner.run(cell_at(rate), {}, {});
        if (result.status != run::Status::ok) throw Error("a run", result.error);
        const plan::PlannedRun run{result.cell, plan::Role::opening_ceiling, repetition};
        auto record =
            ledger::record_json(ledger::make_record(result, {run, repetition, {}, {}, {}}, options),
                                options, environment);
        record["cell"] =
            ledger::cell_json(nominal);  // the noise is what the comparison must not know of
        record["cell_id"] = nominal.id();
        side->append(record);
      }
    }
  }
  std::printf("%d pairs below %s\n", count, folder.c_str());
}

}  // namespace feedrate::tests
