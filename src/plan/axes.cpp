#include "plan/axes.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/closest.h"
#include "base/error.h"
#include "base/text.h"
#include "codec/any_picture.h"
#include "codec/codec.h"
#include "codec/decoders.h"
#include "device/default_device.h"
#include "device/host_cost.h"
#include "device/published_rates.h"
#include "device/registry.h"
#include "device/step_option.h"
#include "device/step_trace.h"
#include "measure/affinity.h"
#include "pipeline/loader.h"
#include "plan/cell.h"
#include "plan/settings.h"
#include "storage/container.h"

namespace feedrate::plan {
namespace {

// --- What an axis takes.

[[noreturn]] void refuse(const Axis& axis, const std::string& typed, const std::string& wanted) {
  throw UsageError("--" + std::string(axis.name) + " " + typed, "is not a value of this axis",
                   "use " + wanted);
}

std::string known_values(const Axis& axis) { return listed(axis.values, &AxisValue::value); }

std::string one_of(const Axis& axis, const std::string& typed) {
  for (const AxisValue& value : axis.values) {
    if (value.value == typed) return typed;
  }
  std::vector<std::string> names;
  for (const AxisValue& value : axis.values) names.emplace_back(value.value);
  const std::string meant = did_you_mean(typed, names);
  throw UsageError("--" + std::string(axis.name) + " " + typed,
                   "is not a value of this axis" + (meant.empty() ? "" : ": " + meant),
                   "use " + known_values(axis));
}

constexpr int kMost = 1 << 20;  // workers, GPUs, batches: sums of larger ones would leave an int

// "1,2,4,8" of "1-8", "1..8" or "1:8"; empty where it is no range of such numbers.
std::string list_of_range(std::string_view typed, int least, int most) {
  for (const std::string_view to : {"..", "-", ":"}) {
    const auto at = typed.find(to);
    if (at == std::string_view::npos) continue;
    const auto first = number_from<int>(typed.substr(0, at));
    const auto last = number_from<int>(typed.substr(at + to.size()));
    if (!first || !last || *first < least || *last > most || *first >= *last) continue;
    std::string list = std::to_string(*first);
    for (int value = 1; value < *last; value *= 2)
      if (value > *first) list += "," + std::to_string(value);
    return list + "," + std::to_string(*last);
  }
  return "";
}

std::string whole_number(const Axis& axis, const std::string& typed, int least, int most = kMost) {
  const auto value = number_from<int>(typed);
  if (!value || *value < least || *value > most) {
    if (const std::string list = list_of_range(typed, least, most); !list.empty())
      refuse(axis, typed,
             "one number, or for `sweep` a list: --" + std::string(axis.name) + " " + list);
    refuse(axis, typed,
           "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return std::to_string(*value);
}
std::string from_zero(const Axis& axis, const std::string& typed) {
  return whole_number(axis, typed, 0);
}
std::string from_one(const Axis& axis, const std::string& typed) {
  return whole_number(axis, typed, 1);
}
std::string queue_depth(const Axis& axis, const std::string& typed) {
  return whole_number(axis, typed, 1, 1024);
}
std::string auto_or_from_one(const Axis& axis, const std::string& typed) {
  return typed == "auto" ? typed : whole_number(axis, typed, 1);
}
std::string percentage(const Axis& axis, const std::string& typed) {
  return whole_number(axis, typed, 0, 100);
}

// One spelling of it: 1.50 is 1.5.
std::string shortest(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

// `others`: what the axis takes beside.
std::string milliseconds_or(const std::string& others, const Axis& axis, const std::string& typed) {
  constexpr double kLongest = 1e6;
  const auto value = number_from<double>(typed);
  if (!value || !(*value >= 0 && *value <= kLongest))
    refuse(axis, typed, "milliseconds, such as 2.5" + others);
  return shortest(*value);
}
std::string milliseconds(const Axis& axis, const std::string& typed) {
  return milliseconds_or("", axis, typed);
}
// A name stands for its number, so that both are the same cell.
std::string host_cpu_ms(const Axis& axis, const std::string& typed) {
  if (typed == "auto") return typed;
  if (typed == "graph") return shortest(device::kGraphStepCpuMs);
  if (typed == "eager") return shortest(device::kEagerStepCpuMs);
  return milliseconds_or(", or graph, eager, auto", axis, typed);
}

std::string size(const Axis& axis, const std::string& typed) {
  try {
    return codec::to_string(codec::pixel_size_from(typed));
  } catch (const UsageError& error) {
    // "TYPED: is not ...; use ..."
    throw UsageError("--" + std::string(axis.name) + " " + typed,
                     std::string(error.what()).substr(typed.size() + 2));
  }
}
std::string mixed_or_size(const Axis& axis, const std::string& typed) {
  return typed == storage::kMixedSizes ? typed : size(axis, typed);
}
std::string native_or_size(const Axis& axis, const std::string& typed) {
  return typed == "native" ? typed : size(axis, typed);
}

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  for (char& c : small)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return small;
}

// Who names a GPU most often means the one that is here, or its published rate.
void refuse_name_of_gpu(const std::string& typed, const std::string& name) {
  const auto rates = device::published_rates();
  const bool has_rate = std::ranges::find(rates, name, &device::PublishedRate::name) != rates.end();
  if (!has_rate && name != "gpu") return;
  throw UsageError(
      "--device " + typed,
      name == "gpu" ? "is called cuda here" : "a GPU is not chosen by a name of its own",
      "use cuda, or emulated:" + (has_rate ? name : "a100") +
          ", which takes batches at a published rate");
}

// One spelling of a name and of a rate, so that equal cells have equal ids: emulated:A100 is
// emulated:a100, emulated:500.0 is emulated:500.
std::string device(const Axis& axis, const std::string& typed) {
  if (typed.empty()) refuse(axis, typed, known_values(axis));
  if (typed == "auto") return device::default_device().name;
  const std::string small = in_small_letters(typed);
  const auto [kind, argument] = device::split_device(small);
  if (kind == "emulated" && device::is_trace(argument)) {
    const std::string_view file = std::string_view(typed).substr(small.find('=') + 1);
    return "emulated:" + device::with_content("trace=" + std::string(file));
  }
  refuse_name_of_gpu(typed, small);
  if (small == "auto") return typed;  // not known: nobody would say what it stands for
  const auto rate = number_from<double>(argument);
  return rate ? std::string(kind) + ":" + shortest(*rate) : small;
}
// What a trace holds tells cells apart, not where it lies, which is nobody else's business.
std::string recorded_device(const std::string& value) {
  const auto [kind, argument] = device::split_device(value);
  if (kind != "emulated" || !device::is_trace(argument)) return value;
  const std::string content = device::trace_name_from(argument).xxh3;
  return content.empty() ? value : "emulated:trace=" + content;
}

std::vector<AxisValue> data_values() {
  std::vector<AxisValue> all = {{"synthetic",
                                 "ready, normalised batches that lie on the device before the "
                                 "run: the ceiling"},
                                {"tensor",
                                 "precached: transformed once, stored at input-size; read and "
                                 "collated each time"}};
  for (const codec::Format& format : codec::picture_formats())
    all.push_back({format.name, format.help});
  all.push_back({codec::kAnyPicture, codec::any_picture_format().help});
  return all;
}

std::vector<AxisValue> detail_values() {
  std::vector<AxisValue> all;
  for (const std::string_view detail : storage::kDetails) all.push_back({detail, ""});
  all[2].help = "as in photographs";
  return all;
}

template <typename Rows>
std::vector<AxisValue> values_of(const Rows& rows) {
  std::vector<AxisValue> all;
  for (const auto& row : rows) all.push_back({row.name, row.help});
  return all;
}

// --- Which cells an axis concerns. A cell has every axis, as typed.

std::string_view device_kind(const Cell& cell) {
  return device::split_device(*cell["device"]).first;
}
bool trains(const Cell& cell) { return device_kind(cell) == "cpu" || device_kind(cell) == "cuda"; }
bool on_cpu(const Cell& cell) { return device_kind(cell) == "cpu"; }
bool on_cuda(const Cell& cell) { return device_kind(cell) == "cuda"; }
bool not_emulated(const Cell& cell) { return device_kind(cell) != "emulated"; }
bool is_emulated(const Cell& cell) { return !not_emulated(cell); }
bool in_16_bits(const Cell& cell) {
  const bool is_auto = on_cuda(cell) && cell.is("precision", "auto");
  return trains(cell) && (cell.is("precision", "fp16") || cell.is("precision", "bf16") || is_auto);
}

bool is_tensor(const Cell& cell) { return cell.is("data", "tensor"); }
bool is_picture(const Cell& cell) { return !is_tensor(cell); }
bool is_jpeg(const Cell& cell) { return cell.is("data", "jpeg"); }
bool by_nvjpeg(const Cell& cell) { return is_jpeg(cell) && cell.is("decoder", "nvjpeg"); }
bool is_decoded(const Cell& cell) { return is_picture(cell) && !cell.is("decoder", "raw-read"); }
bool is_masked(const Cell& cell) {
  return is_decoded(cell) &&
         pipeline::mask_colour_from(*cell["augment"]) != pipeline::MaskColour::none;
}
bool is_resized(const Cell& cell) { return is_decoded(cell) && !is_masked(cell); }

// With a cache of batches a cell needs no workers; with any cache it does not read the storage.
bool has_loader(const Cell& cell) {
  return !cell.is("cache", "host") && !cell.is("cache", "device");
}
bool reads_storage(const Cell& cell) {
  return cell.is("cache", "none") || cell.is("cache", "discard");
}
bool has_workers(const Cell& cell) { return has_loader(cell) && !cell.is("workers", "0"); }
// DALI places its threads itself and needs one at least: 0 workers are refused.
bool by_dali(const Cell& cell) { return has_loader(cell) && cell.is("loader", "dali"); }
bool has_loader_kind(const Cell& cell) { return has_workers(cell) || by_dali(cell); }
bool by_pool(const Cell& cell) { return has_workers(cell) && cell.is("loader", "pool"); }
bool places_workers(const Cell& cell) { return has_workers(cell) && !by_dali(cell); }
bool by_engine(const Cell& cell) {
  return reads_storage(cell) && !by_dali(cell) &&
         storage::find_container(*cell["container"])->takes_engines;
}
bool reads_through_page_cache(const Cell& cell) {
  return reads_storage(cell) &&
         !(by_engine(cell) && storage::find_io_engine(*cell["io"]).past_page_cache);
}
bool copies_batches(const Cell& cell) { return on_cuda(cell) && !cell.is("cache", "device"); }
// Not whole pictures, for the device, for a cache of them or by a library, nor windows that are not
// resized.
bool decodes_windows(const Cell& cell) {
  const bool may_be_jpeg = is_jpeg(cell) || cell.is("data", codec::kAnyPicture);
  return may_be_jpeg && is_resized(cell) && !by_dali(cell) && cell.is("decoder", "auto") &&
         !cell.is("augment-on", "device") && !cell.is("cache", "decoded");
}

// --- What a value stands for.

// A crop that is not resized cannot be larger than the picture. Of pictures of many sizes, the one
// that is too small is named when it comes.
void check_crop_fits(const std::string& input, const Cell& cell) {
  if (!is_masked(cell) || cell.is("data", "synthetic")) return;
  const std::string& stored = *cell["image-size"];
  if (stored == storage::kMixedSizes) return;
  const codec::PixelSize from = codec::pixel_size_from(stored), to = codec::pixel_size_from(input);
  if (to.width <= from.width && to.height <= from.height) return;
  throw UsageError("--input-size " + input,
                   "is larger than the pictures (" + stored + "), and --augment " +
                       *cell["augment"] + " does not resize",
                   "use --input-size native, or a larger --image-size");
}
std::string input_size(const std::string& value, const Cell& cell) {
  if (value != "native") {
    check_crop_fits(value, cell);
    return value;
  }
  if (is_picture(cell) && cell.is("image-size", storage::kMixedSizes)) {
    throw UsageError("--input-size native", "the pictures have many sizes",
                     "say which one the network sees: --input-size 224");
  }
  return *cell["image-size"];
}
std::string prefetch(const std::string& value, const Cell& cell) {
  return value != "auto" ? value : cell.is("loader", "pool") ? "4" : "2";
}
std::string transfer(const std::string& value, const Cell& cell) {
  return value != "auto" ? value : is_tensor(cell) ? *cell["tensor-dtype"] : "uint8";
}
// The GPU decodes whole pictures, which it then augments.
std::string augment_on(const std::string& value, const Cell& cell) {
  return by_nvjpeg(cell) ? "device" : value;
}
// nvJPEG knows JPEGs alone, and a library its own formats.
std::string decoder(const std::string& value, const Cell& cell) {
  if (value == "nvjpeg")
    return is_jpeg(cell) || cell.is("data", codec::kAnyPicture) ? value : "auto";
  const codec::Format* format = codec::find_picture_format(*cell["data"]);
  const codec::DecoderKind kind = codec::decoder_kind_from(value);
  return format && !codec::decodes(kind, *format) ? "auto" : value;
}
// A step on a CPU, which trains a few images/s with each core, then takes about as long whatever
// the machine is. Of one image, batch normalisation may have one value per channel.
std::string batch_size(const std::string& value, const Cell& cell) {
  constexpr int kUsual = 64, kLeast = 2, kOfAGpu = 256;
  if (value != "auto") return value;
  return std::to_string(on_cpu(cell)    ? std::clamp(measure::allowed_cpus(), kLeast, kUsual)
                        : on_cuda(cell) ? kOfAGpu
                                        : kUsual);
}
std::string device_threads(const std::string& value, const Cell&) {
  return value == "auto" ? std::to_string(measure::allowed_cpus()) : value;
}
// For an axis whose `auto` stands for its usual value, but on a GPU.
template <const char* Usual>
std::string usual_for_auto(const std::string& value, const Cell& cell) {
  return value == "auto" && !on_cuda(cell) ? Usual : value;
}
// The same, on a GPU as well.
template <const char* Usual>
std::string always_usual_for_auto(const std::string& value, const Cell&) {
  return value == "auto" ? Usual : value;
}
constexpr char kOn[] = "on", kOff[] = "off", kFp32[] = "fp32", kLibrary[] = "library",
               kFused[] = "fused", kConvolution[] = "convolution", kNodes[] = "nodes";
constexpr char kChannelsLast[] = "channels_last";

// --- Typed fields.

template <auto Member>
void text(CellSettings& settings, const std::string& value) {
  settings.*Member = value;
}
template <auto Member>
void number(CellSettings& settings, const std::string& value) {
  settings.*Member = std::stoi(value);
}
template <auto Member>
void pixels(CellSettings& settings, const std::string& value) {
  settings.*Member = codec::pixel_size_from(value);
}
template <auto Member>
void dtype(CellSettings& settings, const std::string& value) {
  settings.*Member = codec::dtype_from(value);
}
template <auto Member>
void on_off(CellSettings& settings, const std::string& value) {
  settings.*Member = value == "on";
}
void set_device(CellSettings& settings, const std::string& value) {
  const auto [kind, argument] = device::split_device(value);
  settings.device = value, settings.device_kind = kind, settings.device_argument = argument;
}

// --- Labels.

AxisLabel first(int position, std::string (*words)(std::string_view, const Cell&)) {
  return {.position = position, .words = words, .always = true};
}
std::string itself(std::string_view value, const Cell&) { return std::string(value); }
std::string after_space(std::string_view value, const Cell&) { return " " + std::string(value); }
std::string workers_words(std::string_view value, const Cell&) {
  return ", " + std::string(value) + (value == "1" ? " worker" : " workers");
}
std::string gpus_words(std::string_view value, const Cell& cell) {
  return ", " + std::string(value) + (on_cpu(cell) ? " ranks" : " GPUs");
}
std::string input_words(std::string_view value, const Cell&) {
  return ", input " + std::string(value);
}
std::string synthetic_words(std::string_view value, const Cell& cell) {
  return (cell.is("data", "synthetic") ? ", " : ", ceiling of ") + std::string(value);
}
std::string emulated_words(std::string_view, const Cell& cell) {
  return not_emulated(cell) ? "" : ", EMULATED";
}
// What is read comes first, then what differs from the usual, then what trains.
constexpr int kDetail = 10, kStep = 20, kTrains = 30;
const AxisLabel kWhereUnusual = {.position = kDetail}, kStepOption = {.position = kStep};

// --- Combinations that are refused.

std::vector<Refusal> dali_refusals() {
  return {
      {"dali", {{"workers", {"0"}}}, "DALI loads in threads of its own", "use --workers 1"},
      {"dali", {{"data", {"tensor"}}}, "there is nothing to decode", "use --loader pool"},
      {"dali",
       {{"cache", {"decoded", "sample"}}},
       "there is nothing to decode",
       "use --cache none or encoded"},
      {"dali",
       {{"augment", {"jitter"}}},
       "its colours are not those of the other loaders",
       "use --augment train"},
      {"dali",
       {{"augment", {"mask-color", "mask-color-crop-last"}}},
       "it does not draw such masks",
       "use --augment train"},
      {"dali", {{"on-bad", {"skip"}}}, "a bad sample fails its whole batch", "use --on-bad fail"},
      {"dali",
       {{"resize-filter", {"area"}}},
       "it has no such filter",
       "use --resize-filter bilinear or antialias"},
      {"dali",
       {{"data", {"jpeg", "png", "png0", "bmp"}, false}},
       "it does not know the format",
       "use --data jpeg, png, png0 or bmp"}};
}

// The device augments whole pictures as a host worker would. With --decoder nvjpeg it always does,
// and the refusals of that axis apply instead.
std::vector<Refusal> augment_on_device_refusals() {
  const Condition typed{"decoder", {"nvjpeg"}, false};
  return {
      {"device",
       {{"device", {"emulated"}}, typed},
       "it computes nothing",
       "use --device cpu or cuda, or --augment-on host"},
      {"device",
       {{"resize-filter", {"area"}}, typed},
       "the device has no such filter",
       "use --resize-filter antialias or bilinear"},
      {"device",
       {{"transfer", {"uint8"}, false}, typed},
       "the device takes pixels",
       "use --transfer uint8"},
      {"device", {{"loader", {"dali"}}, typed}, "DALI crops itself", "use --loader pool or batch"}};
}

// Pictures that nvJPEG does not know are decoded by the workers, whatever the axis says.
std::vector<Refusal> nvjpeg_refusals() {
  std::vector<Refusal> all = {
      {"nvjpeg", {{"device", {"cuda"}, false}}, "it decodes on an NVIDIA GPU", "use --device cuda"},
      {"nvjpeg", {{"loader", {"dali"}}}, "DALI decodes itself", "use --loader pool or batch"},
      {"nvjpeg",
       {{"cache", {"decoded", "sample"}}},
       "there are no decoded samples on the host",
       "use --cache none or encoded"},
      {"nvjpeg",
       {{"cache", {"device"}}},
       "the batch that is kept is one of pixels",
       "use --cache none, encoded or host"},
      {"nvjpeg", {{"on-bad", {"skip"}}}, "a bad sample fails its whole batch", "use --on-bad fail"},
      {"nvjpeg",
       {{"resize-filter", {"area"}}},
       "the GPU has no such filter",
       "use --resize-filter antialias or bilinear"},
      {"nvjpeg",
       {{"transfer", {"uint8"}, false}},
       "the GPU takes encoded pictures",
       "use --transfer uint8"}};
  for (Refusal& refusal : all) refusal.with.push_back({"data", {"jpeg"}});
  return all;
}

std::vector<Refusal> decoder_refusals() {
  std::vector<Refusal> all = nvjpeg_refusals();
  all.push_back({"raw-read",
                 {{"device", {"cpu", "cuda"}}},
                 "there is nothing to train with",
                 "use --device emulated:N"});
  all.push_back({"raw-read",
                 {{"cache", {"none"}, false}},
                 "it is about reading, which a cache spares",
                 "use --cache none"});
  for (const std::string_view value : {"raw-read", "library", "opencv"}) {
    all.push_back(
        {value, {{"loader", {"dali"}}}, "DALI decodes itself", "use --loader pool or batch"});
  }
  return all;
}

// The steps of `discard` are those of the ceiling, in a thread that loads nothing.
std::vector<Refusal> cache_refusals() {
  return {{"decoded",
           {{"data", {"tensor"}}},
           "there is nothing to decode",
           "use --cache none, encoded or sample"},
          {"discard",
           {{"workers", {"0"}}},
           "no thread loads beside the training thread",
           "use --workers 1"},
          {"discard",
           {{"page-cache", {"cold"}}},
           "a cold pass ends, and the steps go on without it",
           "use --page-cache warm or as-is, or --io direct"},
          {"discard",
           {{"decoder", {"nvjpeg"}}},
           "the GPU decodes no batch that is thrown away",
           "use --decoder auto"},
          {"discard",
           {{"augment-on", {"device"}}},
           "the device augments no batch that is thrown away",
           "use --augment-on host"}};
}

std::vector<Refusal> tensor_dtype_refusals() {
  std::vector<Refusal> all;
  for (const std::string_view stored : {"fp16", "fp32"}) {
    all.push_back({stored,
                   {{"transfer", {stored}, false}},
                   "the tensors are stored normalised in their own type",
                   "use --transfer auto, or --tensor-dtype uint8"});
  }
  return all;
}

// --- The rows, in canonical order.

using S = CellSettings;
using Axes = std::vector<Axis>;

Axes device_axes() {
  return {
      {.name = "device",
       .help = "what trains",
       .fallback = "auto",
       .values = {{"auto", "a GPU where one is, else emulated:a100"},
                  {"cuda", "an NVIDIA GPU, through LibTorch"},
                  {"cpu", "really trains, on the CPU"},
                  {"emulated:NAME",
                   "takes real batches at a published rate, no GPU (a100, h100, h200, v100 ...; "
                   "`feedrate list` says whose rates they are)"},
                  {"emulated:N", "the same at N images/s"},
                  {"emulated:trace=FILE", "the same at the steps that --record-steps wrote"}},
       .canonical = device,
       .ceiling = true,
       .recorded = recorded_device,
       .set = set_device,
       .label = first(kTrains + 2, emulated_words)},
      {.name = "gpus",
       .help = "replicas of the model, each on its own device",
       .fallback = "1",
       .canonical = from_one,
       .number = true,
       .ceiling = true,
       .usual = "1",
       .set = number<&S::gpus>,
       .label = {.position = kTrains, .words = gpus_words}},
      {.name = "model",
       .help = "which ResNet",
       .fallback = "resnet50",
       .values = {{"resnet18", "11.7 M parameters"},
                  {"resnet34", "21.8 M"},
                  {"resnet50", "25.6 M, v1.5"},
                  {"resnet101", "44.5 M"},
                  {"resnet152", "60.2 M"}},
       .canonical = one_of,
       .ceiling = true,
       .set = text<&S::model>},
      {.name = "batch-size",
       .help = "images per GPU and step",
       .fallback = "auto",
       .values = {{"N", "images"},
                  {"auto", "64; on cuda 256; on a cpu as many as it has cores, from 2 to 64"}},
       .canonical = auto_or_from_one,
       .number = true,
       .ceiling = true,
       .resolved = batch_size,
       .set = number<&S::batch_size>},
      {.name = "precision",
       .help = "number format of the training step",
       .fallback = "auto",
       .values = {{"auto",
                   "fp32; on cuda mixed precision: bf16 where the GPU has it, fp16 where it has "
                   "none or that proves right and faster (--qualify)"},
                  {"fp32", "IEEE single precision"},
                  {"tf32", "fp32 storage, TF32 products (Ampere and later)"},
                  {"fp16", "autocast with loss scaling"},
                  {"bf16", "autocast"}},
       .canonical = one_of,
       .ceiling = true,
       .applies = not_emulated,
       .resolved = usual_for_auto<kFp32>,
       .set = text<&S::precision>},
      {.name = "host-cpu-ms",
       .help = "CPU time that an emulated step burns on the host, as launching its kernels does",
       .fallback = "auto",
       .values = {{"MS", "milliseconds, no more than the step takes"},
                  {"graph", "0.8: feedrate's step as a CUDA graph, measured on an H200"},
                  {"eager",
                   "55: the same step launched kernel by kernel, whose thread was probably blocked "
                   "in the driver: an upper bound"},
                  {"auto", "as the trace says, else none"}},
       .canonical = host_cpu_ms,
       .ceiling = true,
       .applies = is_emulated,
       .usual = "auto",
       .set =
           [](S& s, const std::string& v) {
             s.emulation.host_cpu_ms = v == "auto" ? -1 : std::stod(v);
           },
       .label = kStepOption},
      {.name = "all-reduce-ms",
       .help = "time that averaging the gradients adds to each emulated step, with several GPUs",
       .fallback = "0",
       .canonical = milliseconds,
       .ceiling = true,
       .applies = is_emulated,
       .usual = "0",
       .set = [](S& s, const std::string& v) { s.emulation.all_reduce_ms = std::stod(v); },
       .label = kStepOption},
  };
}

Axes data_axes() {
  return {
      {.name = "data",
       .help = "what the batches are made from",
       .fallback = "synthetic",
       .values = data_values(),
       .canonical = one_of,
       .set = text<&S::data>,
       .label = first(0, itself)},
      {.name = "cache",
       .help = "what is kept in memory and not done again",
       .fallback = "none",
       .values =
           {{"none", "nothing: every step does everything for every sample"},
            {"discard",
             "nothing, but batches are thrown away beside the steps, which train on synthetic "
             "ones: what the loaders' work costs the steps"},
            {"encoded", "the files' bytes: decode, augment and collate each time"},
            {"decoded",
             "decoded pictures, uint8 pixels at their stored size: augment and collate each "
             "time"},
            {"sample",
             "augmented uint8 samples (whole pictures with augment-on device): collate each "
             "time"},
            {"host",
             "finished batches in host memory: copied to the device each step, workers idle"},
            {"device", "one real batch on the device, normalised each step"}},
       .canonical = one_of,
       .usual = "none",
       .set = text<&S::cache>,
       .label = {.position = 3},
       .refusals = cache_refusals()},
      {.name = "container",
       .help = "how the samples lie in storage",
       .fallback = "files",
       .values = values_of(storage::containers()),
       .canonical = one_of,
       .applies = reads_storage,
       .usual = "files",
       .set = text<&S::container>,
       .label = kWhereUnusual},
      {.name = "image-size",
       .help = "pixels as stored",
       .fallback = "224",
       .values = {{"WxH", "width and height"},
                  {"N", "NxN"},
                  {storage::kMixedSizes,
                   "of many sizes, as a folder of your own pictures has them"}},
       .canonical = mixed_or_size,
       .pixels = true,
       .applies = is_picture,
       .set =
           [](S& s, const std::string& v) {
             s.mixed_sizes = v == storage::kMixedSizes;
             if (!s.mixed_sizes) s.image_size = codec::pixel_size_from(v);
           },
       .label = first(2, after_space),
       .refusals = {{storage::kMixedSizes,
                     {{"augment-on", {"device"}}},
                     "the device takes pictures of one size",
                     "use --augment-on host"},
                    {storage::kMixedSizes,
                     {{"decoder", {"nvjpeg"}}},
                     "the device takes pictures of one size",
                     "use --decoder auto"}}},
      {.name = "detail",
       .help = "how much there is to see in generated pictures",
       .fallback = "medium",
       .values = detail_values(),
       .canonical = one_of,
       .applies = is_picture,
       .usual = "medium",
       .set = text<&S::detail>,
       .label = kWhereUnusual},
      {.name = "input-size",
       .help = "pixels that the network sees",
       .fallback = "224",
       .values = {{"WxH", "width and height"}, {"N", "NxN"}, {"native", "the stored size"}},
       .canonical = native_or_size,
       .pixels = true,
       .ceiling = true,
       .resolved = input_size,
       .set = pixels<&S::input_size>,
       .label = first(kTrains + 1, input_words)},
      {.name = "tensor-dtype",
       .help = "element type of precached tensors",
       .fallback = "uint8",
       .values = {{"uint8", "pixels, normalised on the device"},
                  {"fp16", "normalised"},
                  {"fp32", "normalised"}},
       .canonical = one_of,
       .applies = is_tensor,
       .set = dtype<&S::tensor_dtype>,
       .label = first(1, after_space),
       .refusals = tensor_dtype_refusals()},
      {.name = "synthetic",
       .help = "what the ready batches of the ceiling show (cpu, cuda)",
       .fallback = "pictures",
       .values = {{"pictures", "such as `gen` draws"}, {"noise", "normally distributed values"}},
       .canonical = one_of,
       .ceiling = true,
       .applies = trains,
       .usual = "pictures",
       .set = [](S& s, const std::string& v) { s.pictures = v == "pictures"; },
       .label = {.position = kStep, .words = synthetic_words}},
  };
}

Axes loader_axes() {
  return {
      {.name = "loader",
       .help = "how work is shared among workers",
       .fallback = "pool",
       .values = values_of(pipeline::loader_kinds()),
       .canonical = one_of,
       .applies = has_loader_kind,
       .usual = "pool",
       .set = text<&S::loader>,
       .label = kWhereUnusual,
       .refusals = dali_refusals()},
      {.name = "workers",
       .help = "loader threads per GPU; 0: in the training thread",
       .fallback = "2",
       .canonical = from_zero,
       .number = true,
       .applies = has_loader,
       .set = number<&S::workers>,
       .label = first(4, workers_words)},
      {.name = "prefetch",
       .help = "batches ready ahead, in all (pool, dali) or per worker (batch)",
       .fallback = "auto",
       .values = {{"N", "batches"}, {"auto", "4 for pool, 2 for batch and dali"}},
       .canonical = auto_or_from_one,
       .number = true,
       .applies = has_workers,
       .resolved = prefetch,
       .set = number<&S::prefetch>},
      {.name = "order",
       .help = "in which order an epoch goes through the samples",
       .fallback = "shuffled",
       .values = {{"shuffled", "every sample anywhere, as training usually does"},
                  {"sequential", "as they are stored"},
                  {"by-shard", "packed files in random order, each from beginning to end"}},
       .canonical = one_of,
       .applies = reads_storage,
       .usual = "shuffled",
       .set =
           [](S& s, const std::string& v) {
             s.order = v == "sequential" ? pipeline::Order::sequential
                       : v == "by-shard" ? pipeline::Order::by_shard
                                         : pipeline::Order::shuffled;
           },
       .label = kWhereUnusual},
      {.name = "in-order",
       .help = "whether the pool delivers batches in the sampler's order",
       .fallback = "off",
       .values = {{"off", "whichever is whole first"},
                  {"on", "a batch waits for those before it, as PyTorch's in_order"}},
       .canonical = one_of,
       .applies = by_pool,
       .usual = "off",
       .set = on_off<&S::in_order>,
       .label = kWhereUnusual},
      {.name = "pin-workers",
       .help = "each loader thread on a CPU of its own",
       .fallback = "off",
       .values = {{"off", "the kernel places them"}, {"on", "thread w on CPU w, round and round"}},
       .canonical = one_of,
       .applies = places_workers,
       .usual = "off",
       .set = on_off<&S::pin_workers>,
       .label = kWhereUnusual},
  };
}

Axes transfer_axes() {
  return {
      {.name = "transfer",
       .help = "what crosses the bus",
       .fallback = "auto",
       .values = {{"auto", "the tensors' own dtype; uint8 for pictures"},
                  {"uint8", "pixels, normalised on the device"},
                  {"fp16", "normalised on the host"},
                  {"fp32", "normalised on the host"}},
       .canonical = one_of,
       .resolved = transfer,
       .set = dtype<&S::transfer>},
      {.name = "pin-memory",
       .help = "page-locked slabs, copied asynchronously (cuda)",
       .fallback = "on",
       .values = {{"on", ""}, {"off", ""}},
       .canonical = one_of,
       .applies = copies_batches,
       .usual = "on",
       .set = on_off<&S::pin_memory>,
       .label = kWhereUnusual},
  };
}

Axes augment_axes() {
  return {
      {.name = "augment",
       .help = "what is done to a picture",
       .fallback = "train",
       .values = {{"train", "random-resized-crop and flip, as ImageNet training does"},
                  {"jitter",
                   "the same, then brightness, contrast and saturation by 0.6 to 1.4 each"},
                  {"none", "the whole picture, resized"},
                  {"mask-color",
                   "a random crop that is not resized, a random mask, a colour matrix; / 255 alone "
                   "normalises"},
                  {"mask-color-crop-last",
                   "the same, but the whole picture is masked and coloured before it is cropped"}},
       .canonical = one_of,
       .applies = is_decoded,
       .usual = "train",
       .set =
           [](S& s, const std::string& v) {
             s.augment = {v != "none", v == "jitter", pipeline::mask_colour_from(v)};
           },
       .label = kWhereUnusual},
      {.name = "augment-on",
       .help = "where pictures are augmented",
       .fallback = "host",
       .values = {{"host", "each picture by a loader worker"},
                  {"device",
                   "whole batches in the step (cpu, cuda): whole pictures cross the bus"}},
       .canonical = one_of,
       .applies = is_decoded,
       .resolved = augment_on,
       .usual = "host",
       .set = [](S& s, const std::string& v) { s.augment_on_device = v == "device"; },
       .label = kWhereUnusual,
       .refusals = augment_on_device_refusals()},
  };
}

Axes decode_axes() {
  return {
      {.name = "decoder",
       .help = "where pictures are decoded",
       .fallback = "auto",
       .values = {{"auto",
                   "by the loader's workers: common JPEGs and PNGs by feedrate's own decoders, no "
                   "more of them than the crop needs"},
                  {"library",
                   "by the workers, whole pictures: JPEGs by libjpeg-turbo, as torchvision's "
                   "decode_image; PNGs by libspng (others: auto)"},
                  {"opencv",
                   "by the workers, whole pictures: JPEGs, PNGs and BMPs by OpenCV's imdecode, "
                   "from BGR to RGB (others: auto)"},
                  {"raw-read",
                   "nowhere: files are read and thrown away (emulated), so that the CPUs do not "
                   "hide the storage"},
                  {"nvjpeg",
                   "JPEGs by the GPU (cuda): encoded pictures cross the bus, and are augmented "
                   "there; not the same pixels to the last bit"}},
       .canonical = one_of,
       .applies = is_picture,
       .resolved = decoder,
       .usual = "auto",
       .set =
           [](S& s, const std::string& v) {
             s.decode_on_device = v == "nvjpeg", s.raw_read = v == "raw-read";
             s.decoder = codec::decoder_kind_from(v);
           },
       .label = kWhereUnusual,
       .refusals = decoder_refusals()},
      {.name = "jpeg-engine",
       .help = "percent of a batch that the GPU's JPEG engine decodes, where it has one (decoder "
               "nvjpeg)",
       .fallback = "100",
       .canonical = percentage,
       .number = true,
       .applies = by_nvjpeg,
       .usual = "100",
       .set = number<&S::engine_share>,
       .label = kWhereUnusual},
      {.name = "decode-scale",
       .help = "whether JPEG windows much larger than the output are decoded smaller",
       .fallback = "off",
       .values = {{"off", "every pixel of the window is decoded"},
                  {"on",
                   "decode at 1/2, 1/4 or 1/8 of the size, if that is at least the output; other "
                   "pixels"}},
       .canonical = one_of,
       .applies = decodes_windows,
       .usual = "off",
       .set = on_off<&S::decode_scale>,
       .label = kWhereUnusual},
      {.name = "resize-filter",
       .help = "how pictures are resized",
       .fallback = "antialias",
       .values = {{"antialias",
                   "a triangle as wide as the reduction asks (as torchvision, Pillow BILINEAR)"},
                  {"bilinear", "four neighbours, not antialiased (as OpenCV INTER_LINEAR)"},
                  {"area", "mean over the area of each output pixel (OpenCV INTER_AREA)"}},
       .canonical = one_of,
       .applies = is_resized,
       .usual = "antialias",
       .set = [](S& s, const std::string& v) { s.filter = pipeline::resize_filter_from(v); },
       .label = kWhereUnusual},
  };
}

Axes file_axes() {
  return {
      {.name = "io",
       .help = "how files are read",
       .fallback = "buffered",
       .values = values_of(storage::io_engines()),
       .canonical = one_of,
       .applies = by_engine,
       .usual = "buffered",
       .set = text<&S::io>,
       .label = kWhereUnusual,
       .refusals = {{"direct",
                     {{"io-depth", {"1"}, false}},
                     "a thread reads one file at a time with it",
                     "use --io uring-direct"}}},
      {.name = "io-depth",
       .help = "files that a worker has on their way at once",
       .fallback = "1",
       .canonical = queue_depth,
       .number = true,
       .applies = by_engine,
       .usual = "1",
       .set = number<&S::io_depth>,
       .label = kWhereUnusual},
      {.name = "on-bad",
       .help = "what a sample that cannot be read or decoded does",
       .fallback = "fail",
       .values = {{"fail", "the cell fails, naming the file"},
                  {"skip", "the next sample replaces it; counted and flagged"}},
       .canonical = one_of,
       .usual = "fail",
       .set = [](S& s, const std::string& v) { s.skip_bad = v == "skip"; },
       .label = kWhereUnusual},
      {.name = "page-cache",
       .help = "the files' state in the kernel's page cache before the run",
       .fallback = "auto",
       .values = {{"auto", "warm where the files fit into memory, else as-is"},
                  {"as-is", "left alone"},
                  {"warm", "read once before"},
                  {"cold", "dropped before; one pass at most"}},
       .canonical = one_of,
       .applies = reads_through_page_cache,
       .usual = "auto",
       .set = text<&S::page_cache>,
       .label = kWhereUnusual},
  };
}

// A text as an argument of a template.
template <std::size_t N>
struct AxisName {
  constexpr AxisName(const char (&name)[N]) { std::copy_n(name, N, text); }
  char text[N];
};

template <AxisName axis>
void step_option(S& settings, const std::string& value) {
  device::step_option(axis.text).set(settings.step, value);
}

Axes step_axes() {
  return {
      {.name = "memory-format",
       .help = "memory layout of weights and activations (cpu, cuda)",
       .fallback = "auto",
       .values = {{"auto", "channels_last; on cuda what proves right and fastest (--qualify)"},
                  {"channels_last", "NHWC: the fastest kernels"},
                  {"contiguous", "NCHW"}},
       .canonical = one_of,
       .ceiling = true,
       .applies = trains,
       .resolved = usual_for_auto<kChannelsLast>,
       .usual = kChannelsLast,
       .open = true,
       .set = step_option<"memory-format">,
       .label = kStepOption},
      {.name = "batch-norm",
       .help = "how batch normalisation runs (cpu, cuda)",
       .fallback = "auto",
       .values = {{"auto", "library; on cuda what proves right and fastest (--qualify)"},
                  {"fused",
                   "with the addition, ReLU and max pooling behind it, forward and backward (cuda, "
                   "NHWC; this program's kernels)"},
                  {"library", "LibTorch's or cuDNN's"},
                  {"counted", "the same, and counts its batches as PyTorch's module does"}},
       .canonical = one_of,
       .ceiling = true,
       .applies = trains,
       .resolved = usual_for_auto<kLibrary>,
       .usual = kLibrary,
       .open = true,
       .set = step_option<"batch-norm">,
       .label = kStepOption,
       .refusals = {{"fused",
                     {{"device", {"cpu"}}},
                     "it is for GPUs: on a CPU the library's is as fast",
                     "use --batch-norm library"},
                    {"fused",
                     {{"memory-format", {"contiguous"}}},
                     "it needs the channels of a pixel side by side",
                     "use --batch-norm library"}}},
      {.name = "optimizer",
       .help = "how SGD runs (cpu, cuda)",
       .fallback = "auto",
       .values = {{"auto", "fused; on cuda what proves right and fastest (--qualify)"},
                  {"fused", "all parameters in a few passes"},
                  {"loop", "one parameter after the other"}},
       .canonical = one_of,
       .ceiling = true,
       .applies = trains,
       .resolved = usual_for_auto<kFused>,
       .usual = kFused,
       .open = true,
       .set = step_option<"optimizer">,
       .label = kStepOption},
      {.name = "master-weights",
       .help = "fp32 weights beside 16-bit ones, instead of autocast's casting (fp16, bf16)",
       .fallback = "auto",
       .values = {{"auto", "on; on cuda what proves right and fastest (--qualify)"},
                  {"on", "cast once a step"},
                  {"off", "autocast: each layer casts its own"}},
       .canonical = one_of,
       .ceiling = true,
       .applies = in_16_bits,
       .resolved = usual_for_auto<kOn>,
       .usual = kOn,
       .open = true,
       .set = step_option<"master-weights">,
       .label = kStepOption},
      {.name = "stem",
       .help = "how the network's first convolution runs (cpu, cuda)",
       .fallback = "auto",
       .values = {{"auto", "convolution; on cuda what proves right and fastest (--qualify)"},
                  {"convolution", "7x7 over three channels"},
                  {"space-to-depth", "the same sums as 4x4 over blocks of 2x2 pixels (NHWC)"}},
       .canonical = one_of,
       .ceiling = true,
       .applies = trains,
       .resolved = usual_for_auto<kConvolution>,
       .usual = kConvolution,
       .open = true,
       .set = step_option<"stem">,
       .label = kStepOption,
       .refusals = {{"space-to-depth",
                     {{"memory-format", {"contiguous"}}},
                     "it lays the channels of a block side by side",
                     "use --stem convolution"}}},
  };
}

Axes launch_axes() {
  return {
      {.name = "cudnn-benchmark",
       .help = "whether cuDNN finds its fastest kernels by trial, in the warm-up (cuda)",
       .fallback = "auto",
       .values = {{"auto", "on"},
                  {"on", "of the ten that its heuristics put first"},
                  {"all", "of all that its heuristics list"},
                  {"off", "its heuristics choose"}},
       .canonical = one_of,
       .ceiling = true,
       .applies = on_cuda,
       .resolved = always_usual_for_auto<kOn>,
       .usual = kOn,
       .set = step_option<"cudnn-benchmark">,
       .label = kStepOption},
      {.name = "cuda-graph",
       .help = "whether the step is captured in the warm-up and replayed as a whole (cuda)",
       .fallback = "auto",
       .values = {{"auto", "what proves right and fastest (--qualify)"},
                  {"on", ""},
                  {"off", "each kernel is launched by the host"}},
       .canonical = one_of,
       .ceiling = true,
       .applies = on_cuda,
       .resolved = usual_for_auto<kOff>,
       .usual = kOff,
       .open = true,
       .set = step_option<"cuda-graph">,
       .label = kStepOption,
       .refusals = {{"on",
                     {{"optimizer", {"loop"}}, {"precision", {"fp16"}}},
                     "the host asks for each overflow",
                     "use --optimizer fused"}}},
      {.name = "graph-memsets",
       .help = "what fills memory in the captured step (cuda)",
       .fallback = "auto",
       .values = {{"auto", "what proves right and fastest (--qualify)"},
                  {"nodes", "memset nodes, as they were captured"},
                  {"kernels", "kernels in their place, which begin sooner (--cuda-graph on)"}},
       .canonical = one_of,
       .ceiling = true,
       .applies = on_cuda,
       .resolved = usual_for_auto<kNodes>,
       .usual = kNodes,
       .open = true,
       .set = step_option<"graph-memsets">,
       .label = kStepOption,
       .refusals = {{"kernels",
                     {{"cuda-graph", {"auto", "off"}}},
                     "they take the place of a graph's nodes",
                     "use --cuda-graph on"}}},
      {.name = "device-threads",
       .help = "threads of the training step on the CPU",
       .fallback = "auto",
       .values = {{"N", "threads"}, {"auto", "one per CPU"}},
       .canonical = auto_or_from_one,
       .number = true,
       .ceiling = true,
       .applies = on_cpu,
       .resolved = device_threads,
       .set = number<&S::device_threads>},
  };
}

Axes make_axes() {
  Axes all;
  for (const Axes& rows :
       {device_axes(), data_axes(), loader_axes(), transfer_axes(), augment_axes(), decode_axes(),
        file_axes(), step_axes(), launch_axes()}) {
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

}  // namespace

std::span<const Axis> axes() {
  static const Axes all = make_axes();
  return all;
}

std::vector<std::string> axis_names() {
  std::vector<std::string> names;
  for (const Axis& axis : axes()) names.emplace_back(axis.name);
  return names;
}

std::optional<std::string> axis_called(std::string_view name) {
  constexpr std::pair<std::string_view, const char*> kOtherNames[] = {
      {"num-workers", "workers"},
      {"num-threads", "workers"},
      {"batch", "batch-size"},
      {"bs", "batch-size"},
      {"num-gpus", "gpus"},
      {"nproc-per-node", "gpus"},
      {"prefetch-factor", "prefetch"},
      {"arch", "model"},
      {"resolution", "image-size"},
      {"dtype", "precision"},
      {"format", "data"}};
  std::string dashed(name);
  std::ranges::replace(dashed, '_', '-');
  for (const auto& [other, axis] : kOtherNames)
    if (dashed == other) return axis;
  return std::nullopt;
}

std::string axis_meant(std::string_view name) {
  const auto called = axis_called(name);
  return called ? "did you mean " + *called + "?" : did_you_mean(name, axis_names());
}

const Axis& axis_named(std::string_view name) {
  for (const Axis& axis : axes()) {
    if (axis.name == name) return axis;
  }
  const std::string meant = axis_meant(name);
  throw UsageError(std::string(name), "is no axis",
                   meant.empty() ? "`feedrate list` shows the axes" : meant);
}

}  // namespace feedrate::plan
