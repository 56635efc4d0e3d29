// When batches arrive from the loader "batch", each sample taking a planted time: what
// benchmarks/peers/data_loader sets beside PyTorch's DataLoader. Prints one line of JSON: how long
// each next() waited, in ms.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "measure/clock.h"
#include "pipeline/loader.h"

namespace feedrate {
namespace {

struct Options {
  int workers = 2, prefetch = 2, batch_size = 8, batches = 100;
  double load_ms = 80, step_ms = 10;
  std::string kind = "batch";
};

int run(const Options& o) {
  const pipeline::BatchSpec spec{o.batch_size, {8, 8}, codec::Dtype::uint8};
  storage::DatasetVariant dataset;
  dataset.samples.resize(1024);
  auto samples = std::make_shared<std::vector<pipeline::CachedSample>>(dataset.samples.size());
  for (pipeline::CachedSample& sample : *samples) sample.buffer.resize(spec.sample_bytes());
  pipeline::PlantedTimes planted{};
  planted[static_cast<std::size_t>(measure::Stage::collate)].ns =
      static_cast<std::int64_t>(o.load_ms * 1e6 / o.batch_size);
  const pipeline::SampleRecipe recipe{
      .dataset = &dataset, .spec = spec, .planted = &planted, .sample_cache = samples};
  const auto loader = pipeline::make_loader(
      o.kind, {recipe, {1024, 0, 0, 1}, o.workers, o.prefetch, pipeline::host_slabs()});
  measure::use_precise_sleeps();
  std::printf("{\"waits_ms\": [");
  for (int i = 0; i < o.batches; ++i) {
    const std::int64_t asked = measure::now_ns();
    const pipeline::BatchLease batch = loader->next();
    const std::int64_t got = measure::now_ns();
    std::printf("%s%.3f", i == 0 ? "" : ", ", measure::ms(got - asked));
    measure::sleep_until_ns(got + static_cast<std::int64_t>(o.step_ms * 1e6));
  }
  std::printf("]}\n");
  return 0;
}

}  // namespace
}  // namespace feedrate

int main(int argc, char** argv) {
  feedrate::Options o;
  CLI::App app("When a loader's batches arrive, with planted loading times");
  app.add_option("--loader", o.kind, "pool or batch")->capture_default_str();
  app.add_option("--workers", o.workers)->capture_default_str();
  app.add_option("--prefetch", o.prefetch, "batches ready ahead, per worker (batch), in all (pool)")
      ->capture_default_str();
  app.add_option("--batch-size", o.batch_size)->capture_default_str();
  app.add_option("--batches", o.batches)->capture_default_str();
  app.add_option("--load-ms", o.load_ms, "what a worker needs for a batch")->capture_default_str();
  app.add_option("--step-ms", o.step_ms, "what the consumer needs for a batch")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return feedrate::run(o);
}
