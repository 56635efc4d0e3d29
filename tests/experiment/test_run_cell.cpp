#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "experiment/environment.h"
#include "experiment/record.h"
#include "measure/clock.h"
#include "measure/error.h"
#include "tests/support.h"

namespace feedrate {
namespace {

class RunCell : public testing::Test {
 protected:
  RunCell() {
    make_dataset(folder_.path(), {"jpeg", "tensor"}, {32, 32}, 64);
    options_.data = folder_.path();
    options_.limits = {.warmup_seconds = 0.1, .max_warmup_seconds = 2, .min_steps = 20, .min_seconds = 0.3, .max_seconds = 10};
  }
  static Cell cell(AxisValues values) {
    values.insert({"device", {"emulated:2000"}});
    values.insert({"batch-size", {"4"}});
    values.insert({"image-size", {"32"}});
    values.insert({"input-size", {"32"}});
    return expand(values).at(0);
  }
  CellResult run(const Cell& c) {
    CellRunner runner(options_, registry_);
    runner.check(c);
    return runner.run(c, {}, {});
  }
  std::string refusal(const Cell& c) {
    try {
      CellRunner(options_, registry_).check(c);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  TemporaryFolder folder_;
  RunOptions options_;
  AcceleratorRegistry registry_;
};

TEST_F(RunCell, EveryCacheAndLoaderRuns) {
  for (const char* cache : {"none", "encoded", "sample", "host", "device"}) {
    for (const char* data : {"jpeg", "tensor"}) {
      for (const char* loader : {"pool", "batch"}) {
        const CellResult result = run(cell({{"data", {data}}, {"cache", {cache}}, {"loader", {loader}}}));
        ASSERT_EQ(result.status, Status::ok) << data << " " << cache << ": " << result.error;
        EXPECT_GT(imgs_per_s(result), 0);
        EXPECT_LT(imgs_per_s(result), 2000 * 1.02) << "no faster than the device";
      }
    }
  }
}

TEST_F(RunCell, TheRecordAgreesWithItself) {
  const CellResult result = run(cell({{"data", {"jpeg"}}}));
  const auto record = make_record(result, {.ceiling_imgs_per_s = 4000.0}, options_, capture_environment(folder_.path()));
  EXPECT_EQ(record["status"], "ok");
  const double rate = record["imgs_per_s"];
  EXPECT_NEAR(rate, record["images"].get<double>() / record["window_s"].get<double>(), 1e-6 * rate);
  EXPECT_EQ(record["ceiling_imgs_per_s"], 4000.0);
  EXPECT_EQ(record["step_ms"]["raw"].size(), record["steps"]);
  double sum = 0;
  for (const double step : record["step_ms"]["raw"]) sum += step;
  EXPECT_NEAR(sum * 1e-3, record["window_s"].get<double>(), 0.01 * sum * 1e-3);
  EXPECT_EQ(record["flags"][0]["name"], "emulated");
  EXPECT_EQ(record["dataset"]["samples"], 64);
}

TEST_F(RunCell, SeveralGpusShareTheData) {
  const CellResult result = run(cell({{"data", {"tensor"}}, {"gpus", {"3"}}, {"workers", {"1"}}}));
  ASSERT_EQ(result.status, Status::ok) << result.error;
  EXPECT_EQ(result.ranks.size(), 3u);
  for (const RankResult& rank : result.ranks) {
    EXPECT_EQ(rank.first, result.ranks[0].first);
    EXPECT_EQ(rank.last, result.ranks[0].last);
  }
}

TEST_F(RunCell, MistakesAreRefusedBeforeMeasuring) {
  EXPECT_THAT(refusal(cell({{"data", {"png"}}})), testing::HasSubstr("png/32x32"));
  EXPECT_THAT(refusal(cell({{"data", {"jpeg"}}, {"image-size", {"48"}}})), testing::HasSubstr("48x48"));
  EXPECT_THAT(refusal(cell({{"data", {"jpeg"}}, {"device", {"emulated:z9"}}})), testing::HasSubstr("z9"));
  EXPECT_THAT(refusal(cell({{"data", {"jpeg"}}, {"device", {"abacus"}}})), testing::HasSubstr("abacus"));
  EXPECT_THAT(refusal(cell({{"data", {"jpeg"}}, {"gpus", {"100"}}})), testing::HasSubstr("fewer samples"));
  EXPECT_THAT(refusal(cell({{"data", {"jpeg"}}, {"batch-size", {"1000000"}}, {"input-size", {"1024"}}})), testing::HasSubstr("memory"));
  options_.data = "/nowhere";
  EXPECT_THAT(refusal(cell({{"data", {"jpeg"}}})), testing::HasSubstr("/nowhere"));
}

TEST_F(RunCell, ADamagedFileFailsTheCellAndHasNoThroughput) {
  const auto variant = open_dataset(folder_.path(), "jpeg/32x32");
  for (const auto& sample : variant.samples) std::filesystem::resize_file(variant.folder / sample.path, sample.bytes - (&sample == &variant.samples[5]));
  const CellResult result = run(cell({{"data", {"jpeg"}}, {"gpus", {"2"}}}));
  EXPECT_EQ(result.status, Status::failed);
  EXPECT_THAT(result.error, testing::HasSubstr(variant.samples[5].path));
  const auto record = make_record(result, {}, options_, {});
  EXPECT_TRUE(record["imgs_per_s"].is_null());
}

TEST_F(RunCell, StoppingEndsItAsInterrupted) {
  options_.limits.min_seconds = 60;
  for (const char* gpus : {"1", "3"}) {
    CellRunner runner(options_, registry_);
    std::stop_source stop;
    std::jthread timer([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      stop.request_stop();
    });
    const CellResult result = runner.run(cell({{"data", {"jpeg"}}, {"gpus", {gpus}}}), {}, stop.get_token());
    EXPECT_EQ(result.status, Status::interrupted);
  }
}

TEST_F(RunCell, StoppingWhileCachesFillMeasuresNothing) {
  std::stop_source stop;
  stop.request_stop();
  for (const char* cache : {"none", "encoded", "sample"}) {
    CellRunner runner(options_, registry_);
    const CellResult result =
        runner.run(cell({{"data", {"jpeg"}}, {"cache", {cache}}, {"page-cache", {"warm"}}}), {}, stop.get_token());
    EXPECT_EQ(result.status, Status::interrupted) << cache;
    EXPECT_TRUE(result.ranks.empty()) << cache;
  }
}

TEST_F(RunCell, AColdCellIsOnePassAtMost) {
  const CellResult result = run(cell({{"data", {"jpeg"}}, {"page-cache", {"cold"}}}));
  if (result.status == Status::failed) {
    EXPECT_THAT(result.error, testing::HasSubstr("page cache"));  // tmpfs: said so, not measured
    return;
  }
  EXPECT_LE(result.ranks[0].last, 16u);
  EXPECT_LT(result.page_cache_before, 0.05);
}

}  // namespace
}  // namespace feedrate
