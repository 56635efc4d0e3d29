// What cells read, and what their network needs for it.
#include "run/datasets.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "device/registry.h"
#include "plan/expand.h"
#include "run/rank_task.h"
#include "tests/temporary_cache.h"
#include "tests/temporary_folder.h"

namespace feedrate::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

class OpenDatasets : public testing::Test {
 protected:
  void put(const std::string& path) const {
    const std::filesystem::path file = folder_.path() / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << "x";
  }
  static plan::CellSettings settings(const std::string& device, const std::string& size = "mixed") {
    return plan::settings_of(plan::expand({{"device", {device}},
                                           {"data", {"jpeg"}},
                                           {"batch-size", {"4"}},
                                           {"image-size", {size}},
                                           {"input-size", {"32"}}})
                                 .at(0));
  }
  run::Datasets datasets() {
    return run::Datasets(folder_.path(), 0, {},
                         [this](const std::string& note) { notes_.push_back(note); });
  }

  TemporaryCache cache_;
  TemporaryFolder folder_;
  std::vector<std::string> notes_;
};

TEST_F(OpenDatasets, TheNetworkHasAsManyOutputsAsThereAreClassesAndAThousandAtLeast) {
  for (int i = 0; i < 1000; ++i) put(std::to_string(i) + "/a.jpg");
  run::Datasets thousand = datasets();
  EXPECT_EQ(thousand.of(settings("cpu"))->classes, 1000);
  EXPECT_EQ(thousand.outputs(), 1000);
  thousand.tell_outputs();
  EXPECT_THAT(notes_, testing::IsEmpty());
  put("one more/a.jpg");
  run::Datasets more = datasets();
  EXPECT_EQ(more.outputs(), 1000) << "nothing is open";
  const auto dataset = more.of(settings("cpu"));
  EXPECT_EQ(more.outputs(), 1001);
  EXPECT_EQ(dataset->samples.back().label, 1000);
  EXPECT_THAT(notes_, testing::IsEmpty()) << "an emulated rate is of no such network";
  more.tell_outputs();
  EXPECT_THAT(notes_, ElementsAre(HasSubstr(": the network has 1001 outputs, one for each class")));
  more.tell_outputs();
  EXPECT_EQ(notes_.size(), 1U) << "it is told once";
}

TEST_F(OpenDatasets, ACeilingHasTheNetworkOfItsCell) {
  device::AcceleratorRegistry registry;
  run::RunOptions options;
  options.outputs = 1001;
  const run::RankTask task =
      run::make_rank_task(settings("emulated:1000"), options, registry, nullptr, {}, {}, {});
  EXPECT_EQ(task.step.classes, 1001);
}

TEST_F(OpenDatasets, WhatAListingSaysIsToldOnce) {
  put("a.jpg");
  put(".git/config");
  run::Datasets own = datasets();
  own.of(settings("emulated:1000"));
  const std::string note =
      folder_.path().string() + ": no class folders: one class; left out: 1 (1 hidden)";
  EXPECT_THAT(notes_, ElementsAre(note));
  own.tell_note(note);  // as another process, which has listed it, too
  EXPECT_EQ(notes_.size(), 1U);
}

// How long it took, say, was another number for the other process.
TEST_F(OpenDatasets, OfManyFilesAnotherProcessMayHaveSaidHowTheyWereListed) {
  for (int i = 0; i < 10'000; ++i) put("class/" + std::to_string(i) + ".jpg");
  run::Datasets alone = datasets();
  alone.of(settings("emulated:1000"));
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("10,000 files")));
  notes_.clear();
  run::Datasets told = datasets();
  told.tell_note("what the other one said");
  told.of(settings("emulated:1000"));
  EXPECT_THAT(notes_, ElementsAre("what the other one said"));
}

// The first process lists; the others check what it has kept.
TEST_F(OpenDatasets, AreAsAnotherProcessListedThem) {
  put("cat/a.jpg");
  run::Datasets alone = datasets();
  const std::string variant = settings("cpu").variant();
  EXPECT_EQ(alone.how_listed(variant).seconds, 0) << "nothing is open";
  const double own = alone.of(settings("cpu"))->listed.seconds;
  EXPECT_GT(own, 0);
  EXPECT_EQ(alone.how_listed(variant).seconds, own);
  EXPECT_EQ(alone.how_listed(variant).text, "") << "of few files";
  alone.note_listed(variant, {.seconds = 41, .text = "listed"});
  alone.note_listed(variant, {.seconds = 1, .text = "kept"});
  EXPECT_EQ(alone.how_listed(variant).seconds, 41);
  EXPECT_EQ(alone.how_listed(variant).text, "listed");
  alone.relist();
  EXPECT_EQ(alone.how_listed(variant).seconds, 0);
}

TEST_F(OpenDatasets, APartHasWhatWasSaidOfTheWhole) {
  for (int i = 0; i < 4; ++i) put("class/" + std::to_string(i) + ".jpg");
  put(".hidden.jpg");
  run::Datasets part(folder_.path(), 2);
  const auto dataset = part.of(settings("emulated:1000"));
  EXPECT_EQ(dataset->samples.size(), 2U);
  EXPECT_EQ(dataset->made.at(storage::kLeftOut), "1 (1 hidden)");
  EXPECT_EQ(dataset->made.at(storage::kFormats), "jpeg 4");
  EXPECT_EQ(dataset->made.at("samples"), "2 of 4, spread over all classes");
}

// A cell that reads no storage has no container, and must read the same.
TEST_F(OpenDatasets, OfPicturesAndTarFilesTheMoreAreReadByAllCells) {
  const auto cell = [&](const std::string& cache, const std::string& container) {
    plan::AxisValues axes = {{"device", {"emulated:1000"}}, {"data", {"jpeg"}},
                             {"batch-size", {"4"}},         {"image-size", {"mixed"}},
                             {"input-size", {"32"}},        {"cache", {cache}}};
    if (cache == "none") axes["container"] = {container};
    return plan::settings_of(plan::expand(axes).at(0));
  };
  const auto refused = [&](const plan::CellSettings& settings, const std::string& words) {
    EXPECT_THAT([&] { datasets().of(settings); }, ThrowsMessage<Error>(HasSubstr(words)));
  };
  for (const char* name : {"a.jpg", "b.jpg", "a.tar"}) put(name);
  for (const char* cache : {"none", "encoded"}) {
    const auto dataset = datasets().of(cell(cache, "files"));
    EXPECT_EQ(dataset->samples.size(), 2U) << cache;
    EXPECT_EQ(dataset->made.at(storage::kLeftOut), "1 (1 tar)") << cache;
  }
  refused(cell("none", "webdataset"),
          ": holds pictures (2) and tar files (1): it is read as pictures; use --container files");
  for (const char* name : {"b.tar", "c.tar"}) put(name);
  refused(
      cell("none", "files"),
      ": holds pictures (2) and tar files (3): it is read as shards; use --container webdataset");
  refused(cell("encoded", ""), ".tar: is cut off");
  put("class/c.jpg");
  EXPECT_EQ(datasets().of(cell("encoded", ""))->samples.size(), 1U);
  refused(cell("none", "webdataset"),
          ": holds class folders and tar files (3): it is read as pictures; use --container files");
}

TEST_F(OpenDatasets, AFolderWithoutPicturesIsNotTakenForOneOfAnotherSize) {
  const auto refused = [&](const std::string& words) {
    EXPECT_THAT([&] { datasets().of(settings("emulated:1000", "48")); },
                ThrowsMessage<Error>(HasSubstr(words)));
  };
  refused(": holds no files; give the folder of the pictures, or make a dataset: feedrate gen ");
  put("notes.txt");
  refused("; else it holds 1 (1 .txt); give the folder of the pictures");
  put("class/a.jpg");
  refused(
      ": is a folder of pictures of their own sizes, not of --image-size 48x48; use "
      "--image-size mixed; or make a dataset of one size: feedrate gen OUT --from ");
}

}  // namespace
}  // namespace feedrate::tests
