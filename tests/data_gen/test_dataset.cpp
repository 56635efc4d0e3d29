#include <gmock/gmock.h>

#include "datasets.h"
#include "storage/gen_command.h"
#include "storage/manifest.h"

namespace feedrate::tests {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class Dataset : public DatasetTest {
 protected:
  Dataset() {
    data_gen::GenerateOptions small = options();
    small.formats = {"jpeg", "raw"};
    small.image_sizes = {{24, 18}};
    generate(small);
    data_ = small.data;
  }
  fs::path path(const char* name) const { return data_ / name; }
  std::string open_error(const std::string& variant = "raw/24x18") const {
    try {
      storage::open_dataset(data_, variant);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  void replace(const char* name, const std::string& from, const std::string& to) const {
    std::string text = read_text(path(name));
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    write_text(path(name), text.replace(at, from.size(), to));
  }
  fs::path data_;
};

TEST_F(Dataset, missing_things_are_named_with_the_command_that_makes_them) {
  EXPECT_THAT(
      open_error("png/24x18"),
      AllOf(HasSubstr("has no png/24x18, it has jpeg/24x18, raw/24x18"),
            HasSubstr("feedrate gen " + data_.string() + " --format png --image-size 24x18")));
  EXPECT_THAT(open_error("tensor-fp16/8x8"),
              HasSubstr("--format tensor --tensor-dtype fp16 --input-size 8x8"));
  EXPECT_THAT(open_error("../../etc"), HasSubstr("has no ../../etc"));
  fs::remove(path("dataset.json"));
  EXPECT_THAT(open_error(), HasSubstr("holds no dataset.json"));
  fs::remove_all(data_);
  EXPECT_THAT(open_error(), HasSubstr("no such folder"));
  EXPECT_THROW(storage::dataset_variants(data_), Error);
}

// gen refuses to add to a dataset of other options, so the command says them.
TEST_F(Dataset, the_command_has_the_options_that_the_dataset_was_made_with) {
  const std::string command =
      "feedrate gen " + data_.string() +
      " --container packed --format npy --image-size 24x18 --count 6 --classes 4 --seed 7 "
      "--png-level 1";
  EXPECT_THAT(open_error("npy.packed/24x18"), testing::EndsWith("; make it: " + command));
  data_gen::GenerateOptions usual{
      .data = folder_ / "usual", .formats = {"raw"}, .image_sizes = {{8, 8}}, .count = 3};
  usual.encode.jpeg_quality = 80;
  usual.encode.subsampling = "444";
  generate(usual);
  data_ = usual.data;
  EXPECT_THAT(
      open_error("bmp/8x8-high"),
      testing::EndsWith(" --format bmp --image-size 8x8 --detail high --count 3 --classes 3 "
                        "--quality 80 --subsampling 444"));
  EXPECT_THAT(open_error("jpeg/mixed"),
              testing::EndsWith("feedrate gen OTHER --format jpeg --image-size mixed --like "
                                "imagenet"));
  EXPECT_THAT(open_error("raw/mixed"),
              testing::HasSubstr("it has raw/8x8; name one of its sizes with --image-size, or"));
}

// What is typed is what these are: a new default of gen's needs another line here.
TEST_F(Dataset, the_command_leaves_out_what_gen_does_by_itself) {
  const data_gen::GenerateOptions usual;
  const std::map<std::string, std::string> made{
      {"source", "generated"},
      {"count", std::to_string(usual.count)},
      {"classes", std::to_string(usual.classes)},
      {"seed", std::to_string(usual.seed)},
      {"jpeg_quality", std::to_string(usual.encode.jpeg_quality)},
      {"subsampling", std::string(usual.encode.subsampling)},
      {"png_level", std::to_string(usual.encode.png_level)},
      {"source_files", "none"}};
  EXPECT_EQ(storage::gen_command("d", "jpeg.tar/500x375", made),
            "feedrate gen d --container tar --format jpeg --image-size 500x375");
  EXPECT_EQ(storage::gen_command("d", "tensor-fp16/8x8", made),
            "feedrate gen d --format tensor --tensor-dtype fp16 --input-size 8x8");
}

// Else they would be made of pictures of gen's usual size, beside others of the same name.
TEST_F(Dataset, the_command_makes_tensors_of_the_pictures_that_others_of_their_size_are_made_of) {
  storage::DatasetRecord record = storage::read_dataset_record(data_);
  record.variants["tensor-uint8/8x8"].made_from = "500x375-high";
  EXPECT_THAT(
      storage::gen_command("d", "tensor-fp16/8x8", storage::made_of(record, "tensor-fp16/8x8")),
      testing::HasSubstr(" --tensor-dtype fp16 --input-size 8x8 --image-size 500x375 --detail "
                         "high "));
  EXPECT_THAT(
      storage::gen_command("d", "tensor-fp16/9x9", storage::made_of(record, "tensor-fp16/9x9")),
      testing::Not(testing::HasSubstr("--image-size")));
}

TEST_F(Dataset, the_command_names_where_the_pictures_come_from) {
  const std::string begin = "feedrate gen d --format jpeg --image-size mixed ";
  EXPECT_EQ(storage::gen_command("d", "jpeg/mixed",
                                 {{"source", "/my pictures"}, {"classes", "7"}, {"count", "9"}}),
            begin + "--from '/my pictures' --count 9");
  EXPECT_EQ(storage::gen_command(
                "d", "jpeg/mixed",
                {{"source", "generated like imagenet"}, {"jpeg_quality", "own"}, {"count", "9"}}),
            begin + "--like imagenet --count 9");
  EXPECT_EQ(storage::gen_command("d", "jpeg/8x8", {{"bytes_per_sample", "114660"}}),
            "feedrate gen d --format jpeg --image-size 8x8 --bytes-per-sample 114660");
}

TEST_F(Dataset, of_many_variants_those_of_the_format_or_the_container_are_named) {
  storage::DatasetRecord record = storage::read_dataset_record(data_);
  for (const char* name : {"raw.tar/24x18", "png.packed/24x18", "tensor-uint8/8x8"})
    record.variants[name] = record.variants["raw/24x18"];
  storage::write_dataset_record(data_, record);
  EXPECT_THAT(open_error("raw.packed/24x18"),
              HasSubstr("has no raw.packed/24x18, it has raw.tar/24x18, raw/24x18; make it"));
  EXPECT_THAT(open_error("tensor-fp16/8x8"), HasSubstr(", it has tensor-uint8/8x8; make it"));
  EXPECT_THAT(open_error("npy.packed/24x18"), HasSubstr(", it has png.packed/24x18; make it"));
  EXPECT_THAT(open_error("npy.hdf5/24x18"),
              HasSubstr(", and nothing else of its format or container; make it"));
}

TEST_F(Dataset, lists_its_complete_variants) {
  EXPECT_THAT(storage::dataset_variants(data_), ElementsAre("jpeg/24x18", "raw/24x18"));
  storage::DatasetRecord record = storage::read_dataset_record(data_);
  record.variants["jpeg/24x18"].complete = false;
  storage::write_dataset_record(data_, record);
  EXPECT_THAT(storage::dataset_variants(data_), ElementsAre("raw/24x18"));
  EXPECT_THAT(open_error("jpeg/24x18"), HasSubstr("not complete"));
}

TEST_F(Dataset, every_flipped_byte_of_a_manifest_is_noticed) {
  const std::string good = read_text(path("raw/24x18/files.tsv"));
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    write_text(path("raw/24x18/files.tsv"), bad);
    ASSERT_THAT(open_error(), HasSubstr("files.tsv: ")) << i;
  }
  for (std::size_t length = 0; length < good.size(); ++length) {
    write_text(path("raw/24x18/files.tsv"), good.substr(0, length));
    ASSERT_THAT(open_error(), AllOf(HasSubstr("files.tsv: "), HasSubstr("feedrate gen"))) << length;
  }
}

TEST_F(Dataset, a_wrong_line_is_named) {
  const std::string good = read_text(path("raw/24x18/files.tsv"));
  const std::string first = good.substr(0, good.find('\n') + 1);
  const auto error_with = [&](const std::string& line) {
    write_text(path("raw/24x18/files.tsv"), first + line);
    return open_error();
  };
  const std::string hash = "\t0123456789abcdef\n";
  EXPECT_THAT(error_with("../../x\t0\t5" + hash),
              HasSubstr("line 2 has a path that is empty or leaves"));
  EXPECT_THAT(error_with("/etc/passwd\t0\t5" + hash), HasSubstr("line 2 has a path"));
  EXPECT_THAT(error_with("a/./b\t0\t5" + hash), HasSubstr("line 2 has a path"));
  EXPECT_THAT(error_with("a//b\t0\t5" + hash), HasSubstr("line 2 has a path"));
  EXPECT_THAT(error_with("\t0\t5" + hash), HasSubstr("line 2 has a path"));
  EXPECT_THAT(error_with("a\t4\t5" + hash), HasSubstr("line 2 has a label"));
  EXPECT_THAT(error_with("a\t-1\t5" + hash), HasSubstr("line 2 has a label"));
  EXPECT_THAT(error_with("a\t0\t-5" + hash), HasSubstr("line 2 has a wrong number of bytes"));
  EXPECT_THAT(error_with("a\t0\t99999999999999999999" + hash),
              HasSubstr("line 2 has a wrong number"));
  EXPECT_THAT(error_with("a\t0\t5\t0123\n"), HasSubstr("line 2 has a wrong checksum"));
  EXPECT_THAT(error_with("a\t0\t5\n"), HasSubstr("line 2 has fewer than four fields"));
  EXPECT_THAT(error_with("a\t0\t5" + hash.substr(0, 10)), HasSubstr("line 2 is cut off"));
  EXPECT_THAT(error_with("a\t0\t5" + hash),
              HasSubstr("not the manifest that dataset.json describes"));
}

TEST_F(Dataset, a_damaged_record_is_an_error_and_never_a_crash) {
  const std::string good = read_text(path("dataset.json"));
  for (std::size_t length = 0; length + 2 < good.size(); length += 3) {
    write_text(path("dataset.json"), good.substr(0, length));
    ASSERT_THAT(open_error(), HasSubstr("dataset.json: not valid JSON at byte")) << length;
  }
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ (1 << i % 8));
    write_text(path("dataset.json"), bad);
    open_error();
  }
  write_text(path("dataset.json"), good);
  EXPECT_EQ(open_error(), "");
  replace("dataset.json", "feedrate.dataset/1", "feedrate.dataset/2");
  EXPECT_THAT(open_error(), HasSubstr("has schema \"feedrate.dataset/2\""));
  write_text(path("dataset.json"), good);
  replace("dataset.json", "\"classes\": 4", "\"classes\": -4");
  EXPECT_THAT(open_error(), HasSubstr("wrong value of \"classes\""));
  write_text(path("dataset.json"), "[]");
  EXPECT_THAT(open_error(), HasSubstr("not a JSON object"));
  write_text(path("dataset.json"), "{\"schema\": 1e999}");
  EXPECT_THAT(open_error(), HasSubstr("dataset.json: "));
}

TEST_F(Dataset, opening_looks_at_the_first_and_the_last_file) {
  fs::resize_file(path("raw/24x18/class_000/000000.raw"), 3);
  EXPECT_THAT(open_error(),
              HasSubstr("000000.raw: not as the manifest has it: 3 bytes instead of"));
  fs::remove(path("jpeg/24x18/class_001/000005.jpg"));
  EXPECT_THAT(open_error("jpeg/24x18"), HasSubstr("000005.jpg: not as the manifest has it"));
}

TEST_F(Dataset, verify_names_every_damaged_file) {
  std::uint64_t last = 0, total = 0;
  const storage::VerifyResult good =
      storage::verify_dataset(data_, 2, [&](std::uint64_t done, std::uint64_t all) {
        EXPECT_GE(done, last);
        last = done;
        total = all;
      });
  EXPECT_EQ(good.files, 12u);
  EXPECT_TRUE(good.damaged.empty());
  EXPECT_EQ(good.bytes, total);
  EXPECT_EQ(last, total);

  std::string file = read_text(path("jpeg/24x18/class_002/000002.jpg"));
  file[file.size() / 2] = static_cast<char>(file[file.size() / 2] ^ 4);
  write_text(path("jpeg/24x18/class_002/000002.jpg"), file);
  fs::resize_file(path("raw/24x18/class_003/000003.raw"), 100);
  fs::remove(path("raw/24x18/class_000/000004.raw"));
  fs::create_directory(path("raw/24x18/class_000/000004.raw"));
  fs::remove(path("raw/24x18/class_001/000005.raw"));
  EXPECT_THAT(
      storage::verify_dataset(data_, 3, {}).damaged,
      ElementsAre(HasSubstr("jpeg/24x18/class_002/000002.jpg: checksum"),
                  testing::StartsWith("raw/24x18/class_003/000003.raw: size 100 instead of 1312"),
                  HasSubstr("raw/24x18/class_000/000004.raw: "),
                  HasSubstr("raw/24x18/class_001/000005.raw: No such file")));
}

// The kernel gives EIO for the first page of a process.
TEST_F(Dataset, verify_does_not_call_what_cannot_be_read_damaged) {
  const auto break_file = [&](const char* name) {
    fs::remove(path(name));
    fs::create_symlink("/proc/self/mem", path(name));
  };
  break_file("raw/24x18/class_000/000004.raw");
  fs::resize_file(path("raw/24x18/class_003/000003.raw"), 100);
  storage::VerifyResult result = storage::verify_dataset(data_, 2, {});
  EXPECT_THAT(result.damaged, ElementsAre(HasSubstr("000003.raw: size 100")));
  EXPECT_THAT(result.unreadable,
              ElementsAre(AllOf(testing::StartsWith("raw/24x18/class_000/000004.raw: "
                                                    "Input/output error; "),
                                HasSubstr("dmesg"))));
  EXPECT_FALSE(result.is_sound());
  break_file("jpeg/24x18/files.tsv");
  result = storage::verify_dataset(data_, 2, {});
  EXPECT_THAT(result.unreadable, testing::Contains(HasSubstr("files.tsv: ")));
  break_file("dataset.json");
  EXPECT_THAT(open_error(), AllOf(HasSubstr("dataset.json: cannot read it: Input/output error; "),
                                  HasSubstr("dmesg")));
}

TEST_F(Dataset, verify_names_files_that_no_manifest_knows) {
  write_text(path("jpeg/24x18/class_001/zzz.jpg"), "another");
  EXPECT_THAT(storage::verify_dataset(data_, 1, {}).damaged,
              ElementsAre("jpeg/24x18/class_001/zzz.jpg: not in the manifest; remove it"));
}

TEST_F(Dataset, verify_finds_every_flipped_bit) {
  const fs::path file = path("jpeg/24x18/class_002/000002.jpg");
  const std::string good = read_text(file);
  for (std::size_t i = 0; i < good.size(); i += 5) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ (1 << i % 8));
    write_text(file, bad);
    ASSERT_EQ(storage::verify_dataset(data_, 1, {}).damaged.size(), 1u) << i;
  }
}

// What `gen` wrote in a format that this program does not decode, say.
TEST_F(Dataset, verify_looks_at_the_bytes_that_have_their_checksum) {
  fs::resize_file(path("raw/24x18/class_003/000003.raw"), 100);
  const auto check = [](std::span<const std::byte> bytes, const std::string& name) {
    return name.ends_with(".raw") ? "of " + std::to_string(bytes.size()) + " bytes" : "";
  };
  const storage::VerifyResult result =
      storage::verify_dataset(data_, 2, {}, [](const std::string&) {}, [&] { return check; });
  EXPECT_THAT(result.damaged, ElementsAre(HasSubstr("000003.raw: size 100")));
  ASSERT_EQ(result.bad.size(), 5u);
  EXPECT_THAT(result.bad, testing::Each(testing::EndsWith(".raw: of 1312 bytes")));
}

TEST_F(Dataset, verify_does_not_wait_for_a_pipe) {
  const fs::path file = path("raw/24x18/class_000/000000.raw");
  fs::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  EXPECT_EQ(storage::verify_dataset(data_, 1, {}).damaged.size(), 1u);
}

TEST_F(Dataset, verify_goes_on_after_a_damaged_manifest) {
  replace("jpeg/24x18/files.tsv", "class_000", "class_001");
  const storage::VerifyResult result = storage::verify_dataset(data_, 1, {});
  EXPECT_THAT(result.damaged, ElementsAre(HasSubstr("jpeg/24x18/files.tsv: ")));
  EXPECT_EQ(result.files, 6u);
}

}  // namespace
}  // namespace feedrate::tests
