// What every way to read promises, for files, for a packed file and for several.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "base/file_remedy.h"
#include "base/whole_file.h"
#include "storage/direct_range.h"
#include "storage/io_engine.h"
#include "tests/temporary_folder.h"

namespace feedrate::tests {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

// Sizes around what O_DIRECT reads: blocks of 4096.
constexpr std::uint64_t kSizes[] = {10, 0, 1, 4095, 4096, 4097, 8192, 70'001, 12'288, 511};
constexpr int kCount = 10;

// The second: how many packed files; none: each sample is a file.
class IoEngines : public testing::TestWithParam<std::tuple<std::string, int>> {
 protected:
  void SetUp() override {
    try {
      if (engine().check) engine().check();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    make_files();
  }
  static int packed_files() { return std::get<1>(GetParam()); }
  static bool is_packed() { return packed_files() > 0; }
  static const storage::IoEngine& engine() {
    return storage::find_io_engine(std::get<0>(GetParam()));
  }

  void make_files() {
    const int shards = std::max(packed_files(), 1);
    std::vector<std::string> all(static_cast<std::size_t>(shards), std::string(100, '#'));
    for (int i = 0; i < kCount; ++i) {
      std::string text;
      for (std::uint64_t b = 0; b < kSizes[i]; ++b)
        text += static_cast<char>('a' + (b * 7 + static_cast<unsigned>(i)) % 26);
      const int shard = i * shards / kCount;
      std::string& file = all[static_cast<std::size_t>(shard)];
      samples_.push_back({"f" + std::to_string(i), 0, text.size(), 0, file.size(),
                          static_cast<std::uint32_t>(shard)});
      if (!is_packed()) std::ofstream(folder_.path() / samples_.back().path) << text;
      file += text + "##";
      texts_.push_back(text);
    }
    for (int shard = 0; shard < packed_files(); ++shard)
      std::ofstream(packed(shard)) << all[static_cast<std::size_t>(shard)];
  }
  std::string packed(int shard) const { return folder_.path() / ("all" + std::to_string(shard)); }

  std::unique_ptr<storage::Storage> open(int depth = 1) const {
    storage::Placement placement{.folder = folder_.path().string() + "/",
                                 .remedy = "make it again",
                                 .largest = *std::ranges::max_element(kSizes)};
    for (int shard = 0; shard < packed_files(); ++shard) placement.packed.push_back(packed(shard));
    return engine().open(std::move(placement), depth);
  }
  // "direct" reads one at a time.
  static int some_depth() { return std::get<0>(GetParam()) == "direct" ? 1 : 4; }

  static std::string text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  TemporaryFolder folder_;
  std::vector<storage::SampleFile> samples_;
  std::vector<std::string> texts_;
};

TEST_P(IoEngines, ReadEveryByteAndNoMore) {
  const auto storage = open();
  for (int round = 0; round < 2; ++round)
    for (std::size_t i = 0; i < samples_.size(); ++i)
      EXPECT_EQ(text(storage->read(samples_[i]).bytes), texts_[i]) << kSizes[i];
}

TEST_P(IoEngines, ReadTheLastBytesToAnotherPlaceAndNoFurther) {
  const auto storage = open();
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    const std::uint64_t bytes = kSizes[i];
    for (const std::uint64_t tail : {bytes, bytes / 2, std::min<std::uint64_t>(bytes, 1)}) {
      std::string to(tail + 2, '.');
      const auto done =
          storage->read(samples_[i], std::as_writable_bytes(std::span(to)).first(tail));
      EXPECT_EQ(text(done.bytes) + to, texts_[i] + "..") << bytes << " " << tail;
    }
  }
}

// Each completion is right, whatever the order, and none is lost.
TEST_P(IoEngines, HaveSeveralOnTheirWay) {
  const int depth = some_depth();
  const auto storage = open(depth);
  std::vector<std::size_t> of_tag(static_cast<std::size_t>(depth));
  std::vector<storage::ReadRequest> requests;
  std::vector<int> seen(samples_.size(), 0);
  std::size_t next = 0, done_so_far = 0;
  const auto ask = [&](std::uint32_t tag) {
    of_tag[tag] = next % samples_.size();
    requests.push_back({tag, &samples_[next++ % samples_.size()]});
  };
  for (int tag = 0; tag < depth; ++tag) ask(static_cast<std::uint32_t>(tag));
  while (done_so_far < 10 * samples_.size()) {
    storage->submit(requests);
    requests.clear();
    std::vector<storage::ReadCompletion> done(2);
    const std::size_t count = storage->poll(done, true);
    ASSERT_GT(count, 0U);
    for (const storage::ReadCompletion& completion : std::span(done).first(count)) {
      const std::size_t sample = of_tag[completion.tag];
      ASSERT_FALSE(completion.error);
      EXPECT_EQ(text(completion.bytes), texts_[sample]);
      EXPECT_GE(completion.latency_ns, 0);
      ++seen[sample], ++done_so_far;
      ask(completion.tag);
    }
  }
  EXPECT_THAT(seen, testing::Each(testing::Ge(9)));
}

TEST_P(IoEngines, NothingOutstandingIsNothingDone) {
  const auto storage = open();
  storage::ReadCompletion done;
  EXPECT_EQ(storage->poll({&done, 1}, true), 0U);
  storage->read(samples_[0]);
  EXPECT_EQ(storage->poll({&done, 1}, true), 0U);
}

TEST_P(IoEngines, CountWhatTheyRead) {
  const auto storage = open();
  storage->read(samples_[0]);
  storage->count_latencies();
  for (const storage::SampleFile& sample : samples_) storage->read(sample);
  storage::ReadLatencies latencies;
  storage->add_latencies(latencies);
  EXPECT_EQ(latencies.count(), kCount);
  if (latencies.seen_late == 0) {  // a busy machine may run others between two calls
    EXPECT_GT(latencies.reads.longest_ns(), 0);
  }
  const bool opens = !is_packed() && !std::get<0>(GetParam()).starts_with("uring");
  EXPECT_EQ(latencies.opens.count(), opens ? kCount : 0);
}

// Requests that nobody asks after are over before the storage is gone: they write into its buffers.
TEST_P(IoEngines, MayBeLeftWithRequestsOnTheirWay) {
  const int depth = some_depth();
  std::vector<std::vector<std::byte>> tails(static_cast<std::size_t>(depth));
  for (int round = 0; round < 20; ++round) {
    auto storage = open(depth);
    std::vector<storage::ReadRequest> requests;
    for (std::size_t tag = 0; tag < tails.size(); ++tag) {
      tails[tag].resize(kSizes[7]);
      requests.push_back({static_cast<std::uint32_t>(tag), &samples_[7], tails[tag]});
    }
    storage->submit(requests);
    storage.reset();
    for (auto& tail : tails) std::ranges::fill(tail, std::byte{7});
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    for (const auto& tail : tails) ASSERT_THAT(tail, testing::Each(std::byte{7})) << round;
  }
}

TEST_P(IoEngines, SayWhatIsNotAsTheManifestSays) {
  const auto storage = open();
  const auto refused = [&](storage::SampleFile sample, const std::string& words) {
    for (const bool to_tail : {false, true}) {
      std::vector<std::byte> tail(to_tail ? sample.bytes : 0);
      EXPECT_THAT([&] { storage->read(sample, tail); }, ThrowsMessage<Error>(HasSubstr(words)))
          << sample.bytes;
    }
    EXPECT_EQ(text(storage->read(samples_[3]).bytes), texts_[3]) << "and goes on";
  };
  if (is_packed()) {
    storage::SampleFile last = samples_.back();
    last.bytes += 3;  // two bytes follow it
    refused(last, packed(packed_files() - 1) + ": f9: is cut off; make it again");
    return;
  }
  for (const std::uint64_t wrong : {11ULL, 9ULL, 4ULL, 5000ULL}) {
    refused({"f0", 0, wrong},
            "f0: has 10 bytes, the manifest says " + std::to_string(wrong) + "; make it again");
  }
  refused({"f4", 0, 4095}, "f4: has 4096 bytes, the manifest says 4095");
  refused({"f4", 0, 4097}, "f4: has 4096 bytes, the manifest says 4097");
  refused({"none", 0, 1}, "none: No such file");
}

TEST_P(IoEngines, NameAFolderThatIsNoFile) {
  if (is_packed()) return;
  fs::create_directory(folder_.path() / "folder");
  EXPECT_THAT([&] { open()->read({"folder", 0, 4}); }, ThrowsMessage<Error>(HasSubstr("folder: ")));
}

INSTANTIATE_TEST_SUITE_P(
    All, IoEngines,
    testing::Combine(testing::Values("buffered", "direct", "mmap", "uring", "uring-direct"),
                     testing::Values(0, 1, 3)),
    [](const auto& test) {
      std::string name = std::get<0>(test.param);
      std::erase(name, '-');
      const int packed = std::get<1>(test.param);
      return name + (packed == 0 ? "_files" : packed == 1 ? "_packed" : "_shards");
    });

// procfs has no O_DIRECT.
TEST(IoEngine, SaysThatAFileSystemHasNoDirectReads) {
  for (const char* name : {"direct", "uring-direct"}) {
    const storage::IoEngine& engine = storage::find_io_engine(name);
    try {
      if (engine.check) engine.check();
    } catch (const Error&) {
      continue;
    }
    EXPECT_THAT(
        [&] {
          engine.open({.folder = "/proc/self/", .largest = 100}, 1)->read({"status", 0, 100});
        },
        ThrowsMessage<Error>(HasSubstr("/proc/self/status: its file system does not take "
                                       "O_DIRECT; use --io buffered")));
  }
}

// What lies before the sample is read with it, but nobody asked for that.
TEST(DirectRange, NamesNoPlaceBeforeTheSample) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "all";
  std::ofstream(path) << std::string(20'000, 'x');
  storage::PlacedFiles files({.packed = {path}}, 0);
  const PosixFile unreadable(path, O_WRONLY);
  storage::AlignedBuffer buffer(storage::largest_direct_range(9000));
  for (const std::uint64_t offset : {5000ULL, 8192ULL}) {
    const storage::SampleFile sample{.path = "x", .bytes = 9000, .offset = offset};
    EXPECT_THAT([&] { storage::read_direct(files, sample, unreadable.get(), buffer.data()); },
                ThrowsMessage<Error>(HasSubstr("all: x: Bad file descriptor at byte " +
                                               std::to_string(offset) + "; ")));
  }
}

// The kernel gives EIO for the first page of a process.
TEST(IoEngine, TellsAFileThatCannotBeReadFromADamagedOne) {
  const TemporaryFolder folder;
  fs::create_symlink("/proc/self/mem", folder.path() / "broken");
  const auto storage =
      storage::find_io_engine("buffered").open({.folder = folder.path().string() + "/"}, 1);
  EXPECT_THAT([&] { storage->read({"broken", 0, 4}); },
              ThrowsMessage<UnreadableError>(
                  AllOf(HasSubstr("broken: Input/output error at byte 0; "), HasSubstr("dmesg"))));
  EXPECT_THROW(storage->read({"none", 0, 4}), Error);
}

// A user who may lock no memory, for as long as it lives; root as well.
class NoLockedMemory {
 public:
  NoLockedMemory() {
    getrlimit(RLIMIT_MEMLOCK, &limit_);
    const rlimit none{0, limit_.rlim_max};
    setrlimit(RLIMIT_MEMLOCK, &none);
    syscall(SYS_capget, &header_, may_.data());
    auto less = may_;
    less[0].effective &= ~(1U << CAP_IPC_LOCK);
    syscall(SYS_capset, &header_, less.data());
  }
  ~NoLockedMemory() {
    syscall(SYS_capset, &header_, may_.data());
    setrlimit(RLIMIT_MEMLOCK, &limit_);
  }

 private:
  rlimit limit_{};
  __user_cap_header_struct header_{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> may_{};
};

// Only O_DIRECT pins memory.
TEST(IoEngine, SaysThatItReadsToMemoryThatIsNotRegistered) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "text";
  for (const std::string name : {"uring", "uring-direct"}) {
    const storage::IoEngine& engine = storage::find_io_engine(name);
    storage::ReadLatencies latencies;
    try {
      engine.check();
      const NoLockedMemory limited;
      const auto storage = engine.open({.folder = folder.path().string() + "/", .largest = 4}, 1);
      storage->count_latencies();
      storage->read({"file", 0, 4});
      storage->add_latencies(latencies);
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    EXPECT_EQ(latencies.unregistered, name == "uring-direct" ? 1 : 0) << name;
  }
}

// A pipe gives its bytes when somebody writes them.
TEST(IoEngine, TellsReadsWhoseEndNobodyWaitedFor) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const PosixFile pipe(path, O_RDWR);
  const storage::IoEngine& engine = storage::find_io_engine("uring");
  std::unique_ptr<storage::Storage> storage;
  try {
    engine.check();
    storage = engine.open({.folder = folder.path().string() + "/", .largest = 4}, 1);
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  storage->count_latencies();
  const storage::SampleFile sample{"pipe", 0, 4};
  for (const bool waits : {true, false}) {
    const storage::ReadRequest request{0, &sample};
    storage->submit({&request, 1});
    std::thread writer([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      EXPECT_EQ(write(pipe.get(), "text", 4), 4);
    });
    if (!waits) writer.join();
    storage::ReadCompletion done;
    EXPECT_EQ(storage->poll({&done, 1}, true), 1U);
    if (waits) writer.join();
    ASSERT_FALSE(done.error);
    EXPECT_EQ(done.seen_late, !waits);
    EXPECT_GE(done.latency_ns, 200'000'000);
  }
  storage::ReadLatencies latencies;
  storage->add_latencies(latencies);
  EXPECT_EQ(latencies.seen_late, 1);
  EXPECT_EQ(latencies.reads.count(), 1);
  EXPECT_EQ(latencies.count(), 2);
}

TEST(IoEngine, MustBeKnown) { EXPECT_THROW(storage::find_io_engine("none"), UsageError); }

// Files of /proc come in pieces of a page at most, as from a slow server.
TEST(ShortReads, AreGoneOnWithWhereTheyEnded) {
  const char* const file = "/proc/kallsyms";
  std::ifstream stream(file);
  const std::string whole{std::istreambuf_iterator<char>(stream), {}};
  if (whole.size() < 10'000) GTEST_SKIP() << file << " is too short here";
  storage::Placement placement{
      .folder = "/proc/", .remedy = "nothing helps", .largest = whole.size()};
  const auto storage = storage::find_io_engine("buffered").open(std::move(placement), 1);
  storage::Buffer buffer;
  storage->read({.path = "kallsyms", .bytes = whole.size()}, buffer);
  const std::span<const std::byte> bytes = buffer.bytes();
  const std::string read{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  EXPECT_TRUE(read == whole) << "of " << whole.size() << " bytes";
}

}  // namespace
}  // namespace feedrate::tests
