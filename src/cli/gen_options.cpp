#include "cli/gen_options.h"

#include "cli/limit_options.h"
#include "cli/quantity.h"
#include "codec/image.h"
#include "storage/dataset.h"

namespace feedrate::cli {

void add_gen_options(CLI::App& command, GenOptions& o) {
  data_gen::GenerateOptions& g = o.generate;
  g.formats = {"tensor", "png", "jpeg"};
  const auto add_list = [&](const char* name, std::vector<std::string>& values, const char* help) {
    return command.add_option(name, values, help)->delimiter(',')->capture_default_str();
  };
  command.add_option("DATA", g.data, "folder to make, or to add to")->required();
  command
      .add_option("--like", o.like,
                  "imagenet: sizes, shapes, JPEG qualities and bytes of ImageNet's pictures")
      ->check(CLI::IsMember({"imagenet"}));
  command
      .add_option("--image-size", o.image_sizes,
                  "pixels as stored: WxH, N for NxN; mixed: each picture's own (--like, --from) "
                  "[224; mixed with --like]")
      ->delimiter(',');
  add_list("--detail", g.details,
           "how much there is to see: lowest, low, medium (photographs), high, highest");
  command
      .add_option("--bytes-per-sample", g.bytes_per_sample,
                  "mean bytes of a JPEG, reached by its quality; 0: by --quality")
      ->capture_default_str();
  add_list("--input-size", o.input_sizes, "pixels of precached tensors, or native");
  add_list("--format", g.formats, "tensor, jpeg, png, png0, bmp, webp, npy, npz, raw");
  add_list("--tensor-dtype", o.tensor_dtypes, "uint8, fp16, fp32 (normalised)");
  add_list("--container", g.containers,
           "files; tar, packed, hdf5: the same samples once more, in one file for each variant; "
           "webdataset: in tar shards");
  command
      .add_option("--count", g.count, "number of pictures; with --from the most to take, 0: all")
      ->capture_default_str();
  add_count(command, "--classes", g.classes, 1, 100000, "class folders");
  command
      .add_option("--from", o.from,
                  "re-encode the pictures (jpeg, png, webp) below this folder instead")
      ->type_name("DIR");
  command.add_flag("--skip-bad", g.skip_bad, "leave out pictures of --from that cannot be decoded");
  command.add_flag(
      "--repair", g.repair,
      "read every sample file that is there, and make again those that are damaged (of containers: "
      "remove them, and they are packed again)");
  add_count(command, "--quality", g.encode.jpeg_quality, 1, 100, "JPEG quality");
  command.add_option("--subsampling", o.subsampling, "JPEG chroma subsampling")
      ->capture_default_str()
      ->check(CLI::IsMember({"420", "422", "444"}));
  add_count(command, "--png-level", g.encode.png_level, 0, 9, "PNG compression level");
  add_seed_option(command, g.seed, "seed of the pictures");
  add_count(command, "--threads", g.threads, 0, 1024, "0: one per CPU");
  add_stall_option(command, o.stall_seconds);
}

data_gen::GenerateOptions to_generate(const GenOptions& o) {
  data_gen::GenerateOptions g = o.generate;
  if (!o.from.empty()) g.from = o.from;
  g.like_imagenet = !o.like.empty();
  std::vector<std::string> image_sizes = o.image_sizes;
  if (image_sizes.empty())
    image_sizes = {g.like_imagenet ? std::string(storage::kMixedSizes) : "224"};
  for (const std::string& size : image_sizes) {
    g.image_sizes.push_back(size == storage::kMixedSizes ? data_gen::kMixedSize
                                                         : codec::pixel_size_from(size));
  }
  const bool native = o.input_sizes.size() == 1 && o.input_sizes.front() == "native";
  for (const std::string& size : o.input_sizes) {
    if (!native) g.input_sizes.push_back(codec::pixel_size_from(size));
  }
  g.tensor_dtypes.clear();
  for (const std::string& dtype : o.tensor_dtypes)
    g.tensor_dtypes.push_back(codec::dtype_from(dtype));
  g.encode.subsampling = o.subsampling;
  return g;
}

}  // namespace feedrate::cli
