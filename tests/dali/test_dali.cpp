#include "dali/dali_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "tests/support.h"

namespace feedrate::tests {
namespace {

constexpr codec::PixelSize kStored{120, 90}, kInput{48, 32};
constexpr int kBatch = 5;

class Dali : public testing::Test {
 protected:
  Dali() { make_dataset(folder_.path(), {"jpeg", "png"}, kStored, 32); }

  pipeline::LoaderOptions options(
      const std::string& data, pipeline::ResizeFilter filter = pipeline::ResizeFilter::bilinear) {
    dataset_ = storage::open_dataset(folder_.path(), data + "/120x90");
    return {{.dataset = &dataset_,
             .format = codec::find_picture_format(data),
             .spec = {kBatch, kInput, codec::Dtype::uint8},
             .filter = filter},
            {32, 1, 0, 1},
            2,
            2,
            pipeline::host_slabs(),
            true};
  }

  TemporaryFolder folder_;
  storage::DatasetVariant dataset_;
};

// Another decoder and another resize: the same windows, flips and labels, nearly the same pixels.
TEST_F(Dali, MakesTheBatchesOfThePool) {
  for (const char* data : {"jpeg", "png"}) {
    for (const pipeline::ResizeFilter filter :
         {pipeline::ResizeFilter::bilinear, pipeline::ResizeFilter::antialias}) {
      const pipeline::LoaderOptions o = options(data, filter);
      const auto ours = pipeline::make_loader("pool", o), theirs = dali::make_loader(o);
      for (std::int64_t i = 0; i < 20; ++i) {  // three epochs
        const pipeline::BatchLease a = ours->next(), b = theirs->next();
        ASSERT_EQ(b->sequence, i);
        EXPECT_EQ(a->labels, b->labels);
        double difference = 0;
        const auto bytes = o.recipe.spec.bytes();
        for (std::size_t k = 0; k < bytes; ++k)
          difference += std::abs(int(a->pixels[k]) - int(b->pixels[k]));
        EXPECT_LT(difference / static_cast<double>(bytes), 1.0) << data << " " << i;
      }
    }
  }
}

TEST_F(Dali, NormalisesWhereTheBatchAsksForIt) {
  pipeline::LoaderOptions o = options("png");
  const auto raw_loader = dali::make_loader(o);
  const pipeline::BatchLease raw = raw_loader->next();
  o.recipe.spec.dtype = codec::Dtype::fp16;
  const auto loader = dali::make_loader(o);
  const pipeline::BatchLease batch = loader->next();
  std::vector<std::byte> expected(o.recipe.spec.bytes());
  codec::normalise(reinterpret_cast<const std::uint8_t*>(raw->pixels), expected.size() / 6,
                   codec::Dtype::fp16, expected.data());
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), batch->pixels));
}

TEST_F(Dali, CountsWhatItsThreadDoes) {
  const auto loader = dali::make_loader(options("jpeg"));
  for (int i = 0; i < 4; ++i) loader->next();
  const measure::StageTotals stages = loader->stages();
  EXPECT_GE(stages[measure::Stage::read].items, stages[measure::Stage::collate].items);
  EXPECT_GE(stages[measure::Stage::collate].items, 4 * kBatch);
  EXPECT_EQ(stages[measure::Stage::collate].items % kBatch, 0);
  EXPECT_GT(stages[measure::Stage::decode].bytes, 0);
  for (const measure::Stage stage :
       {measure::Stage::read, measure::Stage::decode, measure::Stage::collate}) {
    EXPECT_GT(stages[stage].wall_ns, 0);
    EXPECT_LE(stages[stage].cpu_ns, stages[stage].wall_ns + 5000 * stages[stage].items);
  }
}

TEST_F(Dali, ADamagedFileFailsTheConsumerNamingIt) {
  pipeline::LoaderOptions o = options("png");
  const auto victim = dataset_.folder / dataset_.samples[7].path;
  const auto size = std::filesystem::file_size(victim);
  std::fstream file(victim, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(size / 2));
  file << std::string(size / 4, '\0');
  file.close();
  const auto loader = dali::make_loader(o);
  EXPECT_THAT(
      [&] {
        for (int i = 0; i < 40; ++i) loader->next();
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr(dataset_.samples[7].path)));
}

TEST_F(Dali, StopEndsAWaitingConsumer) {
  const auto loader = dali::make_loader(options("jpeg"));
  loader->next();
  std::jthread stopper([&] { loader->stop(); });
  while (loader->next()) {
  }
}

}  // namespace
}  // namespace feedrate::tests
