#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "codec/image.h"
#include "data_gen/generate.h"
#include "measure/clock.h"
#include "storage/dataset.h"

namespace feedrate::cli {
namespace {

struct GenOptions {
  data_gen::GenerateOptions generate;
  std::string from, like;
  std::vector<std::string> image_sizes, input_sizes{"224"}, tensor_dtypes{"uint8"};
  std::string subsampling = "420";
  // A disk that catches up with what was written before may keep a writer for longer than a reader.
  double stall_seconds = 30;
};

std::string bar(const data_gen::GenerateProgress& p, std::int64_t start_ns) {
  const double done =
      p.samples > 0 ? static_cast<double>(p.samples_done) / static_cast<double>(p.samples) : 0;
  const double elapsed = measure::seconds(measure::now_ns() - start_ns);
  std::string blocks;
  for (int i = 0; i < 24; ++i) blocks += i < static_cast<int>(done * 24) ? "█" : "░";
  char text[160];
  if (p.checking || p.packing) {
    std::snprintf(text, sizeof text, "%s: %lld/%lld",
                  p.packing ? "packing the samples" : "checking the files",
                  static_cast<long long>(p.samples_done), static_cast<long long>(p.samples));
    return text;
  }
  std::snprintf(
      text, sizeof text, "%3.0f %% %s %lld/%lld · %.0f/s · %.1f MB · %.0f s left", 100 * done,
      blocks.c_str(), static_cast<long long>(p.samples_done), static_cast<long long>(p.samples),
      elapsed > 0 ? static_cast<double>(p.samples_done) / elapsed : 0,
      static_cast<double>(p.bytes_written) / 1e6, done > 0 ? elapsed / done * (1 - done) : 0);
  return text;
}

void fill(GenOptions& o) {
  if (!o.from.empty()) o.generate.from = o.from;
  o.generate.like_imagenet = !o.like.empty();
  if (o.image_sizes.empty())
    o.image_sizes = {o.generate.like_imagenet ? std::string(storage::kMixedSizes) : "224"};
  for (const auto& size : o.image_sizes) {
    o.generate.image_sizes.push_back(size == storage::kMixedSizes ? data_gen::kMixedSize
                                                                  : codec::pixel_size_from(size));
  }
  const bool native = o.input_sizes.size() == 1 && o.input_sizes.front() == "native";
  for (const auto& size : o.input_sizes) {
    if (!native) o.generate.input_sizes.push_back(codec::pixel_size_from(size));
  }
  o.generate.tensor_dtypes.clear();
  for (const auto& dtype : o.tensor_dtypes)
    o.generate.tensor_dtypes.push_back(codec::dtype_from(dtype));
  o.generate.encode.subsampling = o.subsampling;
}

// Has the watch see what is read and written.
data_gen::StorageNews news_for(session::SignsOfLife& signs) {
  return {.waits_for = [&signs](const std::string& path) { signs.wait_for(path); },
          .syncs = [&signs](const std::string& folder) { signs.wait_for_disk(folder); }};
}

int generate(GenOptions& o, session::Aside& aside) {
  fill(o);
  session::SignsOfLife& signs = aside.watch(o.generate.data.string(), o.stall_seconds);
  o.generate.news = news_for(signs);
  const std::int64_t start = measure::now_ns();
  const auto progress = [&](const data_gen::GenerateProgress& p) {
    signs.go_on();
    aside.show([&] { return bar(p, start); });
  };
  std::int64_t skipped = 0;
  o.generate.on_skipped = [&](const std::string& picture, std::int64_t pictures) {
    aside.say("feedrate: left out: " + picture);
    skipped += pictures;
  };
  const std::vector<data_gen::VariantSummary> made = data_gen::generate_dataset(
      o.generate, progress, [stop = aside.stop_token()] { return stop.stop_requested(); });
  for (const data_gen::VariantSummary& v : made) {
    aside.print(
        format("%-28s %8lld samples %10.1f MB  mean %8.0f bytes\n", v.variant.c_str(),
               static_cast<long long>(v.files), static_cast<double>(v.bytes) / 1e6,
               v.files > 0 ? static_cast<double>(v.bytes) / static_cast<double>(v.files) : 0));
  }
  if (skipped > 0) aside.say(std::to_string(skipped) + " left out");
  aside.say(format("made in %.1f s", measure::seconds(measure::now_ns() - start)));
  return 0;
}

}  // namespace

CommandEntry add_gen(CLI::App& program) {
  const auto o = std::make_shared<GenOptions>();
  data_gen::GenerateOptions& g = o->generate;
  g.formats = {"tensor", "png", "jpeg"};
  CLI::App* app = program.add_subcommand(
      "gen", "Make a dataset: the same pictures in several formats and sizes");
  app->add_option("DATA", g.data, "folder to make, or to add to")->required();
  app->add_option("--like", o->like,
                  "imagenet: sizes, shapes, JPEG qualities and bytes of ImageNet's pictures")
      ->check(CLI::IsMember({"imagenet"}));
  app->add_option("--image-size", o->image_sizes,
                  "pixels as stored: WxH, N for NxN; mixed: each picture's own (--like, --from) "
                  "[224; mixed with --like]")
      ->delimiter(',');
  app->add_option("--detail", g.details,
                  "how much there is to see: lowest, low, medium (photographs), high, highest")
      ->delimiter(',')
      ->capture_default_str();
  app->add_option("--bytes-per-sample", g.bytes_per_sample,
                  "mean bytes of a JPEG, reached by its quality; 0: by --quality")
      ->capture_default_str();
  app->add_option("--input-size", o->input_sizes, "pixels of precached tensors, or native")
      ->delimiter(',')
      ->capture_default_str();
  app->add_option("--format", g.formats, "tensor, jpeg, png, png0, bmp, npy, npz, raw")
      ->delimiter(',')
      ->capture_default_str();
  app->add_option("--tensor-dtype", o->tensor_dtypes, "uint8, fp16, fp32 (normalised)")
      ->delimiter(',')
      ->capture_default_str();
  app->add_option("--container", g.containers,
                  "files; tar, packed, hdf5: the same samples once more, in one file for each "
                  "variant; webdataset: in tar shards")
      ->delimiter(',')
      ->capture_default_str();
  app->add_option("--count", g.count, "number of pictures; with --from the most to take, 0: all")
      ->capture_default_str();
  app->add_option("--classes", g.classes, "class folders")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  app->add_option("--from", o->from, "re-encode the pictures (jpeg, png) below this folder instead")
      ->type_name("DIR");
  app->add_flag("--skip-bad", g.skip_bad, "leave out pictures of --from that cannot be decoded");
  app->add_flag(
      "--repair", g.repair,
      "read every sample file that is there, and make again those that are damaged (of containers: "
      "remove them, and they are packed again)");
  app->add_option("--quality", g.encode.jpeg_quality, "JPEG quality")
      ->capture_default_str()
      ->check(CLI::Range(1, 100));
  app->add_option("--subsampling", o->subsampling, "JPEG chroma subsampling")
      ->capture_default_str()
      ->check(CLI::IsMember({"420", "422", "444"}));
  app->add_option("--png-level", g.encode.png_level, "PNG compression level")
      ->capture_default_str()
      ->check(CLI::Range(0, 9));
  add_seed_option(*app, g.seed, "seed of the pictures");
  app->add_option("--threads", g.threads, "0: one per CPU")
      ->capture_default_str()
      ->check(CLI::Range(0, 1024));
  add_stall_option(*app, o->stall_seconds);
  return {app,
          {},
          session::AsideCommand{[o](session::Aside& aside) { return generate(*o, aside); },
                                "; the same command goes on where it stopped"}};
}

}  // namespace feedrate::cli
