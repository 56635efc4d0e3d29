#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <thread>
#include <utility>

#include "base/error.h"
#include "measure/clock.h"
#include "measure/cpu_cache.h"
#include "measure/delays.h"
#include "pipeline/caches.h"
#include "pipeline/encoded_slot.h"
#include "pipeline/loader.h"
#include "pipeline/sample_source.h"
#include "pipeline/slab_ring.h"
#include "pipeline/worker.h"
#include "storage/container.h"
#include "tests/support.h"

namespace feedrate::tests {
namespace {

constexpr codec::PixelSize kStoredSize{40, 30}, kInput{16, 16};
constexpr int kBatch = 5;

class Loaders : public testing::Test {
 protected:
  Loaders() { make_dataset(folder_.path(), {"jpeg", "png", "tensor"}, kStoredSize, 64); }

  pipeline::LoaderOptions options(const std::string& data, int workers,
                                  codec::Dtype dtype = codec::Dtype::uint8) {
    if (data == "tensor") {
      dataset_ = storage::open_dataset(folder_.path(), "tensor-uint8/40x30");
      return {{.dataset = &dataset_, .format = nullptr, .spec = {kBatch, kStoredSize, dtype}},
              {64, 1, 0, 1},
              workers,
              2,
              pipeline::host_slabs()};
    }
    dataset_ = storage::open_dataset(folder_.path(), data + "/40x30");
    return {{.dataset = &dataset_,
             .format = codec::find_picture_format(data),
             .spec = {kBatch, kInput, dtype}},
            {64, 1, 0, 1},
            workers,
            2,
            pipeline::host_slabs()};
  }

  // The pixels and labels of the first `count` batches, by sequence number.
  static std::map<std::int64_t, std::string> pixels(pipeline::Loader& loader,
                                                    const pipeline::BatchSpec& spec, int count) {
    std::map<std::int64_t, std::string> all;
    while (static_cast<int>(all.size()) < count) {
      const pipeline::BatchLease batch = loader.next();
      EXPECT_NE(batch, nullptr);
      std::string content(reinterpret_cast<const char*>(batch->pixels), spec.bytes());
      for (const std::int64_t label : batch->labels) content += std::to_string(label) + ",";
      if (batch->sequence < count) all[batch->sequence] = content;
    }
    return all;
  }

  // Zeros in the second half of a JPEG, whose length stays, so that it is the decoder that has to
  // notice.
  std::filesystem::path damage(std::size_t sample) {
    const auto victim = folder_.path() / "jpeg/40x30" /
                        storage::open_dataset(folder_.path(), "jpeg/40x30").samples[sample].path;
    const auto size = std::filesystem::file_size(victim);
    std::fstream file(victim, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(size / 2));
    file << std::string(size - size / 2, '\0');
    return victim;
  }

  TemporaryFolder folder_;
  storage::DatasetVariant dataset_;
};

TEST_F(Loaders, PixelsDoNotDependOnLoaderOrWorkers) {
  const auto expected = [&] {
    auto loader = pipeline::make_loader("pool", options("jpeg", 0));
    return pixels(*loader, {kBatch, kInput, codec::Dtype::uint8}, 20);
  }();
  for (const char* kind : {"pool", "batch"}) {
    for (const int workers : {1, 2, 5}) {
      auto loader = pipeline::make_loader(kind, options("jpeg", workers));
      EXPECT_EQ(pixels(*loader, {kBatch, kInput, codec::Dtype::uint8}, 20), expected)
          << kind << " " << workers;
    }
  }
}

// Samples that were made until no more are, as nobody takes a batch: `least` at least.
std::int64_t samples_made_at_rest(const pipeline::Loader& loader, std::int64_t least) {
  using namespace std::chrono_literals;
  const auto made = [&] { return loader.stages()[measure::Stage::collate].items; };
  std::int64_t before = -1;
  for (std::int64_t now = made(); now != before || now < least; now = made()) {
    before = now;
    std::this_thread::sleep_for(100ms);
  }
  return before;
}

// However many workers there are: what is loaded ahead is bounded by the queues and their slabs.
TEST_F(Loaders, NoMoreBatchesLieAheadThanTheyHaveRoomFor) {
  for (const char* kind : {"pool", "batch"}) {
    for (const int workers : {1, 2, 16}) {
      const pipeline::LoaderOptions o = options("tensor", workers);
      const pipeline::LoaderSize size{
          .prefetch = o.prefetch, .workers = workers, .depth = 1, .batch_size = kBatch};
      const auto loader = pipeline::make_loader(kind, o);
      // The device has two: the one that it computes, and the one that is copied to it.
      const pipeline::BatchLease computed = loader->next(), copied = loader->next();
      const int expected = pipeline::batches_ahead(kind, size);
      const std::int64_t made = samples_made_at_rest(*loader, (2 + expected) * kBatch);
      EXPECT_EQ(made / kBatch - 2, expected) << kind << " " << workers;
      EXPECT_LE(expected * kBatch, loader->samples_ahead_limit()) << kind << " " << workers;
    }
  }
  EXPECT_EQ(pipeline::batches_ahead("pool", {.prefetch = 2, .workers = 64, .batch_size = 256}), 7);
  EXPECT_GT(pipeline::batches_ahead("pool",
                                    {.prefetch = 2, .workers = 64, .depth = 64, .batch_size = 256}),
            7)
      << "samples that are on their way may be of more batches";
  EXPECT_EQ(pipeline::batches_ahead("pool", {.prefetch = 2, .workers = 0}), 0);
}

TEST_F(Loaders, KeepOpencvToTheThreadThatCallsIt) {
  const auto loader = pipeline::make_loader("pool", options("jpeg", 2));
  EXPECT_EQ(pipeline::opencv_threads(), 1);
}

// However many files are on their way, and however they are read.
TEST_F(Loaders, SamplesThatAreOnTheirWayAreTheSameAndAreCountedOnce) {
  for (const char* data : {"jpeg", "tensor"}) {
    pipeline::LoaderOptions o = options(data, 1);
    const pipeline::BatchSpec spec = o.recipe.spec;
    const auto expected = pixels(*pipeline::make_loader("pool", o), spec, 20);
    for (const auto& [name, depth] : {std::pair{"buffered", 3}, std::pair{"mmap", 2},
                                      std::pair{"direct", 1}, std::pair{"uring", 16}}) {
      o.recipe.io = {&storage::find_io_engine(name), depth};
      try {
        if (o.recipe.io.engine->check) o.recipe.io.engine->check();
      } catch (const Error&) {
        continue;  // not on this machine
      }
      for (const int workers : {0, 1, 3}) {
        o.workers = workers;
        for (const char* kind : {"pool", "batch"}) {
          const auto loader = pipeline::make_loader(kind, o);
          EXPECT_EQ(pixels(*loader, spec, 20), expected) << data << kind << workers << name;
          loader->stop();
          const measure::StageTotals stages = loader->stages();
          EXPECT_LE(
              std::abs(stages[measure::Stage::read].items - stages[measure::Stage::collate].items),
              workers);
          storage::ReadLatencies latencies;
          loader->add_latencies(latencies);
          EXPECT_GE(latencies.count(), 20 * kBatch);
        }
      }
    }
  }
}

// A storage that writes down what it is asked for and what it has read, in one worker's order, and
// reads in an order of its own.
std::vector<std::string> story;
class Telling : public storage::Storage {
 public:
  Telling(const storage::DatasetVariant& variant, int depth)
      : Storage(depth), files_(storage::find_container("files")->open(variant, {})) {}

 private:
  void start(std::span<const storage::ReadRequest> requests) override {
    for (const storage::ReadRequest& request : requests) {
      story.push_back("ask " + request.sample->path);
      asked_.push_back(request);
    }
  }
  std::size_t finish(std::span<storage::ReadCompletion> done, bool) override {
    if (asked_.empty()) return 0;
    const auto chosen = asked_.begin() + static_cast<std::ptrdiff_t>(turn_++ % asked_.size());
    const storage::ReadRequest request = *chosen;
    asked_.erase(chosen);
    story.push_back("read " + request.sample->path);
    done[0] = files_->read(*request.sample, request.tail);
    done[0].tag = request.tag;
    return 1;
  }
  std::unique_ptr<storage::Storage> files_;
  std::vector<storage::ReadRequest> asked_;
  std::size_t turn_ = 0;
};

TEST_F(Loaders, AsManyFilesAsTheDepthAreOnTheirWay) {
  static const storage::Container telling{
      .name = "telling",
      .help = "",
      .open = [](const storage::DatasetVariant& variant,
                 const storage::Io& io) -> std::unique_ptr<storage::Storage> {
        return std::make_unique<Telling>(variant, io.depth);
      }};
  constexpr int kDepth = 3;
  for (const int workers : {0, 1}) {
    for (const char* kind : {"pool", "batch"}) {
      pipeline::LoaderOptions o = options("tensor", workers);
      const auto expected = pixels(*pipeline::make_loader(kind, o), o.recipe.spec, 4);
      dataset_.container = &telling;
      o.recipe.io.depth = kDepth;
      story.clear();
      {
        const auto loader = pipeline::make_loader(kind, o);
        EXPECT_EQ(pixels(*loader, o.recipe.spec, 4), expected);
      }
      int on_their_way = 0, most = 0;
      for (const std::string& line : story) {
        on_their_way += line.starts_with("ask") ? 1 : -1;
        most = std::max(most, on_their_way);
      }
      EXPECT_EQ(most, kDepth) << kind << workers;
    }
  }
}

TEST_F(Loaders, StagesHoldTheirOwnCpuTimeAlone) {
  pipeline::LoaderOptions o = options("tensor", 0);
  const auto loader = pipeline::make_loader("pool", o);
  loader->next();
  const measure::StageTotals before = loader->stages();
  for (int i = 0; i < 20; ++i) {
    const std::int64_t until =
        measure::thread_cpu_ns() + 5'000'000;  // the consumer works in the same thread
    while (measure::thread_cpu_ns() < until) {
    }
    loader->next();
  }
  measure::StageTotals stages = loader->stages();
  stages -= before;
  EXPECT_LE(stages[measure::Stage::read].cpu_ns,
            stages[measure::Stage::read].wall_ns + 20 * kBatch * 3000);  // not the 100 ms
}

TEST_F(Loaders, ASampleThatFailsTakesItsTime) {
  pipeline::LoaderOptions o = options("jpeg", 0);
  o.recipe.augment.crop_and_flip = false;  // a crop may lie in the half that is whole
  for (std::size_t i = 0; i < dataset_.samples.size(); ++i) damage(i);
  const auto loader = pipeline::make_loader("pool", o);
  EXPECT_THROW(loader->next(), Error);
  EXPECT_GT(loader->stages()[measure::Stage::decode].wall_ns, 0);
  EXPECT_EQ(loader->stages()[measure::Stage::decode].items, 0);
}

TEST_F(Loaders, ASampleThatIsReplacedIsCountedOnce) {
  pipeline::LoaderOptions o = options("jpeg", 0);
  for (std::size_t i = 0; i < dataset_.samples.size(); i += 2) damage(i);
  o.recipe.bad = std::make_shared<pipeline::BadSamples>();
  const auto loader = pipeline::make_loader("pool", o);
  for (int i = 0; i < 12; ++i) loader->next();
  EXPECT_EQ(loader->stages()[measure::Stage::decode].items, 12 * kBatch);
}

// Ranks that are threads make their loaders at the same time, and only one of them sets OpenCV's
// threads. Most loaders are refused here, so that nothing else takes time.
TEST_F(Loaders, AreAskedForByManyThreadsAtOnce) {
  const pipeline::LoaderOptions o = options("jpeg", 0);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&o] {
      for (int i = 0; i < 2000; ++i) EXPECT_THROW(pipeline::make_loader("none", o), UsageError);
      pipeline::make_loader("pool", o)->next();
    });
  }
}

TEST_F(Loaders, PngHasTheSamePixelsAsJpeg) {
  auto jpeg = pipeline::make_loader("pool", options("jpeg", 2));
  const auto a = pixels(*jpeg, {kBatch, kInput, codec::Dtype::uint8}, 6);
  jpeg.reset();
  auto png = pipeline::make_loader("pool", options("png", 2));
  EXPECT_EQ(pixels(*png, {kBatch, kInput, codec::Dtype::uint8}, 6), a);
}

TEST_F(Loaders, ALibrarysWholeDecodeGivesTheSameBatches) {
  for (const char* data : {"jpeg", "png"}) {
    pipeline::LoaderOptions o = options(data, 2);
    const auto expected =
        pixels(*pipeline::make_loader("pool", o), {kBatch, kInput, codec::Dtype::uint8}, 6);
    o.recipe.decoder = codec::DecoderKind::library;
    EXPECT_EQ(pixels(*pipeline::make_loader("pool", o), {kBatch, kInput, codec::Dtype::uint8}, 6),
              expected)
        << data;
  }
}

// Half the size from the decoder, the rest by the resize: the same picture, at the same place.
TEST_F(Loaders, ReducedDecodingMovesNothing) {
  const TemporaryFolder large;
  make_dataset(large.path(), {"jpeg"}, {160, 120}, 8);
  const storage::DatasetVariant dataset = storage::open_dataset(large.path(), "jpeg/160x120");
  pipeline::SampleRecipe recipe{.dataset = &dataset,
                                .format = codec::find_picture_format("jpeg"),
                                .spec = {1, kInput, codec::Dtype::uint8},
                                .filter = pipeline::ResizeFilter::antialias};
  measure::StageCounters counters;
  for (std::int64_t i = 0; i < 40; ++i) {
    const pipeline::Draw draw = pipeline::Sampler(8, 3, 0, 1).at(i);
    std::vector<std::byte> whole(recipe.spec.sample_bytes()), reduced(whole.size());
    recipe.decode_scale = false;
    pipeline::SampleSource(recipe, counters).make(draw, whole.data());
    recipe.decode_scale = true;
    pipeline::SampleSource(recipe, counters).make(draw, reduced.data());
    double difference = 0;
    for (std::size_t k = 0; k < whole.size(); ++k)
      difference += std::abs(int(whole[k]) - int(reduced[k]));
    EXPECT_LT(difference / static_cast<double>(whole.size()), 5) << i;
  }
}

TEST_F(Loaders, ForTheDeviceToAugmentWholePicturesComeWithWhatWasDrawn) {
  for (const char* kind : {"pool", "batch"}) {
    pipeline::LoaderOptions o = options("png", 3);
    o.recipe.spec.size = kStoredSize;
    o.recipe.augment.jitter = true;
    o.recipe.augment_on_device = true;
    const auto loader = pipeline::make_loader(kind, o);
    for (int i = 0; i < 10; ++i) {
      const pipeline::BatchLease batch = loader->next();
      for (std::int64_t slot = 0; slot < kBatch; ++slot) {
        const auto at = static_cast<std::size_t>(slot);
        const pipeline::Draw draw = o.sampler.at(batch->sequence * kBatch + slot);
        const pipeline::Augmentation expected =
            pipeline::draw_augmentation(o.recipe.augment, kStoredSize, draw.augment_seed);
        EXPECT_EQ(batch->augmentations[at].window, expected.window);
        EXPECT_EQ(batch->augmentations[at].flip, expected.flip);
        EXPECT_EQ(batch->augmentations[at].jitter, expected.jitter);
        std::vector<std::byte> whole(o.recipe.spec.sample_bytes());
        pipeline::SampleRecipe plain = o.recipe;
        plain.augment_on_device = false, plain.augment = {.crop_and_flip = false};
        measure::StageCounters counters;
        pipeline::SampleSource(plain, counters).make(draw, whole.data());
        EXPECT_EQ(std::memcmp(whole.data(), batch->pixels + at * whole.size(), whole.size()), 0);
      }
    }
    EXPECT_EQ(loader->stages()[measure::Stage::augment].items, 0) << "no worker augments";
    EXPECT_GT(loader->stages()[measure::Stage::collate].items, 0);
  }
}

TEST_F(Loaders, APictureOfAnotherSizeCannotGoToTheDeviceWhole) {
  pipeline::LoaderOptions o = options("png", 0);
  o.recipe.spec.size = {kStoredSize.width, kStoredSize.height + 1};
  o.recipe.augment_on_device = true;
  EXPECT_THAT([&] { pipeline::make_loader("pool", o)->next(); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("has 40x30 pixels")));
}

// For a decoder on the device: every slot holds a file as it is, from storage and from memory.
TEST_F(Loaders, ForTheDeviceToDecodeFilesComeAsTheyAre) {
  for (const bool cached : {false, true}) {
    pipeline::LoaderOptions o = options("jpeg", 2);
    std::size_t largest = 0;
    for (const storage::SampleFile& file : o.recipe.dataset->samples)
      largest = std::max<std::size_t>(largest, file.bytes);
    o.recipe.spec.size = kStoredSize;
    o.recipe.spec.encoded_slot = pipeline::encoded_slot_for(largest);
    o.recipe.augment_on_device = true;
    if (cached) o.recipe.encoded_cache = pipeline::fill_encoded_cache(o.recipe, 1);
    const auto loader = pipeline::make_loader("pool", o);
    for (int i = 0; i < 10; ++i) {
      const pipeline::BatchLease batch = loader->next();
      for (std::int64_t slot = 0; slot < kBatch; ++slot) {
        const storage::SampleFile& file = o.recipe.dataset->samples[static_cast<std::size_t>(
            o.sampler.at(batch->sequence * kBatch + slot).sample)];
        std::ifstream in(o.recipe.dataset->folder / file.path, std::ios::binary);
        const std::string expected{std::istreambuf_iterator<char>(in), {}};
        const auto got = pipeline::encoded_in_slot(
            batch->pixels + static_cast<std::size_t>(slot) * o.recipe.spec.sample_bytes());
        EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(got.data()), got.size()),
                  expected);
      }
    }
    EXPECT_EQ(loader->stages()[measure::Stage::decode].items, 0)
        << "nothing is decoded on the host";
    EXPECT_GT(loader->stages()[measure::Stage::collate].items, 0);
  }
}

TEST_F(Loaders, AFileThatOutgrowsItsSlotIsRefusedByName) {
  pipeline::LoaderOptions o = options("jpeg", 0);
  o.recipe.spec.size = kStoredSize;
  o.recipe.spec.encoded_slot = 64;
  o.recipe.augment_on_device = true;
  EXPECT_THAT([&] { pipeline::make_loader("pool", o)->next(); },
              testing::ThrowsMessage<Error>(testing::HasSubstr(".jpg: is larger")));
}

TEST_F(Loaders, BatchLoaderDeliversInOrder) {
  auto loader = pipeline::make_loader("batch", options("jpeg", 3));
  for (std::int64_t i = 0; i < 30; ++i) EXPECT_EQ(loader->next()->sequence, i);
}

TEST_F(Loaders, BatchLoaderAsksForNoMoreThanPrefetchTimesWorkers) {
  auto loader = pipeline::make_loader("batch", options("jpeg", 3));
  EXPECT_EQ(loader->samples_ahead_limit(), 3 * 2 * kBatch);
  while (loader->stages()[measure::Stage::collate].items < loader->samples_ahead_limit())
    std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(loader->stages()[measure::Stage::collate].items, 3 * 2 * kBatch);
}

TEST_F(Loaders, PoolFillsTheQueueAndThenRests) {
  auto loader = pipeline::make_loader("pool", options("jpeg", 3));
  const pipeline::BatchLease first = loader->next();
  while (loader->stages()[measure::Stage::collate].items < 3 * kBatch) std::this_thread::yield();
  EXPECT_LE(loader->stages()[measure::Stage::collate].items,
            kBatch + loader->samples_ahead_limit() + 3 * kBatch);
}

TEST_F(Loaders, NormalisedTransferAgreesWithNormalise) {
  auto raw_loader = pipeline::make_loader("pool", options("tensor", 0));
  const pipeline::BatchLease raw = raw_loader->next();
  const pipeline::BatchSpec spec{kBatch, kStoredSize, codec::Dtype::fp32};
  std::vector<float> expected(spec.sample_elements() * kBatch);
  codec::normalise(reinterpret_cast<const std::uint8_t*>(raw->pixels), expected.size() / 3,
                   codec::Dtype::fp32, reinterpret_cast<std::byte*>(expected.data()));
  auto loader = pipeline::make_loader("pool", options("tensor", 0, codec::Dtype::fp32));
  const pipeline::BatchLease batch = loader->next();
  EXPECT_EQ(std::memcmp(batch->pixels, expected.data(), spec.bytes()), 0);
}

// The payload goes straight to its slot, the header elsewhere: every file's pixels must be where
// they belong.
TEST_F(Loaders, TensorsAreTheirFilesPayloads) {
  for (const char* kind : {"pool", "batch"}) {
    pipeline::LoaderOptions o = options("tensor", 2);
    const pipeline::BatchSpec spec = o.recipe.spec;
    const auto found = pixels(*pipeline::make_loader(kind, o), spec, 12);
    for (std::int64_t i = 0; i < 12; ++i) {
      std::string expected, labels;
      for (std::int64_t slot = 0; slot < kBatch; ++slot) {
        const storage::SampleFile& file =
            dataset_.samples[static_cast<std::size_t>(o.sampler.at(i * kBatch + slot).sample)];
        std::ifstream in(dataset_.folder / file.path, std::ios::binary);
        in.seekg(codec::kTensorHeaderBytes);
        expected.append(std::istreambuf_iterator<char>(in), {});
        labels += std::to_string(file.label) + ",";
      }
      EXPECT_EQ(found.at(i), expected + labels) << kind << " " << i;
    }
  }
}

TEST_F(Loaders, ATensorOfAnotherSizeOrTypeIsRefusedNamingIt) {
  const pipeline::LoaderOptions o = options("tensor", 0);
  const std::string bytes = [&] {
    std::ifstream in(dataset_.folder / dataset_.samples[0].path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }();
  // Width and height exchanged: as many bytes, but not the same pixels. Then a type that takes
  // more.
  for (const auto& [at, value] :
       std::map<std::size_t, std::string>{{12, {40, 0, 0, 0, 30}}, {8, {1}}}) {
    std::string wrong = bytes;
    wrong.replace(at, value.size(), value);
    for (const storage::SampleFile& sample : dataset_.samples)
      std::ofstream(dataset_.folder / sample.path, std::ios::binary) << wrong;
    EXPECT_THAT([&] { pipeline::make_loader("pool", o)->next(); },
                testing::ThrowsMessage<Error>(testing::HasSubstr(".tensor: ")))
        << at;
  }
}

TEST_F(Loaders, CachesGiveTheFirstEpochsPixels) {
  pipeline::LoaderOptions plain = options("jpeg", 0);
  const auto expected = pixels(*pipeline::make_loader("pool", plain), plain.recipe.spec, 10);
  pipeline::LoaderOptions encoded = plain;
  encoded.recipe.encoded_cache = pipeline::fill_encoded_cache(plain.recipe, 2);
  EXPECT_EQ(pixels(*pipeline::make_loader("pool", encoded), plain.recipe.spec, 10), expected);
  pipeline::LoaderOptions sample = plain;
  sample.recipe.sample_cache = pipeline::fill_sample_cache(plain.recipe, 1, 2);
  auto loader = pipeline::make_loader("pool", sample);
  EXPECT_EQ(pixels(*loader, plain.recipe.spec, 10), expected);
  EXPECT_EQ(loader->stages()[measure::Stage::decode].items, 0);
  EXPECT_GT(loader->stages()[measure::Stage::collate].items, 0);
}

// A crop is cut from the whole picture here, and decoded alone there. The sides are multiples of
// nothing, so that windows and pictures end within a JPEG's block and within a vector register.
TEST(DecodedPictures, HaveThePixelsOfEveryEpoch) {
  constexpr codec::PixelSize kOdd{67, 45};
  constexpr std::int64_t kSamples = 16;
  const TemporaryFolder folder;
  make_dataset(folder.path(), {"jpeg", "png", "png0", "bmp", "webp", "npy", "npz", "raw"}, kOdd,
               kSamples);
  for (const char* data : {"jpeg", "png", "png0", "bmp", "webp", "npy", "npz", "raw"}) {
    const auto dataset = storage::open_dataset(folder.path(), std::string(data) + "/67x45");
    pipeline::SampleRecipe plain{.dataset = &dataset, .format = codec::find_picture_format(data)};
    const auto cache = pipeline::fill_decoded_cache(plain, 3);
    const auto expect_equal = [&](std::int64_t epochs) {
      pipeline::SampleRecipe decoded = plain;
      decoded.decoded_cache = cache;
      measure::StageCounters counters;
      pipeline::SampleSource from_files(plain, counters), from_memory(decoded, counters);
      std::vector<std::byte> expected(plain.spec.sample_bytes()), found(expected.size());
      const pipeline::Sampler sampler(kSamples, 3, 0, 1);
      for (std::int64_t i = 0; i < epochs * kSamples; ++i) {
        from_files.make(sampler.at(i), expected.data());
        from_memory.make(sampler.at(i), found.data());
        ASSERT_EQ(expected, found) << data << ", index " << i;
      }
    };
    for (const auto filter : {pipeline::ResizeFilter::bilinear, pipeline::ResizeFilter::antialias,
                              pipeline::ResizeFilter::area}) {
      plain.filter = filter;
      plain.spec = {1, kInput, codec::Dtype::uint8};
      plain.augment = {.crop_and_flip = true, .jitter = true};
      expect_equal(4);
    }
    plain.spec = {1, kInput, codec::Dtype::fp16};
    expect_equal(1);
    plain.spec = {1, kOdd, codec::Dtype::uint8};  // the native size
    plain.augment = {};
    expect_equal(2);
    plain.augment = {.crop_and_flip = false};  // every pixel as it is
    expect_equal(1);
    plain.augment_on_device = true;
    expect_equal(1);
  }
}

TEST_F(Loaders, DecodedPicturesServeAnyNumberOfWorkers) {
  pipeline::LoaderOptions o = options("jpeg", 0);
  const auto expected = pixels(*pipeline::make_loader("pool", o), o.recipe.spec, 40);  // 3 epochs
  o.recipe.decoded_cache = pipeline::fill_decoded_cache(o.recipe, 4);
  for (const char* kind : {"pool", "batch"}) {
    for (const int workers : {0, 1, 4}) {
      o.workers = workers;
      const auto loader = pipeline::make_loader(kind, o);
      EXPECT_EQ(pixels(*loader, o.recipe.spec, 40), expected) << kind << " " << workers;
      loader->stop();
      const measure::StageTotals stages = loader->stages();
      EXPECT_EQ(stages[measure::Stage::read].items, 0);
      EXPECT_EQ(stages[measure::Stage::decode].items, 0);
      EXPECT_GE(stages[measure::Stage::augment].items, 40 * kBatch);
      EXPECT_GE(stages[measure::Stage::collate].items, 40 * kBatch);
    }
  }
}

TEST_F(Loaders, DecodedPicturesAreGivenBack) {
  pipeline::LoaderOptions o = options("jpeg", 2);
  o.recipe.decoded_cache = pipeline::fill_decoded_cache(o.recipe, 2);
  const std::weak_ptr<const std::vector<pipeline::CachedSample>> cache = o.recipe.decoded_cache;
  auto loader = pipeline::make_loader("pool", std::move(o));
  const pipeline::BatchLease batch = loader->next();
  EXPECT_FALSE(cache.expired());
  loader.reset();
  EXPECT_TRUE(cache.expired()) << "a batch that is still held needs none of it";
}

TEST_F(Loaders, DecodingIntoMemoryEndsSoonWhereAsked) {
  std::stop_source stop;
  stop.request_stop();
  const auto cache = pipeline::fill_decoded_cache(options("jpeg", 2).recipe, 2, stop.get_token());
  for (const pipeline::CachedSample& sample : *cache) EXPECT_TRUE(sample.bytes().empty());
}

TEST_F(Loaders, CachesTellHowFullTheyAre) {
  const pipeline::SampleRecipe recipe = options("jpeg", 2).recipe;
  std::vector<std::size_t> told;
  const auto tell = [&](std::size_t done, std::size_t samples) {
    EXPECT_EQ(samples, 64u);
    told.push_back(done);
  };
  pipeline::fill_encoded_cache(recipe, 2, {}, tell);
  pipeline::fill_decoded_cache(recipe, 2, {}, tell);
  pipeline::fill_sample_cache(recipe, 1, 2, {}, tell);
  EXPECT_GE(told.size(), 3u) << "at the beginning at least";
  EXPECT_THAT(told, testing::Each(testing::AllOf(testing::Ge(1u), testing::Le(64u))));
}

// Whatever is said of bad samples: this is none.
TEST_F(Loaders, DecodingIntoMemoryEndsBeforeThatIsShort) {
  pipeline::LoaderOptions o = options("jpeg", 2);
  o.recipe.bad = std::make_shared<pipeline::BadSamples>();
  const auto fill = [&](std::uint64_t at_start, std::uint64_t later) {
    bool started = false;
    return pipeline::fill_decoded_cache(o.recipe, 2, {}, {}, [&, at_start, later] {
      return std::exchange(started, true) ? later : at_start;
    });
  };
  constexpr std::uint64_t kGB = 1'000'000'000;
  EXPECT_THAT([&] { fill(10 * kGB, kGB); },
              testing::ThrowsMessage<Error>(testing::AllOf(
                  testing::HasSubstr("memory: cannot hold the decoded pictures: 1 of 64 take"),
                  testing::HasSubstr("1000 MB are left; use --cache encoded"))));
  EXPECT_THROW(fill(kGB, 0), Error) << "a control group that is full";
  EXPECT_EQ(fill(10 * kGB, 2 * kGB)->size(), 64u);
  EXPECT_EQ(fill(0, 0)->size(), 64u) << "unknown";
}

std::unique_ptr<pipeline::Loader> host_cache(const pipeline::LoaderOptions& options, int batches) {
  return pipeline::make_host_cache(pipeline::make_loader("pool", options), options.recipe.spec,
                                   pipeline::host_slabs(), batches);
}
std::vector<const pipeline::HostBatch*> next_batches(pipeline::Loader& loader, int count) {
  std::vector<const pipeline::HostBatch*> batches;
  for (int i = 0; i < count; ++i) batches.push_back(loader.next().get());
  return batches;
}

TEST_F(Loaders, HostCacheHandsOutTheSameBatchesAndRestsItsWorkers) {
  const pipeline::LoaderOptions o = options("jpeg", 2);
  const auto loader = host_cache(o, 5);
  const auto first = next_batches(*loader, 5);
  const auto made = loader->stages()[measure::Stage::collate].items;
  for (int i = 0; i < 30; ++i)
    EXPECT_EQ(loader->next().get(), first[static_cast<std::size_t>(i % 5)]);
  EXPECT_LE(loader->stages()[measure::Stage::collate].items, made + 2 * kBatch);
  loader->stop();
  EXPECT_EQ(loader->next(), nullptr);
}

// The fourth and fifth batch lie in other memory and hold what the first two do.
TEST_F(Loaders, HostCacheCopiesWhatItDoesNotLoad) {
  const pipeline::LoaderOptions o = options("jpeg", 2);
  const auto loader = host_cache(o, 5);
  const auto kept = next_batches(*loader, 5);
  EXPECT_EQ(std::set(kept.begin(), kept.end()).size(), 5);
  for (std::size_t i : {0, 1}) {
    EXPECT_EQ(std::memcmp(kept[i]->pixels, kept[i + 3]->pixels, o.recipe.spec.bytes()), 0);
    EXPECT_EQ(kept[i]->labels, kept[i + 3]->labels);
  }
  EXPECT_NE(std::memcmp(kept[0]->pixels, kept[1]->pixels, o.recipe.spec.bytes()), 0);
}

TEST_F(Loaders, HostCacheIsLargerThanTheCpusCaches) {
  const pipeline::BatchSpec spec = options("jpeg", 2).recipe.spec;
  const int batches = pipeline::host_cache_batches(spec);
  EXPECT_GE(batches, 3);
  EXPECT_GE(spec.bytes() * static_cast<std::size_t>(batches),
            2 * measure::last_level_cache_bytes());
}

TEST_F(Loaders, StopEndsAWaitingConsumerAndAllWorkers) {
  for (const char* kind : {"pool", "batch"}) {
    pipeline::PlantedTimes slow{};
    slow[static_cast<std::size_t>(measure::Stage::read)].ns = 20'000'000;
    pipeline::LoaderOptions o = options("jpeg", 2);
    o.recipe.planted = &slow;
    auto loader = pipeline::make_loader(kind, o);
    std::jthread consumer([&] {
      while (loader->next()) {
      }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    loader->stop();
    consumer.join();
  }
}

// Slept after each sample by whoever made it, and no part of a stage: a worker's time is that of
// its stages and its delays at least.
TEST_F(Loaders, ADelayedWorkerIsSlowerAndNoStageCountsIt) {
  constexpr int kBatches = 6;
  constexpr std::int64_t kDelay = 3'000'000;
  // One sleep may be shorter than its delay by what one look at the thread's waiting took less than
  // another.
  constexpr double kAll = 0.9 * kBatches * kBatch * kDelay;
  for (const int depth : {1, 4}) {
    for (const auto& [kind, workers] :
         {std::pair{"pool", 2}, std::pair{"batch", 2}, std::pair{"pool", 0}}) {
      measure::Delays delays;
      delays.set(measure::Place::worker, {.ns = kDelay});
      pipeline::LoaderOptions o = options("tensor", workers);
      o.recipe.delays = &delays;
      o.recipe.io = {&storage::find_io_engine("buffered"), depth};
      const std::int64_t start = measure::now_ns();
      const auto loader = pipeline::make_loader(kind, o);
      for (int i = 0; i < kBatches; ++i) ASSERT_TRUE(loader->next());
      std::int64_t in_stages = 0;
      for (const measure::StageTotal& stage : loader->stages().stage) in_stages += stage.wall_ns;
      const auto spent = static_cast<double>(std::max(workers, 1) * (measure::now_ns() - start));
      EXPECT_GE(spent, kAll + static_cast<double>(in_stages)) << kind << " " << workers;
    }
  }
}

TEST_F(Loaders, ADelayThatBurnsTakesCpuTimeOfNoStage) {
  constexpr int kBatches = 6;
  constexpr std::int64_t kDelay = 1'000'000;
  constexpr double kAll = 0.9 * kBatches * kBatch * kDelay;
  measure::Delays delays;
  delays.set(measure::Place::worker, {.ns = kDelay, .burns = true});
  for (const int workers : {0, 2}) {
    pipeline::LoaderOptions o = options("tensor", workers);
    o.recipe.delays = &delays;
    const std::int64_t cpu = measure::process_cpu_ns();
    const auto loader = pipeline::make_loader("pool", o);
    for (int i = 0; i < kBatches; ++i) ASSERT_TRUE(loader->next());
    std::int64_t in_stages = 0;
    for (const measure::StageTotal& stage : loader->stages().stage) in_stages += stage.cpu_ns;
    EXPECT_GE(static_cast<double>(measure::process_cpu_ns() - cpu),
              kAll + static_cast<double>(in_stages))
        << workers;
  }
}

TEST_F(Loaders, ADelayIsSwitchedWhileTheLoaderRuns) {
  measure::Delays delays;
  pipeline::LoaderOptions o = options("tensor", 0);
  o.recipe.delays = &delays;
  const auto loader = pipeline::make_loader("pool", o);
  const auto cpu_of_next = [&] {
    const std::int64_t cpu = measure::thread_cpu_ns();
    EXPECT_TRUE(loader->next());
    return measure::thread_cpu_ns() - cpu;
  };
  constexpr std::int64_t kDelay = 20'000'000;
  EXPECT_LT(cpu_of_next(), kBatch * kDelay);
  delays.set(measure::Place::worker, {.ns = kDelay, .burns = true});
  EXPECT_GE(cpu_of_next(), kBatch * kDelay * 9 / 10);
  delays.set(measure::Place::worker, {});
  EXPECT_LT(cpu_of_next(), kBatch * kDelay);
}

// A worker then has one read fewer on its way, and one at least; nothing else changes.
TEST_F(Loaders, ReadsInFlightAreWithheldWhileTheLoaderRuns) {
  measure::Delays delays;
  pipeline::LoaderOptions o = options("tensor", 1);
  const auto expected = pixels(*pipeline::make_loader("pool", o), o.recipe.spec, 8);
  o.recipe.delays = &delays;
  o.recipe.io = {&storage::find_io_engine("buffered"), 4};
  const auto ring = pipeline::SlabRing::make(o.recipe.spec, 1, o.slabs);
  const pipeline::BatchLease batch = ring->acquire();
  batch->sequence = 0;
  pipeline::Worker worker(o);
  const auto asks_for = [&] {
    int asked = 0;
    for (; !worker.is_full(); ++asked) worker.ask(*batch, asked);
    for (int made = 0; made < asked; ++made) worker.finish_one();
    EXPECT_TRUE(worker.is_idle());
    return asked;
  };
  EXPECT_EQ(asks_for(), 4);
  delays.set(measure::Place::in_flight, {.withheld = 0.25});
  EXPECT_EQ(asks_for(), 3);
  delays.set(measure::Place::in_flight, {.withheld = 0.99});
  EXPECT_EQ(asks_for(), 1);
  for (const char* kind : {"pool", "batch"})
    EXPECT_EQ(pixels(*pipeline::make_loader(kind, o), o.recipe.spec, 8), expected) << kind;
  delays.set(measure::Place::in_flight, {});
  EXPECT_EQ(asks_for(), 4);
}

// Every third batch takes long, so that those behind it are whole first.
TEST_F(Loaders, PoolDeliversInOrderWhereAsked) {
  pipeline::PlantedTimes uneven{};
  auto& decode = uneven[static_cast<std::size_t>(measure::Stage::decode)];
  decode.spike_ns = 5'000'000;
  decode.every = 3 * kBatch;
  pipeline::LoaderOptions o = options("jpeg", 4);
  const auto expected =
      pixels(*pipeline::make_loader("pool", options("jpeg", 0)), o.recipe.spec, 20);
  o.recipe.planted = &uneven;
  o.in_order = true;
  auto loader = pipeline::make_loader("pool", o);
  for (std::int64_t i = 0; i < 60; ++i) ASSERT_EQ(loader->next()->sequence, i);
  o.first_cpu = 1;
  auto pinned = pipeline::make_loader("pool", o);
  EXPECT_EQ(pixels(*pinned, o.recipe.spec, 20), expected);
  loader->stop();
  while (loader->next()) {
  }
}

TEST_F(Loaders, ABadSampleIsReplacedByTheNextWhereAsked) {
  pipeline::LoaderOptions o = options("jpeg", 0);
  o.recipe.augment = {.crop_and_flip = false};
  const auto before = pixels(*pipeline::make_loader("pool", o), o.recipe.spec, 26);  // two epochs
  damage(7);
  std::filesystem::remove(folder_.path() / "jpeg/40x30" / dataset_.samples[20].path);
  for (const char* kind : {"pool", "batch"}) {
    for (const int workers : {0, 2}) {
      o.workers = workers;
      o.recipe.bad = std::make_shared<pipeline::BadSamples>();
      const auto after = pixels(*pipeline::make_loader(kind, o), o.recipe.spec, 26);
      const pipeline::BadTotals bad = o.recipe.bad->totals();
      EXPECT_GE(bad.count, 4);
      EXPECT_THAT(bad.pictures, testing::ElementsAre(7, 20)) << "each once, whatever was drawn";
      EXPECT_GE(bad.drawn, 26 * kBatch);
      ASSERT_EQ(bad.named.size(), 2u);
      EXPECT_THAT(bad.named.at(20), testing::HasSubstr(dataset_.samples[20].path));
      int differ = 0;
      for (const auto& [sequence, content] : after) differ += content != before.at(sequence);
      EXPECT_THAT(differ, testing::AllOf(testing::Ge(2), testing::Le(4)));
    }
  }
  // What stands in its place is the next one's pixels and label.
  std::int64_t index = 0;
  while (o.sampler.at(index).sample != 7) ++index;
  o.workers = 0;
  auto loader = pipeline::make_loader("pool", o);
  pipeline::BatchLease batch;
  for (std::int64_t i = 0; i <= index / kBatch; ++i) batch = loader->next();
  EXPECT_EQ(batch->labels[static_cast<std::size_t>(index % kBatch)], dataset_.samples[8].label);
  const auto decoder = codec::find_picture_format("jpeg")->make_decoder();
  std::ifstream file(folder_.path() / "jpeg/40x30" / dataset_.samples[8].path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  decoder->open(std::as_bytes(std::span(text)), "next");
  std::vector<std::uint8_t> next(o.recipe.spec.sample_bytes());
  pipeline::Resizer().resize(decoder->decode({0, 0, 40, 30}, 1), kInput, false,
                             pipeline::ResizeFilter::antialias, next.data());
  EXPECT_EQ(std::memcmp(batch->pixels + static_cast<std::size_t>(index % kBatch) * next.size(),
                        next.data(), next.size()),
            0);
}

TEST_F(Loaders, CachesLeaveABadSampleToWhoDrawsIt) {
  damage(7);
  pipeline::LoaderOptions o = options("jpeg", 2);
  o.recipe.augment = {.crop_and_flip = false};
  EXPECT_THROW(pipeline::fill_sample_cache(o.recipe, 1, 2), Error);
  EXPECT_THROW(pipeline::fill_decoded_cache(o.recipe, 2), Error);
  o.recipe.bad = std::make_shared<pipeline::BadSamples>();
  const auto expected = pixels(*pipeline::make_loader("pool", o), o.recipe.spec, 13);
  pipeline::LoaderOptions encoded = o, decoded = o, sample = o;
  encoded.recipe.encoded_cache = pipeline::fill_encoded_cache(o.recipe, 2);
  EXPECT_EQ(pixels(*pipeline::make_loader("pool", encoded), o.recipe.spec, 13), expected);
  decoded.recipe.decoded_cache = pipeline::fill_decoded_cache(o.recipe, 2);
  EXPECT_EQ(pixels(*pipeline::make_loader("pool", decoded), o.recipe.spec, 13), expected);
  sample.recipe.sample_cache = pipeline::fill_sample_cache(o.recipe, 1, 2);
  EXPECT_EQ(pixels(*pipeline::make_loader("pool", sample), o.recipe.spec, 13), expected);
}

TEST_F(Loaders, CachesKeepWhyASampleIsBad) {
  pipeline::LoaderOptions o = options("jpeg", 2);
  const std::string gone = dataset_.samples[7].path;
  std::filesystem::remove(folder_.path() / "jpeg/40x30" / gone);
  const auto first_of = [&](const auto& fill) {
    pipeline::LoaderOptions cached = o;
    cached.recipe.bad = std::make_shared<pipeline::BadSamples>();
    fill(cached.recipe);
    const auto loader = pipeline::make_loader("pool", cached);
    for (int i = 0; i < 13; ++i) loader->next();  // an epoch
    return cached.recipe.bad->totals().first();
  };
  const std::string expected = first_of([](pipeline::SampleRecipe&) {});
  EXPECT_THAT(expected, testing::HasSubstr(gone + ": "));
  EXPECT_EQ(first_of([](pipeline::SampleRecipe& recipe) {
              recipe.encoded_cache = pipeline::fill_encoded_cache(recipe, 2);
            }),
            expected);
  EXPECT_EQ(first_of([](pipeline::SampleRecipe& recipe) {
              recipe.decoded_cache = pipeline::fill_decoded_cache(recipe, 2);
            }),
            expected);
  EXPECT_EQ(first_of([](pipeline::SampleRecipe& recipe) {
              recipe.sample_cache = pipeline::fill_sample_cache(recipe, 1, 2);
            }),
            expected);
}

TEST_F(Loaders, PicturesWithStrayBytesAreNotedOnce) {
  pipeline::LoaderOptions o = options("jpeg", 0);
  for (const std::size_t sample : {7u, 20u}) {
    storage::SampleFile& file = dataset_.samples[sample];
    std::ofstream(folder_.path() / "jpeg/40x30" / file.path, std::ios::binary | std::ios::app)
        << "trailing";
    file.bytes += 8;
  }
  const auto noted_by = [&](const char* kind, int workers, const auto& fill) {
    o.workers = workers;
    o.recipe.stray_bytes = std::make_shared<pipeline::NotedSamples>(dataset_.samples.size());
    pipeline::LoaderOptions cached = o;
    fill(cached.recipe);
    pixels(*pipeline::make_loader(kind, cached), o.recipe.spec, 26);  // two epochs
    return o.recipe.stray_bytes->totals().samples;
  };
  const auto of_both = testing::ElementsAre(7, 20);
  for (const char* kind : {"pool", "batch"})
    for (const int workers : {0, 2})
      EXPECT_THAT(noted_by(kind, workers, [](pipeline::SampleRecipe&) {}), of_both) << kind;
  EXPECT_THAT(noted_by("pool", 2,
                       [](pipeline::SampleRecipe& recipe) {
                         recipe.encoded_cache = pipeline::fill_encoded_cache(recipe, 2);
                       }),
              of_both);
  EXPECT_THAT(noted_by("pool", 2,
                       [](pipeline::SampleRecipe& recipe) {
                         recipe.decoded_cache = pipeline::fill_decoded_cache(recipe, 2);
                       }),
              of_both);
  EXPECT_THAT(noted_by("pool", 2,
                       [](pipeline::SampleRecipe& recipe) {
                         recipe.sample_cache = pipeline::fill_sample_cache(recipe, 1, 2);
                       }),
              of_both);
}

TEST_F(Loaders, NothingButBadSamplesIsAFailure) {
  for (std::size_t i = 0; i < 64; ++i) damage(i);
  pipeline::LoaderOptions o = options("jpeg", 2);
  o.recipe.augment = {.crop_and_flip = false};
  o.recipe.bad = std::make_shared<pipeline::BadSamples>();
  for (const char* kind : {"pool", "batch"}) {
    auto loader = pipeline::make_loader(kind, o);
    EXPECT_THAT([&] { loader->next(); }, testing::ThrowsMessage<Error>(testing::ContainsRegex(
                                             "jpeg/40x30: all 64 samples are bad; the first: "
                                             ".*class_.*[.]jpg: ")));
  }
}

TEST_F(Loaders, ADamagedFileFailsTheConsumerNamingIt) {
  const auto victim = damage(7);
  for (const char* kind : {"pool", "batch"}) {
    for (const int workers : {0, 2}) {
      pipeline::LoaderOptions o = options("jpeg", workers);
      o.recipe.augment = {.crop_and_flip = false};  // the whole picture is needed
      auto loader = pipeline::make_loader(kind, o);
      try {
        for (int i = 0; i < 20; ++i) loader->next();
        FAIL() << kind << " " << workers << ": damaged picture went unnoticed";
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr(victim.filename().string()));
      }
    }
  }
}

TEST_F(Loaders, AFileThatIsGoneFailsTheConsumer) {
  std::filesystem::remove(folder_.path() / "png/40x30" /
                          storage::open_dataset(folder_.path(), "png/40x30").samples[3].path);
  auto loader = pipeline::make_loader("pool", options("png", 2));
  EXPECT_THROW(
      {
        for (int i = 0; i < 20; ++i) loader->next();
      },
      Error);
}

TEST(LoaderKinds, AnUnknownOneIsRefused) {
  EXPECT_THROW(pipeline::make_loader("magic", {.sampler = {1, 0, 0, 1}}), UsageError);
}

}  // namespace
}  // namespace feedrate::tests
