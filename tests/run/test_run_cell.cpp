#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "device/registry.h"
#include "measure/clock.h"
#include "measure/mounts.h"
#include "plan/expand.h"
#include "plan/settings.h"
#include "run/cell_runner.h"
#include "run/rank_task.h"
#include "storage/dataset.h"
#include "tests/support.h"

namespace feedrate::tests {
namespace {

class RunCell : public testing::Test {
 protected:
  RunCell() {
    make_dataset(folder_.path(), {"jpeg", "tensor"}, {32, 32}, 64);
    options_.data = folder_.path();
    options_.limits = {.warmup_seconds = 0.1,
                       .max_warmup_seconds = 2,
                       .min_steps = 20,
                       .min_seconds = 0.3,
                       .max_seconds = 10};
  }
  static plan::Cell cell(plan::AxisValues values) {
    values.insert({"device", {"emulated:2000"}});
    values.insert({"batch-size", {"4"}});
    values.insert({"image-size", {"32"}});
    values.insert({"input-size", {"32"}});
    return plan::expand(values).at(0);
  }
  run::CellResult run(const plan::Cell& c) {
    run::CellRunner runner(options_, registry_);
    runner.check(c);
    return runner.run(c, {}, {});
  }
  std::string refusal(const plan::Cell& c) {
    try {
      run::CellRunner(options_, registry_).check(c);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }

  TemporaryFolder folder_;
  run::RunOptions options_;
  device::AcceleratorRegistry registry_;
};

TEST_F(RunCell, EveryCacheAndLoaderRuns) {
  for (const char* cache : {"none", "discard", "encoded", "decoded", "sample", "host", "device"}) {
    for (const char* data : {"jpeg", "tensor"}) {
      if (cache == std::string("decoded") && data == std::string("tensor")) continue;  // refused
      for (const char* loader : {"pool", "batch"}) {
        const run::CellResult result =
            run(cell({{"data", {data}}, {"cache", {cache}}, {"loader", {loader}}}));
        ASSERT_EQ(result.status, run::Status::ok) << data << " " << cache << ": " << result.error;
        EXPECT_GT(result.measurement->imgs_per_s, 0);
        EXPECT_LT(result.measurement->imgs_per_s, 2000 * 1.02) << "no faster than the device";
      }
    }
  }
}

// 2 workers of 20 ms a sample make 100 images a second, and the device takes 2000: the steps wait
// for none of them.
TEST_F(RunCell, NoStepWaitsForABatchThatIsDiscarded) {
  options_.plant = true;
  options_.planted[static_cast<std::size_t>(measure::Stage::collate)].ns = 20'000'000;
  options_.limits.min_seconds = 1;
  for (const char* loader : {"pool", "batch"}) {
    for (const char* gpus : {"1", "2"}) {
      const run::CellResult result = run(cell(
          {{"data", {"tensor"}}, {"cache", {"discard"}}, {"loader", {loader}}, {"gpus", {gpus}}}));
      ASSERT_EQ(result.status, run::Status::ok) << loader << ": " << result.error;
      const run::Measurement& m = *result.measurement;
      const double device = 2000 * std::stod(gpus), loaders = 100 * std::stod(gpus);
      EXPECT_LT(m.imgs_per_s, device * 1.02);
      EXPECT_GT(m.imgs_per_s, 3 * loaders) << "at least, on a busy machine";
      const measure::StageTotal& collate = m.stages[measure::Stage::collate];
      EXPECT_GT(collate.items, 0);
      EXPECT_LT(static_cast<double>(collate.items), 1.5 * loaders * m.window_s + 32)
          << "the loaders go on at their own pace";
      EXPECT_EQ(m.drawn_from_queue, 0);
      EXPECT_EQ(m.arrivals.batches, 0);
      EXPECT_GT(m.latencies.reads.count(), 0);
      EXPECT_EQ(m.page_cache.state, "warm");
    }
  }
}

// Loaders that are fast enough make what the steps take, and no more: 4 images in 10 ms.
TEST_F(RunCell, OneBatchIsDiscardedForEachStep) {
  const run::CellResult result =
      run(cell({{"data", {"tensor"}}, {"cache", {"discard"}}, {"device", {"emulated:400"}}}));
  ASSERT_EQ(result.status, run::Status::ok) << result.error;
  const run::Measurement& m = *result.measurement;
  const auto made = static_cast<double>(m.stages[measure::Stage::collate].items);
  EXPECT_LE(made, static_cast<double>(m.images + 4 * 16)) << "what lies in queues may go first";
  EXPECT_GT(made, 0);
}

// Cropped and not, resized and not.
TEST_F(RunCell, DecodedPicturesAreAugmentedAndCollatedAlone) {
  for (const char* augment : {"train", "none"}) {
    for (const char* input : {"24", "native"}) {
      const run::CellResult result = run(cell({{"data", {"jpeg"}},
                                               {"cache", {"decoded"}},
                                               {"augment", {augment}},
                                               {"input-size", {input}}}));
      ASSERT_EQ(result.status, run::Status::ok) << augment << " " << input << result.error;
      const measure::StageTotals& stages = result.measurement->stages;
      EXPECT_EQ(stages[measure::Stage::read].items, 0);
      EXPECT_EQ(stages[measure::Stage::decode].items, 0);
      EXPECT_GT(stages[measure::Stage::augment].items, 0);
      EXPECT_GT(stages[measure::Stage::collate].items, 0);
      EXPECT_EQ(result.measurement->latencies.reads.count(), 0);
    }
  }
}

// The second order works on every pixel of a picture, the first on those of a window.
TEST_F(RunCell, MaskedPicturesAreCroppedFirstOrLast) {
  std::vector<double> bytes;
  for (const char* augment : {"mask-color", "mask-color-crop-last"}) {
    const run::CellResult result =
        run(cell({{"data", {"jpeg"}}, {"augment", {augment}}, {"input-size", {"24"}}}));
    ASSERT_EQ(result.status, run::Status::ok) << augment << result.error;
    const auto& stage = result.measurement->stages[measure::Stage::augment];
    ASSERT_GT(stage.items, 0);
    bytes.push_back(static_cast<double>(stage.bytes) / static_cast<double>(stage.items));
  }
  // Near: a window may end between a sample's bytes and its count.
  EXPECT_NEAR(bytes[0], 3 * 24 * 24, 400);
  EXPECT_NEAR(bytes[1], 3 * 32 * 32, 700);
}

// `auto` is each machine's own: what holds for all of them is said.
TEST(PageCache, OfTwoMachinesTheWeakerHolds) {
  const run::PageCache warm{.state = "warm", .fits = true, .before = 1, .after = 1};
  const run::PageCache as_is{.state = "as-is", .fits = false, .before = 0.2, .after = 0.3};
  for (const run::PageCache& both :
       {run::merge_page_caches(warm, as_is), run::merge_page_caches(as_is, warm)}) {
    EXPECT_EQ(both.state, "as-is");
    EXPECT_FALSE(both.fits);
    EXPECT_EQ(both.before, 0.2);
    EXPECT_EQ(both.after, 0.3);
  }
  EXPECT_EQ(run::merge_page_caches(warm, {}).state, "warm") << "that rank has prepared nothing";
  EXPECT_EQ(run::merge_page_caches({}, warm).before, 1);
  EXPECT_EQ(run::merge_page_caches(warm, {.state = "warm", .before = -1}).before, -1);
}

TEST(PageCache, OfTwoMachinesTheWeakerProofHolds) {
  const run::PageCache strong{.state = "cold",
                              .before = 0,
                              .look = {"cachestat", 64, 64, 0},
                              .method = "drop_caches",
                              .scope = "host",
                              .file_system = "ext4",
                              .memory_bytes = 8};
  const run::PageCache weak{.state = "cold",
                            .before = 0,
                            .look = {"mincore", 60, 64, -1},
                            .method = "fadvise",
                            .scope = "client",
                            .file_system = "nfs4",
                            .loops = "loop3",
                            .loops_before = 0.2,
                            .loops_after = -1,
                            .memory_bytes = 16};
  for (const run::PageCache& both :
       {run::merge_page_caches(strong, weak), run::merge_page_caches(weak, strong)}) {
    EXPECT_EQ(both.method, "fadvise");
    EXPECT_EQ(both.scope, "client");
    EXPECT_EQ(both.look.by, "mincore");
    EXPECT_EQ(both.look.files, 60);
    EXPECT_EQ(both.look.unwritten_pages, -1);
    EXPECT_EQ(both.loops, "loop3");
    EXPECT_EQ(both.loops_before, 0.2) << "the other one has none";
    EXPECT_EQ(both.loops_after, -1);
    EXPECT_EQ(both.memory_bytes, 24u) << "either can hold files";
  }
  run::PageCache other = weak;
  other.loops_before = 0.6;
  EXPECT_EQ(run::merge_page_caches(weak, other).loops_before, 0.6);
  other.loops_before = -1;
  EXPECT_EQ(run::merge_page_caches(weak, other).loops_before, -1);
}

TEST_F(RunCell, SeveralGpusShareTheData) {
  const run::CellResult result =
      run(cell({{"data", {"tensor"}}, {"gpus", {"3"}}, {"workers", {"1"}}}));
  ASSERT_EQ(result.status, run::Status::ok) << result.error;
  const auto& ranks = result.measurement->ranks;
  ASSERT_EQ(ranks.size(), 3u);
  for (const run::RankMeasurement& rank : ranks) {
    const double steps = rank.imgs_per_s * rank.window_s / 4;
    EXPECT_NEAR(steps, static_cast<double>(result.measurement->steps), 1e-6)
        << "one window for all";
  }
}

TEST_F(RunCell, MistakesAreRefusedBeforeMeasuring) {
  EXPECT_THAT(refusal(cell({{"data", {"png"}}})), testing::HasSubstr("png/32x32"));
  EXPECT_THAT(refusal(cell({{"data", {"jpeg"}}, {"image-size", {"48"}}})),
              testing::HasSubstr("48x48"));
  EXPECT_THAT(refusal(cell({{"data", {"jpeg"}}, {"device", {"emulated:z9"}}})),
              testing::HasSubstr("z9"));
  EXPECT_THAT(refusal(cell({{"data", {"jpeg"}}, {"device", {"abacus"}}})),
              testing::HasSubstr("abacus"));
  EXPECT_THAT(refusal(cell({{"data", {"jpeg"}}, {"gpus", {"100"}}})),
              testing::HasSubstr("fewer samples"));
  EXPECT_THAT(
      refusal(cell({{"data", {"jpeg"}}, {"batch-size", {"1000000"}}, {"input-size", {"1024"}}})),
      testing::HasSubstr("memory"));
  options_.data = "/nowhere";
  EXPECT_THAT(refusal(cell({{"data", {"jpeg"}}})), testing::HasSubstr("/nowhere"));
}

TEST_F(RunCell, OneShardHasNoOrderOfShards) {
  const auto by_shard = [&](const char* size, const char* container) {
    return refusal(plan::expand({{"device", {"emulated:2000"}},
                                 {"batch-size", {"4"}},
                                 {"data", {"jpeg"}},
                                 {"image-size", {size}},
                                 {"input-size", {"32"}},
                                 {"container", {container}},
                                 {"order", {"by-shard"}}})
                       .at(0));
  };
  EXPECT_THAT(by_shard("32", "files"), testing::HasSubstr("; use --container webdataset, or"));
  data_gen::generate_dataset({.data = options_.data,
                              .formats = {"jpeg"},
                              .containers = {"webdataset"},
                              .image_sizes = {{32, 32}},
                              .count = 64,
                              .classes = 4,
                              .threads = 2},
                             {}, {});
  EXPECT_THAT(by_shard("32", "webdataset"),
              testing::AllOf(testing::HasSubstr(" lies in one shard; use --order sequential, or"),
                             testing::HasSubstr("256 MiB, so give it a larger --count"),
                             testing::Not(testing::HasSubstr("--container"))));
  // The same shard in a folder that gen does not know.
  const TemporaryFolder mine;
  std::filesystem::copy(folder_.path() / "jpeg.webdataset/32x32/shard-000000.tar", mine.path());
  options_.data = mine.path();
  setenv("XDG_CACHE_HOME", (folder_.path() / "cache").c_str(), 1);  // for the shards' index
  EXPECT_THAT(by_shard("mixed", "webdataset"),
              testing::AllOf(testing::HasSubstr(" holds one shard; put its samples into several"),
                             testing::HasSubstr("or use --order sequential")));
  unsetenv("XDG_CACHE_HOME");
}

TEST_F(RunCell, ADamagedFileFailsTheCellAndHasNoThroughput) {
  const auto variant = storage::open_dataset(folder_.path(), "jpeg/32x32");
  for (const auto& sample : variant.samples)
    std::filesystem::resize_file(variant.folder / sample.path,
                                 sample.bytes - (&sample == &variant.samples[5]));
  for (const char* cache : {"none", "discard"}) {
    const run::CellResult result =
        run(cell({{"data", {"jpeg"}}, {"cache", {cache}}, {"gpus", {"2"}}}));
    EXPECT_EQ(result.status, run::Status::failed) << cache;
    EXPECT_THAT(result.error, testing::HasSubstr(variant.samples[5].path)) << cache;
    EXPECT_FALSE(result.measurement) << cache;
  }
}

TEST_F(RunCell, StoppingEndsItAsInterrupted) {
  options_.limits.min_seconds = 60;
  for (const char* cache : {"none", "discard"}) {
    for (const char* gpus : {"1", "3"}) {
      run::CellRunner runner(options_, registry_);
      std::stop_source stop;
      std::jthread timer([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        stop.request_stop();
      });
      const run::CellResult result = runner.run(
          cell({{"data", {"jpeg"}}, {"cache", {cache}}, {"gpus", {gpus}}}), {}, stop.get_token());
      EXPECT_EQ(result.status, run::Status::interrupted) << cache;
    }
  }
}

TEST_F(RunCell, StoppingWhileCachesFillMeasuresNothing) {
  std::stop_source stop;
  stop.request_stop();
  for (const char* cache : {"none", "encoded", "decoded", "sample"}) {
    run::CellRunner runner(options_, registry_);
    const run::CellResult result =
        runner.run(cell({{"data", {"jpeg"}}, {"cache", {cache}}, {"page-cache", {"warm"}}}), {},
                   stop.get_token());
    EXPECT_EQ(result.status, run::Status::interrupted) << cache;
    EXPECT_FALSE(result.measurement) << cache;
  }
}

// Files that fit into memory are read into it, so that every repetition finds them there.
TEST_F(RunCell, AutoIsWarmWhereTheFilesFit) {
  const run::CellResult result = run(cell({{"data", {"jpeg"}}}));
  ASSERT_EQ(result.status, run::Status::ok) << result.error;
  EXPECT_EQ(result.cell["page-cache"], "auto");
  EXPECT_EQ(result.measurement->page_cache.state, "warm");
  EXPECT_TRUE(result.measurement->page_cache.fits);
  const run::PageCache& cache = result.measurement->page_cache;
  EXPECT_GT(cache.before, 0.99);
  EXPECT_EQ(cache.look.files, 64) << "all of them";
  EXPECT_EQ(cache.look.of, 64);
  EXPECT_EQ(cache.method, "");
  EXPECT_EQ(cache.scope, measure::is_served(cache.file_system) ? "client" : "host");
  EXPECT_NE(cache.file_system, "");
  EXPECT_GT(cache.memory_bytes, 0u);
}

TEST_F(RunCell, TheCellsDecoderIsThatOfItsSamples) {
  const storage::DatasetVariant dataset = storage::open_dataset(folder_.path(), "jpeg/32x32");
  for (const auto& [value, kind] : {std::pair{"auto", codec::DecoderKind::own},
                                    {"library", codec::DecoderKind::library},
                                    {"opencv", codec::DecoderKind::opencv}}) {
    const plan::CellSettings settings =
        plan::settings_of(cell({{"data", {"jpeg"}}, {"decoder", {value}}}));
    const run::RankTask task =
        run::make_rank_task(settings, options_, registry_, &dataset, {}, {}, {});
    ASSERT_TRUE(task.recipe);
    EXPECT_EQ(task.recipe->decoder, kind) << value;
  }
}

TEST_F(RunCell, ALibraryDecodesForEachCache) {
  for (const char* cache : {"none", "decoded", "sample"}) {
    const run::CellResult result =
        run(cell({{"data", {"jpeg"}}, {"decoder", {"library"}}, {"cache", {cache}}}));
    ASSERT_EQ(result.status, run::Status::ok) << cache << ": " << result.error;
    EXPECT_EQ(result.cell["decoder"], "library");
    EXPECT_EQ(result.measurement->stages[measure::Stage::decode].items > 0,
              cache == std::string("none"));
  }
}

// Images per second are files per second, whoever reads them.
TEST_F(RunCell, RawReadReadsAndDoesNothingElse) {
  for (const char* io : {"buffered", "mmap", "uring"}) {
    const run::CellResult result = run(
        cell({{"data", {"jpeg"}}, {"decoder", {"raw-read"}}, {"io", {io}}, {"io-depth", {"4"}}}));
    if (result.status == run::Status::failed) {
      EXPECT_THAT(result.error, testing::HasSubstr("io_uring"));  // not on this machine
      continue;
    }
    const run::Measurement& m = *result.measurement;
    const measure::StageTotals& stages = m.stages;
    EXPECT_GT(stages[measure::Stage::read].items, 0) << io;
    EXPECT_GT(stages[measure::Stage::read].bytes, 0) << io;
    EXPECT_EQ(stages[measure::Stage::decode].items, 0) << io;
    EXPECT_EQ(stages[measure::Stage::augment].items, 0) << io;
    EXPECT_NEAR(static_cast<double>(m.latencies.count()),
                static_cast<double>(stages[measure::Stage::read].items), 64)
        << io;
    EXPECT_TRUE(m.latencies.seen_late == 0 || std::string(io) == "uring") << io;
    EXPECT_EQ(m.latencies.opens.count() == 0, std::string(io) == "uring") << io;
    EXPECT_GE(m.latencies.reads.longest_ns(), m.latencies.reads.percentile_ns(0.5)) << io;
  }
}

// O_DIRECT leaves nothing in the page cache, and the record says so.
TEST_F(RunCell, DirectReadsPassThePageCache) {
  const run::CellResult result = run(cell({{"data", {"jpeg"}}, {"io", {"direct"}}}));
  if (result.status == run::Status::failed) {
    EXPECT_THAT(result.error, testing::HasSubstr("O_DIRECT"));  // tmpfs of older kernels
    return;
  }
  EXPECT_FALSE(result.cell["page-cache"]);
  EXPECT_EQ(result.measurement->page_cache.state, "bypassed");
  EXPECT_EQ(result.measurement->page_cache.method, "bypassed");
  // The files lie in the page cache, since they were just made; storage was read all the same.
  if (const double read = result.measurement->storage_read_bytes; read > 0) {
    EXPECT_GE(read, static_cast<double>(result.measurement->stages[measure::Stage::read].bytes));
  }
}

TEST_F(RunCell, AColdCellIsOnePassAtMost) {
  const run::CellResult result = run(cell({{"data", {"jpeg"}}, {"page-cache", {"cold"}}}));
  if (result.status == run::Status::failed) {
    EXPECT_THAT(result.error, testing::HasSubstr("page cache"));  // tmpfs: said so, not measured
    return;
  }
  EXPECT_LE(result.measurement->warmup_steps + result.measurement->steps, 16);
  const run::PageCache& cache = result.measurement->page_cache;
  EXPECT_LT(cache.before, 0.05);
  EXPECT_EQ(cache.look.files, 64);
  EXPECT_THAT(cache.method, testing::AnyOf("fadvise", "drop_caches"));
}

}  // namespace
}  // namespace feedrate::tests
