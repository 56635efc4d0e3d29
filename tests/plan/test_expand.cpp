#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>

#include "base/error.h"
#include "device/host_cost.h"
#include "measure/affinity.h"
#include "plan/axes.h"
#include "plan/expand.h"
#include "plan/settings.h"
#include "tests/message_of.h"
#include "tests/temporary_folder.h"

namespace feedrate::tests {
namespace {

std::vector<std::string> labels_of(const plan::AxisValues& chosen) {
  std::vector<std::string> all;
  for (const plan::Cell& cell : plan::expand(chosen)) all.push_back(cell.label());
  return all;
}

// What an axis that does not concern the cell says is no reason to refuse it.
TEST(Expand, ALoaderThatIsNotUsedIsNotRefused) {
  const plan::AxisValues chosen = {
      {"device", {"cpu"}}, {"data", {"jpeg"}}, {"augment-on", {"device"}}, {"loader", {"dali"}}};
  EXPECT_THROW(plan::expand(chosen), UsageError);
  plan::AxisValues cached = chosen;
  cached.insert({"cache", {"host"}});
  EXPECT_EQ(plan::expand(cached).size(), 1u);
}

TEST(Expand, ATracesContentTellsCellsApartAndNotItsPlace) {
  const TemporaryFolder folder;
  const auto cell_of = [&](const char* name, const char* content) {
    const std::string file = folder.path() / name;
    std::ofstream(file) << content;
    return plan::expand({{"device", {"emulated:trace=" + file}}, {"data", {"jpeg"}}}).front();
  };
  const plan::Cell one = cell_of("a", "1"), other = cell_of("a", "2"), copy = cell_of("b", "1");
  EXPECT_NE(one.id(), other.id());
  EXPECT_EQ(one.id(), copy.id());
  const std::string recorded = one.recorded(plan::axis_named("device")).value();
  EXPECT_EQ(recorded.find(folder.path().string()), std::string::npos) << recorded;
  EXPECT_EQ(recorded.size(), std::string("emulated:trace=").size() + 16);
  EXPECT_NE(one["device"]->find(folder.path().string()), std::string::npos);
  plan::Cell as_recorded = one;
  as_recorded.set("device", recorded);
  EXPECT_EQ(as_recorded.id(), one.id()) << "the ledger's readers derive it from the record";
}

TEST(Expand, TwoNamesOfATraceAreOneCell) {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "a.steps", again = folder.path() / "./a.steps";
  std::ofstream(file) << "1";
  const auto cells =
      plan::expand({{"device", {"emulated:trace=" + file, "emulated:trace=" + again}},
                    {"data", {"jpeg"}},
                    {"workers", {"1", "2"}}});
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_NE(cells[0].id(), cells[1].id());
  EXPECT_TRUE(cells[0]["device"]->starts_with("emulated:trace=" + file + "#"))
      << "the first name stays";
}

TEST(Expand, ADevicesNameHasNoCapitals) {
  for (const auto& [typed, name] : std::vector<std::pair<std::string, std::string>>{
           {"emulated:A100", "emulated:a100"},
           {"Emulated:H200-MLPerf", "emulated:h200-mlperf"},
           {"EMULATED:1E3", "emulated:1000"},
           {"CUDA", "cuda"},
           {"Cpu", "cpu"}})
    EXPECT_EQ(plan::expand({{"device", {typed}}}).front()["device"], name);
  const auto both = plan::expand({{"device", {"emulated:A100", "emulated:a100"}}});
  EXPECT_EQ(both.size(), 1u) << "one cell";
  const TemporaryFolder folder;
  const std::string file = folder.path() / "Capitals.Steps";
  std::ofstream(file) << "1";
  for (const std::string trace : {"emulated:trace=", "Emulated:Trace="}) {
    const auto cell = plan::expand({{"device", {trace + file}}}).front();
    EXPECT_TRUE(cell["device"]->starts_with("emulated:trace=" + file + "#")) << "a file's has";
  }
}

TEST(Expand, AGpuIsNotChosenByItsName) {
  const auto refusal = [](const std::string& typed) {
    return message_of([&] { plan::expand({{"device", {typed}}}); });
  };
  EXPECT_EQ(refusal("a100"),
            "--device a100: a GPU is not chosen by a name of its own; use cuda, or emulated:a100, "
            "which takes batches at a published rate");
  EXPECT_NE(refusal("H200").find("--device H200: "), std::string::npos);
  EXPECT_NE(refusal("H200").find("; use cuda, or emulated:h200, "), std::string::npos);
  EXPECT_TRUE(refusal("gpu").starts_with(
      "--device gpu: is called cuda here; use cuda, or emulated:a100, "));
}

TEST(Expand, ARangeIsAnsweredWithAList) {
  const auto refusal = [](const std::string& axis, const std::string& typed) {
    return message_of([&] {
      plan::expand({{"device", {"emulated:a100"}}, {"data", {"jpeg"}}, {axis, {typed}}});
    });
  };
  const std::string list = "; use one number, or for `sweep` a list: --workers ";
  EXPECT_EQ(refusal("workers", "1-8"),
            "--workers 1-8: is not a value of this axis" + list + "1,2,4,8");
  EXPECT_TRUE(refusal("workers", "0..6").ends_with(list + "0,1,2,4,6"));
  EXPECT_TRUE(refusal("workers", "3:5").ends_with(list + "3,4,5"));
  EXPECT_TRUE(refusal("gpus", "2-4").ends_with("--gpus 2,4"));
  for (const char* none : {"8-1", "4-4", "-1", "-", "..", "1-", "-1-8", "1-9999999", "a-b"})
    EXPECT_NE(refusal("workers", none).find("use a whole number from 0"), std::string::npos)
        << none;
}

TEST(Axes, OtherProgramsNamesAreKnown) {
  for (const auto& [name, axis] :
       std::vector<std::pair<std::string, std::string>>{{"num_workers", "workers"},
                                                        {"num-workers", "workers"},
                                                        {"batch", "batch-size"},
                                                        {"nproc_per_node", "gpus"},
                                                        {"prefetch_factor", "prefetch"}}) {
    EXPECT_EQ(plan::axis_called(name), axis);
    EXPECT_EQ(plan::axis_meant(name), "did you mean " + axis + "?");
    EXPECT_NO_THROW(plan::axis_named(axis));
  }
  EXPECT_EQ(plan::axis_called("workers"), std::nullopt);
  EXPECT_EQ(plan::axis_meant("wrokers"), "did you mean workers?");
  EXPECT_EQ(plan::axis_meant("colour"), "");
  EXPECT_NE(message_of([] { plan::axis_named("num_workers"); }).find("did you mean workers?"),
            std::string::npos);
}

TEST(Expand, ProductOfAxesAgainstATable) {
  EXPECT_EQ(labels_of({{"device", {"emulated:a100"}},
                       {"data", {"synthetic", "tensor", "jpeg"}},
                       {"image-size", {"224", "500x375"}},
                       {"workers", {"1", "2"}}}),
            (std::vector<std::string>{
                "synthetic, input 224x224, EMULATED",
                "tensor uint8, 1 worker, input 224x224, EMULATED",
                "tensor uint8, 2 workers, input 224x224, EMULATED",
                "jpeg 224x224, 1 worker, input 224x224, EMULATED",
                "jpeg 224x224, 2 workers, input 224x224, EMULATED",
                "jpeg 500x375, 1 worker, input 224x224, EMULATED",
                "jpeg 500x375, 2 workers, input 224x224, EMULATED",
            }));
}

TEST(Expand, NativeTrainsAtEachStoredSize) {
  EXPECT_EQ(labels_of({{"device", {"cuda"}},
                       {"data", {"synthetic", "tensor", "png"}},
                       {"image-size", {"64", "96"}},
                       {"input-size", {"native"}}}),
            (std::vector<std::string>{
                "synthetic, input 64x64", "synthetic, input 96x96",
                "tensor uint8, 2 workers, input 64x64", "tensor uint8, 2 workers, input 96x96",
                "png 64x64, 2 workers, input 64x64", "png 96x96, 2 workers, input 96x96"}));
}

TEST(Expand, CachesThatSpareTheWorkersCollapseThem) {
  EXPECT_EQ(plan::expand(
                {{"data", {"jpeg"}}, {"cache", {"host", "device"}}, {"workers", {"1", "2", "4"}}})
                .size(),
            2u);
  EXPECT_EQ(
      plan::expand({{"data", {"jpeg"}}, {"workers", {"0"}}, {"loader", {"pool", "batch"}}}).size(),
      1u);
}

TEST(Expand, AxesThatMeanNothingToACellCollapse) {
  const auto count = [](const std::string& axis, const char* data, const char* loader) {
    const std::vector<std::string> both =
        axis == "on-bad" ? std::vector<std::string>{"fail", "skip"}
        : axis == "io"   ? std::vector<std::string>{"buffered", "mmap"}
                         : std::vector<std::string>{"off", "on"};
    return plan::expand({{"data", {data}}, {"loader", {loader}}, {axis, both}}).size();
  };
  EXPECT_EQ(count("decode-scale", "jpeg", "pool"), 2u);
  EXPECT_EQ(count("decode-scale", "png", "pool"), 1u);
  EXPECT_EQ(count("decode-scale", "tensor", "pool"), 1u);
  EXPECT_EQ(count("in-order", "png", "pool"), 2u);
  EXPECT_EQ(count("in-order", "png", "batch"), 1u);
  EXPECT_EQ(count("pin-workers", "tensor", "batch"), 2u);
  EXPECT_EQ(count("io", "tensor", "batch"), 2u);
  EXPECT_EQ(count("io", "jpeg", "dali"), 1u);
  EXPECT_EQ(count("on-bad", "tensor", "pool"), 2u);
  for (const char* axis : {"decode-scale", "in-order", "pin-workers", "on-bad"})
    EXPECT_EQ(count(axis, "synthetic", "pool"), 1u) << axis;
}

TEST(Expand, TheContainerMattersOnlyWhereFilesAreRead) {
  const auto count = [](const char* data, const char* cache) {
    return plan::expand({{"data", {data}}, {"cache", {cache}}, {"container", {"files", "hdf5"}}})
        .size();
  };
  EXPECT_EQ(count("jpeg", "none"), 2u);
  EXPECT_EQ(count("tensor", "none"), 2u);
  EXPECT_EQ(count("jpeg", "encoded"), 1u);
  EXPECT_EQ(count("synthetic", "none"), 1u);
  EXPECT_EQ(plan::expand({{"data", {"jpeg"}},
                          {"container", {"files", "tar", "webdataset", "packed", "hdf5"}},
                          {"io", {"buffered", "uring"}}})
                .size(),
            9u);
  EXPECT_EQ(plan::settings_of(
                plan::expand(
                    {{"data", {"png"}}, {"image-size", {"500x375"}}, {"container", {"hdf5"}}})[0])
                .variant(),
            "png.hdf5/500x375");
  EXPECT_EQ(
      plan::settings_of(
          plan::expand({{"data", {"tensor"}}, {"cache", {"sample"}}, {"container", {"hdf5"}}})[0])
          .variant(),
      "tensor-uint8/224x224");
}

// The host decodes them, and has more to do with them afterwards.
TEST(Expand, DecodedPicturesAreKeptWhereTheHostDecodesThem) {
  const auto expand = [](plan::AxisValues values) {
    values.insert({"cache", {"decoded"}});
    values.insert({"data", {"jpeg"}});
    return plan::expand(values);
  };
  EXPECT_EQ(expand({{"data", {"jpeg", "png", "bmp", "npy", "raw", "synthetic"}}}).size(), 6u);
  const plan::Cell cell = expand({{"augment", {"none"}}, {"input-size", {"native"}}}).at(0);
  EXPECT_EQ(plan::settings_of(cell).cache, "decoded");
  EXPECT_EQ(cell["augment"], "none");
  EXPECT_FALSE(cell["container"]) << "nothing is read";
  EXPECT_EQ(expand({{"decode-scale", {"off", "on"}}}).size(), 1u) << "whole pictures, full size";
  EXPECT_THROW(expand({{"data", {"tensor"}}}), UsageError);
  EXPECT_THROW(expand({{"loader", {"dali"}}}), UsageError);
  EXPECT_THROW(expand({{"device", {"cuda"}}, {"decoder", {"nvjpeg"}}}), UsageError);
  EXPECT_THROW(expand({{"device", {"emulated:1"}}, {"decoder", {"raw-read"}}}), UsageError);
}

TEST(Expand, ADeviceThatAugmentsGetsWholePictures) {
  const auto settings = plan::settings_of(plan::expand({{"device", {"cuda"}},
                                                        {"data", {"jpeg"}},
                                                        {"image-size", {"500x375"}},
                                                        {"augment-on", {"device"}},
                                                        {"augment", {"jitter"}}})[0]);
  EXPECT_EQ(settings.batch_spec().size, (codec::PixelSize{500, 375}));
  const auto augmentation = settings.step_spec(0).augmentation;
  ASSERT_TRUE(augmentation);
  EXPECT_EQ(augmentation->output, (codec::PixelSize{224, 224}));
  EXPECT_EQ(augmentation->filter, pipeline::ResizeFilter::antialias);
  EXPECT_TRUE(augmentation->jitter);
  EXPECT_EQ(plan::expand({{"device", {"cuda"}},
                          {"data", {"tensor", "synthetic"}},
                          {"augment-on", {"host", "device"}}})
                .size(),
            2u);
  const auto refused = [](const char* axis, const char* value) {
    plan::AxisValues values = {
        {"device", {"cuda"}}, {"data", {"jpeg"}}, {"augment-on", {"device"}}};
    values[axis] = {value};
    EXPECT_THROW(plan::expand(values), UsageError) << value;
  };
  refused("device", "emulated:a100");
  refused("resize-filter", "area");
  refused("transfer", "fp16");
  refused("loader", "dali");
}

// A crop that is not resized: the axes of resizing do not concern it.
TEST(Expand, MaskedPicturesAreCroppedAndNotResized) {
  const auto expand = [](plan::AxisValues values) {
    values.insert({"data", {"jpeg"}});
    values.insert({"image-size", {"1024"}});
    return plan::expand(values);
  };
  const std::pair<const char*, pipeline::MaskColour> kOrders[] = {
      {"mask-color", pipeline::MaskColour::cropped},
      {"mask-color-crop-last", pipeline::MaskColour::whole}};
  for (const auto& [value, order] : kOrders) {
    const auto cells = expand({{"augment", {value}},
                               {"resize-filter", {"antialias", "area"}},
                               {"decode-scale", {"off", "on"}}});
    ASSERT_EQ(cells.size(), 1u) << value;
    EXPECT_EQ(cells[0]["augment"], value);
    EXPECT_FALSE(cells[0]["resize-filter"]);
    EXPECT_FALSE(cells[0]["decode-scale"]);
    const plan::CellSettings settings = plan::settings_of(cells[0]);
    EXPECT_EQ(settings.augment.mask_colour, order);
    EXPECT_EQ(settings.augment.crop, (codec::PixelSize{224, 224}));
    EXPECT_EQ(settings.batch_spec().normalisation, codec::Normalisation::unit);

    const plan::CellSettings on_device = plan::settings_of(
        expand({{"augment", {value}}, {"device", {"cpu"}}, {"augment-on", {"device"}}})[0]);
    EXPECT_EQ(on_device.batch_spec().size, (codec::PixelSize{1024, 1024}));
    ASSERT_TRUE(on_device.step_spec(0).augmentation);
    EXPECT_EQ(on_device.step_spec(0).augmentation->mask_colour, order);

    EXPECT_THROW(expand({{"augment", {value}}, {"loader", {"dali"}}}), UsageError);
    EXPECT_THROW(expand({{"augment", {value}}, {"input-size", {"1025x64"}}}), UsageError);
    EXPECT_THROW(expand({{"augment", {value}}, {"input-size", {"64x1025"}}}), UsageError);
    EXPECT_EQ(expand({{"augment", {value}}, {"input-size", {"native"}}}).size(), 1u);
    EXPECT_EQ(expand({{"augment", {"train"}}, {"input-size", {"1025"}}}).size(), 1u);
    EXPECT_EQ(plan::expand(
                  {{"data", {"synthetic", "tensor"}}, {"image-size", {"64"}}, {"augment", {value}}})
                  .size(),
              2u)
        << "nothing is cropped";
    EXPECT_EQ(
        plan::expand({{"data", {"jpeg"}}, {"image-size", {"mixed"}}, {"augment", {value}}}).size(),
        1u)
        << "a picture that is too small is named when it comes";
  }
  EXPECT_EQ(plan::settings_of(expand({})[0]).batch_spec().normalisation,
            codec::Normalisation::imagenet);
}

// The steps of the ceiling, beside the loaders of a cell without a cache.
TEST(Expand, DiscardedBatchesAreLoadedAsWithoutACache) {
  const auto expand = [](plan::AxisValues values) {
    values.insert({"data", {"jpeg"}});
    values.insert({"cache", {"none", "discard"}});
    return plan::expand(values);
  };
  const std::vector<plan::Cell> both = expand({{"io", {"uring"}}, {"container", {"webdataset"}}});
  ASSERT_EQ(both.size(), 2u);
  for (const plan::Axis& axis : plan::axes()) {
    if (axis.name != "cache") {
      EXPECT_EQ(both[0][axis.name], both[1][axis.name]) << axis.name;
    }
  }
  EXPECT_EQ(plan::ceiling_of(both[1]), plan::ceiling_of(both[0]));
  EXPECT_NE(both[1].label().find(", cache discard"), std::string::npos) << both[1].label();
  const plan::CellSettings none = plan::settings_of(both[0]), discard = plan::settings_of(both[1]);
  EXPECT_EQ(none.feed, device::Feed::streamed);
  EXPECT_FALSE(none.discards());
  EXPECT_EQ(discard.feed, device::Feed::synthetic);
  EXPECT_TRUE(discard.discards() && discard.reads_storage());
  EXPECT_EQ(discard.variant(), none.variant());
  EXPECT_FALSE(plan::settings_of(plan::ceiling_of(both[1])).discards());
  EXPECT_EQ(expand({{"data", {"synthetic"}}}).size(), 1u);
  EXPECT_EQ(expand({{"loader", {"dali"}}}).size(), 2u);
}

TEST(Expand, DiscardedBatchesAreOfLoadersAlone) {
  for (const auto& [axis, value] : {std::pair{"workers", "0"},
                                    {"page-cache", "cold"},
                                    {"augment-on", "device"},
                                    {"decoder", "nvjpeg"}}) {
    for (const char* cache : {"none", "discard"}) {
      plan::AxisValues values{
          {"device", {"cuda"}}, {"data", {"jpeg"}}, {"cache", {cache}}, {axis, {value}}};
      if (cache == std::string("none")) {
        EXPECT_NO_THROW(plan::expand(values)) << axis;
      } else {
        EXPECT_THROW(plan::expand(values), UsageError) << axis;
      }
    }
  }
  EXPECT_THROW(plan::expand({{"device", {"emulated:100"}},
                             {"data", {"jpeg"}},
                             {"cache", {"discard"}},
                             {"decoder", {"raw-read"}}}),
               UsageError);
  // Past the page cache, there is no cold pass.
  EXPECT_NO_THROW(plan::expand(
      {{"data", {"jpeg"}}, {"cache", {"discard"}}, {"io", {"direct"}}, {"page-cache", {"cold"}}}));
}

TEST(Expand, DaliTakesPicturesThatItKnows) {
  EXPECT_EQ(plan::expand({{"data", {"jpeg", "png", "synthetic"}},
                          {"loader", {"dali"}},
                          {"in-order", {"off", "on"}},
                          {"decode-scale", {"off", "on"}}})
                .size(),
            3u);
  const auto refused = [](const char* data, const char* axis, const char* value) {
    EXPECT_THROW(plan::expand({{"data", {data}}, {"loader", {"dali"}}, {axis, {value}}}),
                 UsageError)
        << data << " " << value;
  };
  refused("tensor", "gpus", "1");
  refused("npy", "gpus", "1");
  refused("jpeg", "workers", "0");
  refused("jpeg", "cache", "sample");
  refused("jpeg", "cache", "decoded");
  refused("jpeg", "on-bad", "skip");
  refused("jpeg", "resize-filter", "area");
  refused("jpeg", "augment", "jitter");
  refused("jpeg", "augment", "mask-color");
}

TEST(Expand, ACpusBatchIsAsLargeAsItHasCores) {
  const auto batch_of = [](const char* device, const char* typed) {
    return plan::expand({{"device", {device}}, {"batch-size", {typed}}})[0]["batch-size"].value();
  };
  const int cores = measure::allowed_cpus();
  EXPECT_EQ(batch_of("cpu", "auto"), std::to_string(std::min(64, std::max(2, cores))));
  EXPECT_EQ(batch_of("cpu", "7"), "7");
  EXPECT_EQ(batch_of("emulated:1000", "auto"), "64");
  EXPECT_EQ(batch_of("cuda", "auto"), "256");
  EXPECT_EQ(plan::expand({})[0]["batch-size"], "64");
}

TEST(Expand, EqualSpellingsAreOneCell) {
  const auto cells = plan::expand(
      {{"data", {"jpeg"}}, {"image-size", {"224", "224x224"}}, {"workers", {"2", "02"}}});
  ASSERT_EQ(cells.size(), 1u);
  EXPECT_EQ(cells[0]["workers"], "2");
}

TEST(Expand, MistakesAreNamed) {
  EXPECT_THROW(plan::expand({{"data", {"jpg"}}}), UsageError);
  EXPECT_THROW(plan::expand({{"workers", {"-1"}}}), UsageError);
  EXPECT_THROW(plan::expand({{"image-size", {"0x5"}}}), UsageError);
  EXPECT_THROW(plan::expand({{"image-size", {"224x"}}}), UsageError);
  EXPECT_THROW(plan::expand({{"colour", {"red"}}}), UsageError);
  EXPECT_THROW(
      plan::expand({{"data", {"tensor"}}, {"tensor-dtype", {"fp16"}}, {"transfer", {"uint8"}}}),
      UsageError);
}

TEST(Cell, IdIsStableAndTellsCellsApart) {
  std::set<std::string> ids;
  const auto cells = plan::expand({{"data", {"synthetic", "tensor", "jpeg", "png"}},
                                   {"workers", {"0", "1", "2"}},
                                   {"gpus", {"1", "2"}},
                                   {"batch-size", {"32", "64"}}});
  for (const plan::Cell& cell : cells) ids.insert(cell.id());
  EXPECT_EQ(ids.size(), cells.size());
  // A change of this value would orphan every ledger there is.
  EXPECT_EQ(plan::expand({{"device", {"emulated:a100"}}})[0].id().size(), 16u);
}

TEST(Cell, OneRateHasOneSpelling) {
  for (const char* rate : {"emulated:500.0", "emulated:5e2", "emulated:500"}) {
    EXPECT_EQ(plan::expand({{"device", {rate}}}).front()["device"], "emulated:500") << rate;
  }
  EXPECT_EQ(plan::expand({{"device", {"emulated:0.25"}}}).front()["device"], "emulated:0.25");
  EXPECT_EQ(plan::expand({{"device", {"emulated:a100"}}}).front()["device"], "emulated:a100");
}

TEST(Cell, CeilingKeepsWhatBelongsToTheDevice) {
  const plan::Cell cell = plan::expand({{"data", {"jpeg"}},
                                        {"device", {"cpu"}},
                                        {"gpus", {"2"}},
                                        {"batch-size", {"8"}},
                                        {"image-size", {"500x375"}},
                                        {"input-size", {"64"}}})[0];
  const plan::Cell ceiling = plan::ceiling_of(cell);
  EXPECT_EQ(ceiling["data"], "synthetic");
  for (const char* axis : {"device", "gpus", "batch-size", "input-size", "precision", "model",
                           "device-threads", "synthetic"}) {
    EXPECT_TRUE(ceiling[axis] && ceiling[axis] == cell[axis]) << axis;
  }
  for (const char* axis : {"workers", "image-size", "loader", "cache"})
    EXPECT_FALSE(ceiling[axis]) << axis;
}

TEST(Cell, WhatItsCeilingShowsConcernsDevicesThatTrain) {
  for (const char* device : {"cpu", "cuda"}) {
    for (const char* data : {"synthetic", "jpeg"}) {
      const auto cells = plan::expand({{"device", {device}},
                                       {"data", {data}},
                                       {"input-size", {"64"}},
                                       {"synthetic", {"pictures", "noise"}}});
      ASSERT_EQ(cells.size(), 2u) << device << " " << data;
      EXPECT_NE(cells[0].id(), cells[1].id());
      EXPECT_EQ(cells[0],
                plan::expand({{"device", {device}}, {"data", {data}}, {"input-size", {"64"}}})[0]);
      EXPECT_TRUE(plan::settings_of(cells[0]).pictures);
      EXPECT_FALSE(plan::settings_of(cells[1]).pictures);
      EXPECT_EQ(cells[0].label().find("pictures"), std::string::npos) << cells[0].label();
      const std::string shown = std::string(data) == "jpeg" ? ", ceiling of noise, input 64x64"
                                                            : "synthetic, noise, input 64x64";
      EXPECT_TRUE(cells[1].label().ends_with(shown)) << cells[1].label();
    }
  }
  const auto emulated =
      plan::expand({{"device", {"emulated:a100"}}, {"synthetic", {"pictures", "noise"}}});
  ASSERT_EQ(emulated.size(), 1u);
  EXPECT_FALSE(emulated[0]["synthetic"]);
}

TEST(Cell, OfBeforeThereWerePicturesHasACeilingOfNoise) {
  plan::Cell cell = plan::expand({{"device", {"cpu"}}, {"data", {"jpeg"}}})[0];
  cell.set("synthetic", std::nullopt);
  EXPECT_FALSE(plan::settings_of(cell).pictures);
}

TEST(Cell, DecodingOnTheGpuMeansAugmentingThere) {
  const plan::Cell cell = plan::expand({{"device", {"cuda"}},
                                        {"data", {"jpeg"}},
                                        {"decoder", {"nvjpeg"}},
                                        {"jpeg-engine", {"60"}}})[0];
  EXPECT_EQ(cell["augment-on"], "device");
  EXPECT_FALSE(cell["decode-scale"]);
  const plan::CellSettings settings = plan::settings_of(cell);
  EXPECT_TRUE(settings.decode_on_device && settings.augment_on_device);
  EXPECT_EQ(settings.step_spec(0).engine_share, 60);
  EXPECT_FALSE(plan::expand({{"device", {"cuda"}}, {"data", {"jpeg"}}})[0]["jpeg-engine"]);
  EXPECT_EQ(plan::expand({{"device", {"cuda"}},
                          {"data", {"png", "tensor", "synthetic"}},
                          {"decoder", {"auto", "nvjpeg"}}})
                .size(),
            3u);
  EXPECT_THROW(plan::expand({{"device", {"cuda"}},
                             {"data", {"auto"}},
                             {"image-size", {"mixed"}},
                             {"decoder", {"nvjpeg"}}}),
               UsageError)
      << "the rate would be the host's";
  for (const auto& [axis, value] : plan::AxisValues{{"device", {"cpu"}},
                                                    {"loader", {"dali"}},
                                                    {"cache", {"decoded", "sample", "device"}},
                                                    {"on-bad", {"skip"}},
                                                    {"jpeg-engine", {"101"}}}) {
    plan::AxisValues chosen{{"device", {"cuda"}}, {"data", {"jpeg"}}, {"decoder", {"nvjpeg"}}};
    for (const std::string& one : value) {
      chosen[axis] = {one};
      EXPECT_THROW(plan::expand(chosen), UsageError) << axis << " " << one;
    }
  }
}

// No crop is decoded smaller then. Formats that a library does not decode, `auto` does.
TEST(Cell, LibrariesDecodeWholePictures) {
  EXPECT_EQ(plan::settings_of(plan::expand({{"data", {"jpeg"}}})[0]).decoder,
            codec::DecoderKind::own);
  for (const auto& [value, kind] : {std::pair{"library", codec::DecoderKind::library},
                                    {"opencv", codec::DecoderKind::opencv}}) {
    const plan::Cell cell =
        plan::expand({{"data", {"jpeg"}}, {"decoder", {value}}, {"decode-scale", {"on"}}})[0];
    EXPECT_EQ(cell["decoder"], value);
    EXPECT_FALSE(cell["decode-scale"]);
    EXPECT_TRUE(cell["resize-filter"]);
    EXPECT_NE(cell.label().find(std::string(", decoder ") + value), std::string::npos)
        << cell.label();
    const plan::CellSettings settings = plan::settings_of(cell);
    EXPECT_EQ(settings.decoder, kind);
    EXPECT_FALSE(settings.raw_read || settings.decode_on_device);
    const auto cells = [&](const std::vector<std::string>& data) {
      return plan::expand({{"data", data}, {"decoder", {"auto", value}}}).size();
    };
    EXPECT_EQ(cells({"jpeg", "png", "png0"}), 6u) << value;
    EXPECT_EQ(cells({"npy", "npz", "raw", "tensor", "synthetic"}), 5u) << value;
    EXPECT_EQ(cells({"bmp"}), kind == codec::DecoderKind::opencv ? 2u : 1u);
    EXPECT_EQ(plan::expand({{"data", {"npy"}}, {"decoder", {value}}})[0]["decoder"], "auto");
    EXPECT_THROW(plan::expand({{"data", {"jpeg"}}, {"decoder", {value}}, {"loader", {"dali"}}}),
                 UsageError);
    EXPECT_NO_THROW(plan::expand(
        {{"data", {"jpeg"}}, {"decoder", {value}}, {"cache", {"encoded", "decoded", "discard"}}}));
  }
}

// A cell says in full how its step runs, but for a GPU, which finds it out: two GPUs' cells are the
// same one. Options that do not concern the device are null.
TEST(Cell, StepOptionsAreThoseOfTheDevice) {
  const plan::Cell cpu = plan::expand({{"device", {"cpu"}}})[0],
                   cuda = plan::expand({{"device", {"cuda:1"}}, {"precision", {"bf16"}}})[0];
  const plan::Cell emulated = plan::expand({{"device", {"emulated:a100"}}})[0];
  for (const char* axis : {"memory-format", "batch-norm", "optimizer", "stem"}) {
    EXPECT_TRUE(cpu[axis] && *cpu[axis] != "auto") << axis;
    EXPECT_EQ(cuda[axis], "auto") << axis;
    EXPECT_FALSE(emulated[axis]) << axis;
  }
  EXPECT_EQ(cuda["cudnn-benchmark"], "on");
  EXPECT_EQ(cuda["cuda-graph"], "auto");
  EXPECT_EQ(cuda["graph-memsets"], "auto");
  for (const char* axis : {"cudnn-benchmark", "cuda-graph", "graph-memsets"}) {
    EXPECT_FALSE(cpu[axis] || emulated[axis]) << axis;
  }
  EXPECT_EQ(cuda["master-weights"], "auto");
  EXPECT_FALSE(cpu["master-weights"]) << "fp32 has no other weights";
}

TEST(Cell, WhatAGpuFindsOutIsOpenInTheSettingsAndInNoLabel) {
  const plan::Cell cell = plan::expand({{"device", {"cuda"}}, {"optimizer", {"loop"}}})[0];
  EXPECT_EQ(cell["precision"], "auto") << "mixed, as the GPU has it";
  const plan::CellSettings settings = plan::settings_of(cell);
  EXPECT_EQ(settings.open_step,
            (std::set<std::string>{"memory-format", "batch-norm", "master-weights", "cuda-graph",
                                   "stem", "graph-memsets"}));
  EXPECT_EQ(settings.step.optimizer, "loop");
  EXPECT_EQ(cell.label().find("auto"), std::string::npos) << cell.label();
  EXPECT_NE(cell.label().find("optimizer loop"), std::string::npos) << cell.label();
  const plan::Cell cpu = plan::expand({{"device", {"cpu"}}})[0];
  EXPECT_EQ(cpu["precision"], "fp32");
  EXPECT_TRUE(plan::settings_of(cpu).open_step.empty());
}

TEST(Cell, StepOptionsGoWithTheCeilingAndIntoTheStep) {
  const plan::Cell cell = plan::expand({{"device", {"cuda"}},
                                        {"data", {"jpeg"}},
                                        {"batch-norm", {"fused"}},
                                        {"cuda-graph", {"on"}},
                                        {"graph-memsets", {"kernels"}},
                                        {"cudnn-benchmark", {"off"}},
                                        {"optimizer", {"loop"}}})[0];
  EXPECT_EQ(plan::ceiling_of(cell)["batch-norm"], "fused");
  EXPECT_EQ(plan::ceiling_of(cell)["cuda-graph"], "on");
  const device::StepOptions options = plan::settings_of(cell).step_spec(0).step;
  EXPECT_EQ(options.batch_norm, "fused");
  EXPECT_EQ(options.optimizer, "loop");
  EXPECT_TRUE(options.cuda_graph);
  EXPECT_TRUE(options.memset_kernels);
  EXPECT_FALSE(options.cudnn_benchmark);
  const auto tries_all = [](const char* value) {
    const plan::Cell one = plan::expand({{"device", {"cuda"}}, {"cudnn-benchmark", {value}}})[0];
    const device::StepOptions step = plan::settings_of(one).step;
    return std::pair(step.cudnn_benchmark, step.cudnn_tries_all);
  };
  EXPECT_EQ(tries_all("on"), std::pair(true, false));
  EXPECT_EQ(tries_all("all"), std::pair(true, true));
  EXPECT_FALSE(
      plan::settings_of(plan::expand({{"device", {"cpu"}}, {"memory-format", {"contiguous"}}})[0])
          .step.channels_last);
  for (const plan::AxisValues& impossible :
       {plan::AxisValues{
            {"device", {"cpu"}}, {"batch-norm", {"fused"}}, {"memory-format", {"contiguous"}}},
        plan::AxisValues{{"device", {"cuda"}},
                         {"precision", {"fp16"}},
                         {"cuda-graph", {"on"}},
                         {"optimizer", {"loop"}}},
        plan::AxisValues{{"device", {"cuda"}}, {"graph-memsets", {"kernels"}}},
        plan::AxisValues{
            {"device", {"cuda"}}, {"graph-memsets", {"kernels"}}, {"cuda-graph", {"off"}}}}) {
    EXPECT_THROW(plan::expand(impossible), UsageError);
  }
  EXPECT_NE(
      cell.label().find("batch-norm fused, optimizer loop, cudnn-benchmark off, cuda-graph on, "
                        "graph-memsets kernels"),
      std::string::npos)
      << cell.label();
}

// A name is the same cell as its number, so that ledgers hold one.
TEST(Axes, WhatAStepCostsItsHostHasNames) {
  const auto cell_of = [](const char* typed) {
    return plan::expand({{"device", {"emulated:a100"}}, {"host-cpu-ms", {typed}}}).front();
  };
  EXPECT_EQ(cell_of("graph")["host-cpu-ms"], "0.8");
  EXPECT_EQ(cell_of("graph").id(), cell_of("0.8").id());
  EXPECT_EQ(plan::settings_of(cell_of("graph")).emulation.host_cpu_ms, device::kGraphStepCpuMs);
  EXPECT_EQ(cell_of("eager")["host-cpu-ms"], "55");
  EXPECT_EQ(plan::settings_of(cell_of("eager")).emulation.host_cpu_ms, device::kEagerStepCpuMs);
  EXPECT_EQ(plan::settings_of(cell_of("auto")).emulation.host_cpu_ms, -1);
  EXPECT_NE(message_of([&] { cell_of("grap"); }).find("2.5, or graph, eager, auto"),
            std::string::npos);
  // The lines of `feedrate list` say the same numbers.
  for (const plan::AxisValue& value : plan::axis_named("host-cpu-ms").values) {
    if (value.value != "graph" && value.value != "eager") continue;
    const std::string number = *cell_of(std::string(value.value).c_str())["host-cpu-ms"];
    EXPECT_TRUE(value.help.starts_with(number + ": ")) << value.help;
  }
}

TEST(Axes, EveryFallbackIsAValueOfItsAxis) {
  for (const plan::Axis& axis : plan::axes())
    EXPECT_NO_THROW(axis.canonical(axis, std::string(axis.fallback))) << axis.name;
}

}  // namespace
}  // namespace feedrate::tests
