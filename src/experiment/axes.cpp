#include "experiment/axes.h"

#include <charconv>

#include "codec/codec.h"
#include "device/accelerator.h"
#include "experiment/values.h"
#include "measure/error.h"
#include "pipeline/loader.h"
#include "storage/container.h"

namespace feedrate {
namespace {

std::string listed(const Axis& axis) {
  std::string all;
  for (const AxisChoice& choice : axis.choices) all.append(all.empty() ? "" : ", ").append(choice.value);
  return all;
}

[[noreturn]] void refuse(const Axis& axis, const std::string& typed, const std::string& wanted) {
  throw UsageError("--" + std::string(axis.name) + " " + typed, "is not a value of this axis", "use " + wanted);
}

std::string one_of(const Axis& axis, const std::string& typed) {
  for (const AxisChoice& choice : axis.choices) {
    if (choice.value == typed) return typed;
  }
  refuse(axis, typed, listed(axis));
}

constexpr int kMost = 1 << 20;  // workers, GPUs, batches: beyond it sums of them leave an int

std::string whole_number(const Axis& axis, const std::string& typed, int least) {
  int value = 0;
  const auto [end, error] = std::from_chars(typed.data(), typed.data() + typed.size(), value);
  if (error != std::errc{} || end != typed.data() + typed.size() || value < least ||
      value > kMost) {
    refuse(axis, typed, "a whole number from " + std::to_string(least) + " to " + std::to_string(kMost));
  }
  return std::to_string(value);
}
std::string from_zero(const Axis& axis, const std::string& typed) { return whole_number(axis, typed, 0); }
std::string from_one(const Axis& axis, const std::string& typed) { return whole_number(axis, typed, 1); }
std::string auto_or_from_one(const Axis& axis, const std::string& typed) {
  return typed == "auto" ? typed : whole_number(axis, typed, 1);
}

std::string percent(const Axis& axis, const std::string& typed) {
  const std::string value = from_zero(axis, typed);
  if (std::stoi(value) > 100) refuse(axis, typed, "a whole number from 0 to 100");
  return value;
}

std::string size(const Axis& axis, const std::string& typed) {
  try {
    return to_string(pixel_size_from(typed));
  } catch (const UsageError&) {
    refuse(axis, typed, "WxH, or N for NxN");
  }
}
std::string native_or_size(const Axis& axis, const std::string& typed) {
  return typed == "native" ? typed : size(axis, typed);
}
// One spelling of a rate, so that equal cells have equal ids: emulated:500.0 is emulated:500.
std::string device(const Axis& axis, const std::string& typed) {
  if (typed.empty()) refuse(axis, typed, listed(axis));
  const auto [kind, argument] = split_device(typed);
  double rate = 0;
  const auto [end, error] = std::from_chars(argument.data(), argument.data() + argument.size(), rate);
  if (argument.empty() || error != std::errc{} || end != argument.data() + argument.size()) return typed;
  char shortest[32];
  const auto written = std::to_chars(shortest, shortest + sizeof shortest, rate);
  return std::string(kind) + ":" + std::string(shortest, written.ptr);
}

std::vector<AxisChoice> data_choices() {
  std::vector<AxisChoice> all = {
      {"synthetic", "ready, normalised random batches that lie on the device before the run: the ceiling"},
      {"tensor", "precached: transformed once, stored at input-size; read and collated each time"}};
  for (const Format& format : picture_formats()) all.push_back({format.name, format.help});
  return all;
}

std::vector<AxisChoice> loader_choices() {
  std::vector<AxisChoice> all;
  for (const LoaderKind& kind : loader_kinds()) all.push_back({kind.name, kind.help});
  return all;
}

std::vector<AxisChoice> container_choices() {
  std::vector<AxisChoice> all;
  for (const Container& container : containers()) all.push_back({container.name, container.help});
  return all;
}

std::vector<Axis> make_axes() {
  return {
      {"device", "what trains", "cuda",
       {{"cuda", "an NVIDIA GPU, through LibTorch"},
        {"cpu", "really trains, on the CPU"},
        {"emulated:NAME", "takes real batches at a published rate, no GPU (a100, h100, h200, v100 ...)"},
        {"emulated:N", "the same at N images/s"}}, false, device},
      {"gpus", "replicas of the model, each on its own device", "1", {}, true, from_one},
      {"model", "which ResNet", "resnet50",
       {{"resnet18", "11.7 M parameters"}, {"resnet34", "21.8 M"}, {"resnet50", "25.6 M, v1.5"},
        {"resnet101", "44.5 M"}, {"resnet152", "60.2 M"}}, false, one_of},
      {"batch-size", "images per GPU and step", "64", {}, true, from_one},
      {"precision", "of the training step", "fp32",
       {{"fp32", "IEEE single precision"}, {"tf32", "fp32 storage, TF32 products (Ampere and later)"},
        {"fp16", "autocast with loss scaling"}, {"bf16", "autocast"}}, false, one_of},
      {"data", "what the batches are made from", "synthetic", data_choices(), false, one_of},
      {"cache", "what is kept in memory and not done again", "none",
       {{"none", "nothing: every step does everything for every sample"},
        {"encoded", "the files' bytes: decode, augment and collate each time"},
        {"sample", "augmented uint8 samples (whole pictures with augment-on device): collate each time"},
        {"host", "finished batches in host memory: copied to the device each step, workers idle"},
        {"device", "one real batch on the device, normalised each step"}}, false, one_of},
      {"container", "how the samples lie in storage", "files", container_choices(), false, one_of},
      {"image-size", "pixels as stored: WxH, or N for NxN", "224", {}, false, size},
      {"input-size", "pixels that the network sees; native: the stored size itself", "224",
       {{"native", "the image size"}}, false, native_or_size},
      {"tensor-dtype", "element type of precached tensors", "uint8",
       {{"uint8", "pixels, normalised on the device"}, {"fp16", "normalised"}, {"fp32", "normalised"}}, false, one_of},
      {"loader", "how work is shared among workers", "pool", loader_choices(), false, one_of},
      {"workers", "loader threads per GPU; 0: in the training thread", "2", {}, true, from_zero},
      {"prefetch", "batches ready ahead: in all (pool, dali), per worker (batch)", "auto",
       {{"auto", "4 for pool, 2 for batch and dali"}}, true, auto_or_from_one},
      {"in-order", "whether the pool delivers batches in the sampler's order", "off",
       {{"off", "whichever is whole first"}, {"on", "a batch waits for those before it, as PyTorch's in_order"}}, false, one_of},
      {"read-ahead", "whether the storage is told of samples before they are read", "off",
       {{"off", "a worker waits for each read"}, {"on", "each file is announced to the kernel one sample ahead of its reading"}}, false, one_of},
      {"pin-workers", "each loader thread on a CPU of its own", "off",
       {{"off", "the kernel places them"}, {"on", "thread w on CPU w, round and round"}}, false, one_of},
      {"transfer", "what crosses the bus", "auto",
       {{"auto", "the tensors' own dtype; uint8 for pictures"}, {"uint8", "pixels, normalised on the device"},
        {"fp16", "normalised on the host"}, {"fp32", "normalised on the host"}}, false, one_of},
      {"pin-memory", "page-locked slabs, copied asynchronously (cuda)", "on", {{"on", ""}, {"off", ""}}, false, one_of},
      {"augment", "what is done to a picture", "train",
       {{"train", "random-resized-crop and flip, as ImageNet training does"}, {"jitter", "the same, then brightness, contrast and saturation by 0.6 to 1.4 each"},
        {"none", "the whole picture, resized"}},
       false, one_of},
      {"augment-on", "where that is done", "host",
       {{"host", "each picture by a loader worker"},
        {"device", "whole batches by tensor operations (cpu, cuda): whole pictures cross the bus"}}, false, one_of},
      {"decoder", "where JPEGs are decoded", "auto",
       {{"auto", "by the loader's workers"},
        {"nvjpeg", "by the GPU (cuda): encoded pictures cross the bus, and are augmented there; not the same pixels to the last bit"}},
       false, one_of},
      {"jpeg-engine", "percent of a batch that the GPU's JPEG engine decodes, where it has one (decoder nvjpeg)", "100", {}, true, percent},
      {"decode-scale", "whether JPEG windows much larger than the output are decoded smaller", "off",
       {{"off", "every pixel of the window is decoded"},
        {"on", "at 1/2, 1/4 or 1/8 where that is still no smaller than the output; other pixels"}}, false, one_of},
      {"resize-filter", "how pictures are resized", "bilinear",
       {{"bilinear", "four neighbours, not antialiased (as OpenCV INTER_LINEAR)"},
        {"antialias", "a triangle as wide as the reduction asks (as Pillow BILINEAR)"},
        {"area", "mean over the area of each output pixel (OpenCV INTER_AREA)"}}, false, one_of},
      {"on-bad", "what a sample that cannot be read or decoded does", "fail",
       {{"fail", "the cell fails, naming the file"}, {"skip", "the next sample takes its place; counted and flagged"}},
       false, one_of},
      {"page-cache", "the files' state in the kernel's page cache before the run", "as-is",
       {{"as-is", "left alone"}, {"warm", "read once before"}, {"cold", "dropped before; one pass at most"}},
       false, one_of},
      {"memory-format", "of weights and activations (cpu, cuda)", "auto",
       {{"auto", "channels_last"}, {"channels_last", "NHWC: the fastest kernels"}, {"contiguous", "NCHW"}}, false, one_of},
      {"batch-norm", "how batch normalisation runs (cpu, cuda)", "auto",
       {{"auto", "library"},
        {"fused", "with the addition and ReLU behind it, forward and backward (NHWC; this program's kernels)"},
        {"library", "LibTorch's or cuDNN's"}, {"counted", "the same, and counts its batches as PyTorch's module does"}},
       false, one_of},
      {"optimizer", "how SGD runs (cpu, cuda)", "auto",
       {{"auto", "fused"}, {"fused", "all parameters in a few passes"}, {"loop", "one parameter after the other"}}, false, one_of},
      {"master-weights", "fp32 weights beside 16-bit ones, instead of autocast's casting (fp16, bf16)", "auto",
       {{"auto", "on"}, {"on", "cast once a step"}, {"off", "autocast: each layer casts its own"}}, false, one_of},
      {"cudnn-benchmark", "whether cuDNN finds its fastest kernels by trial, in the warm-up (cuda)", "auto",
       {{"auto", "on"}, {"on", ""}, {"off", "its heuristics choose"}}, false, one_of},
      {"cuda-graph", "whether the step is captured in the warm-up and replayed as a whole (cuda)", "auto",
       {{"auto", "off"}, {"on", ""}, {"off", "each kernel is launched by the host"}}, false, one_of},
      {"device-threads", "threads of the training step on the CPU", "auto", {{"auto", "one per CPU"}}, true,
       auto_or_from_one},
  };
}

}  // namespace

std::span<const Axis> axes() {
  static const std::vector<Axis> all = make_axes();
  return all;
}

const Axis& axis_named(std::string_view name) {
  for (const Axis& axis : axes()) {
    if (axis.name == name) return axis;
  }
  throw UsageError(std::string(name), "is no axis", "`feedrate list` shows the axes");
}

}  // namespace feedrate
