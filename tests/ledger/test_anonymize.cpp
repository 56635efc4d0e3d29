#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "ledger/anonymize.h"
#include "ranks/hello.h"

namespace feedrate::tests {
namespace {

using Json = nlohmann::ordered_json;

Json anonymous(const std::string& dataset, const std::string& output, Json record) {
  if (!record.contains("environment")) record["environment"] = Json::object();
  for (const char* field : {"file_system", "command", "config"})
    record["environment"].emplace(field, nullptr);
  ledger::Anonymizer(dataset, output, "").apply(record);
  return record;
}

TEST(Anonymizer, LeavesWhatWasMeasuredAlone) {
  const Json record = {
      {"cell", {{"data", "jpeg"}, {"page-cache", "cold"}, {"device", ranks::host_name()}}},
      {"role", "ceiling"},
      {"dataset",
       {{"path", "jpeg"}, {"variant", "jpeg/48x48"}, {"page_cache_method", ranks::host_name()}}},
      {"flags",
       {{{"name", "cold"}, {"severity", "note"}, {"reason", "cold is cold; jpeg/a.jpg is bad"}}}}};
  const Json clean = anonymous("jpeg", "cold", record);
  EXPECT_EQ(clean["cell"], record["cell"]);
  EXPECT_EQ(clean["role"], "ceiling");
  EXPECT_EQ(clean["dataset"]["variant"], "jpeg/48x48");
  EXPECT_EQ(clean["dataset"]["path"], "DATASET");
  EXPECT_EQ(clean["dataset"]["page_cache_method"], record["dataset"]["page_cache_method"]);
  EXPECT_EQ(clean["flags"][0]["name"], "cold");
  EXPECT_EQ(clean["flags"][0]["reason"], "cold is cold; DATASET/a.jpg is bad");
}

// As an Error shows them.
TEST(Anonymizer, HidesNamesThatAreEscaped) {
  const std::string odd = "/data/an\nna\xff";
  const std::string error = Error(odd + "/a.jpg", "is bad").what();
  const Json clean = anonymous(odd, "", {{"error", error}});
  EXPECT_EQ(clean["error"], "DATASET/a.jpg: is bad");
}

TEST(Anonymizer, LeavesACommandThatCanBeRun) {
  const Json words = {
      "sweep",           "--data",   "data",
      "--dataset",       "data",     "--output=cold",
      "--page-cache",    "cold",     "--config",
      "/home/me/a.toml", "--device", "emulated:trace=/data/me/my gpu.steps,emulated:a100"};
  const Json clean = anonymous(
      "data", "cold",
      {{"environment",
        {{"command", words},
         {"config",
          "dataset = \"data\"\ndata = [\"data\"]\ndevice = \"emulated:trace=/me/a\"\n"}}}});
  EXPECT_EQ(
      clean["environment"]["command"],
      Json({"sweep", "--data", "data", "--dataset", "DATASET", "--output=OUTPUT", "--page-cache",
            "cold", "--config", "CONFIG", "--device", "emulated:trace=TRACE,emulated:a100"}));
  EXPECT_EQ(clean["environment"]["config"],
            "dataset = \"DATASET\"\ndata = [\"data\"]\ndevice = \"emulated:trace=TRACE\"\n");
}

// What its owner called it.
TEST(Anonymizer, HidesTheSourceOfAMount) {
  const auto device = [](const char* type, const char* source) {
    const Json mount = {{"type", type}, {"device", source}, {"mount_options", "rw"}};
    return anonymous(
        "", "",
        {{"environment", {{"file_system", mount}}}})["environment"]["file_system"]["device"];
  };
  EXPECT_EQ(device("nfs4", "filer:/anna"), "server:export");
  EXPECT_EQ(device("fuse.s3fs", "annas-bucket"), "source");
  EXPECT_EQ(device("fuseblk", "/dev/sda1"), "source");
  EXPECT_EQ(device("ext4", "/dev/mapper/anna-home"), "/dev/mapper/volume");
  EXPECT_EQ(device("ext4", "/dev/nvme0n1p1"), "/dev/nvme0n1p1");
}

TEST(Anonymizer, KeepsNamesOfFlagsAlone) {
  const Json clean =
      anonymous("/data/anna", "",
                {{"flags", {{{"name", "/data/anna"}}}}, {"other", {{"name", "/data/anna"}}}});
  EXPECT_EQ(clean["flags"][0]["name"], "/data/anna");
  EXPECT_EQ(clean["other"]["name"], "DATASET");
}

TEST(Anonymizer, ATracesNameMayHoldQuotes) {
  const Json clean = anonymous(
      "", "",
      {{"environment",
        {{"command", {"run", "--device", "emulated:trace=/data/bob's \"lab\"/a.steps,cpu"}},
         {"config",
          "device = [\"emulated:trace=/data/bob's lab/a\", 'emulated:trace=/a \"b\"/c', \"cpu\"]\n"
          "[[sweep]]\ndevice = 'cpu,emulated:trace=/data/me/a'\n"}}}});
  EXPECT_EQ(clean["environment"]["command"], Json({"run", "--device", "emulated:trace=TRACE,cpu"}));
  EXPECT_EQ(clean["environment"]["config"],
            "device = [\"emulated:trace=TRACE\", 'emulated:trace=TRACE', \"cpu\"]\n"
            "[[sweep]]\ndevice = 'cpu,emulated:trace=TRACE'\n");
}

TEST(Anonymizer, NamesNeitherHostsNorProcessesNorServers) {
  const Json mount = {{"type", "cifs"},
                      {"device", "//fileserver/share"},
                      {"mount_options", "rw,vers=3.0,username=me,domain=us,addr=10.0.0.1,uid=0"}};
  const Json clean = anonymous(
      "../secret/data/", "",
      {{"error",
        "rank 3 on node07 (pid 4242): ../secret/data/a.jpg: is broken on " + ranks::host_name()},
       {"dataset", {{"path", "../secret/data/"}, {"made", {{"source", "/photos/of/mine"}}}}},
       {"environment", {{"host", ranks::host_name()}, {"file_system", mount}}}});
  EXPECT_EQ(clean["error"], "rank 3: DATASET/a.jpg: is broken on host");
  EXPECT_EQ(clean["dataset"]["made"]["source"], "PICTURES");
  EXPECT_EQ(clean["environment"]["host"], "host");
  EXPECT_EQ(clean["environment"]["file_system"]["device"], "server:export");
  EXPECT_EQ(clean["environment"]["file_system"]["mount_options"], "rw,vers=3.0,uid=0");
  EXPECT_EQ(anonymous("", "", {{"error", "rank 1 (pid 12) was killed"}})["error"],
            "rank 1 was killed");
}

TEST(Anonymizer, NamesNoFolderOfAContainersLayers) {
  const Json mount = {{"type", "overlay"},
                      {"device", "overlay"},
                      {"mount_options",
                       "rw,lowerdir=/home/me/layers/l1,upperdir=/home/me/u,workdir=/home/me/w,"
                       "lowerdir+=/home/me/l2,datadir+=/home/me/d,xino=off"}};
  const Json clean = anonymous("", "", {{"environment", {{"file_system", mount}}}});
  EXPECT_EQ(clean["environment"]["file_system"]["mount_options"], "rw,xino=off");
}

TEST(Anonymizer, CountsOtherMachines) {
  const Json clean = anonymous("", "",
                               {{"ranks",
                                 {{{"rank", 0}, {"host", ranks::host_name()}, {"pid", 3}},
                                  {{"rank", 1}, {"host", "node9"}, {"pid", 4}}}}});
  EXPECT_EQ(clean["ranks"],
            Json({{{"rank", 0}, {"host", "host"}}, {{"rank", 1}, {"host", "host1"}}}));
}

}  // namespace
}  // namespace feedrate::tests
