#include <cmath>
#include <cstdio>
#include <random>
#include <string>

#include "experiment/environment.h"
#include "experiment/ledger.h"
#include "experiment/record.h"
#include "measure/error.h"
#include "tests/validation/validation.h"

namespace feedrate {
namespace {

constexpr double kRate = 10000;  // images/s: steps of 1.6 ms
constexpr int kRepetitions = 6;

Cell cell_at(double rate) {
  return expand({{"device", {"emulated:" + std::to_string(std::llround(rate))}}, {"data", {"synthetic"}}, {"batch-size", {"16"}}, {"input-size", {"32"}}}).at(0);
}

}  // namespace

void make_pairs(int count, double noise, double gap, const std::filesystem::path& folder) {
  RunOptions options;
  options.limits = {.warmup_seconds = 0, .max_warmup_seconds = 0.05, .min_steps = 20, .min_seconds = 0.01, .max_seconds = 1};
  AcceleratorRegistry registry;
  CellRunner runner(options, registry);
  const auto environment = capture_environment({});
  const Cell nominal = cell_at(kRate);
  std::mt19937_64 engine(7);
  std::normal_distribution<double> normal;
  for (int pair = 0; pair < count; ++pair) {
    char name[16];
    std::snprintf(name, sizeof name, "%04d", pair);
    Ledger a(folder / name / "a", false), b(folder / name / "b", false);
    for (int repetition = 0; repetition < kRepetitions; ++repetition) {
      for (Ledger* side : {&a, &b}) {
        const double rate = kRate * std::exp(noise * normal(engine)) * (side == &b ? 1 - gap : 1);
        const CellResult result = runner.run(cell_at(rate), {}, {});
        if (result.status != Status::ok) throw Error("a run", result.error);
        auto record = make_record(result, {"ceiling", repetition, repetition, std::nullopt}, options, environment);
        record["cell"] = nominal.to_json();  // the noise is what the comparison must not know of
        record["cell_id"] = nominal.id();
        record["place"] = 0;
        side->append(record);
      }
    }
  }
  std::printf("%d pairs below %s\n", count, folder.c_str());
}

}  // namespace feedrate
