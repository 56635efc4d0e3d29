#include "experiment/cell.h"

#include <span>

#include "device/accelerator.h"
#include "experiment/axes.h"
#include "experiment/values.h"
#include "storage/container.h"
#include "storage/manifest.h"

namespace feedrate {

const std::optional<std::string>& Cell::operator[](std::string_view axis) const {
  static const std::optional<std::string> null;
  const auto found = values_.find(axis);
  return found == values_.end() ? null : found->second;
}

void Cell::set(std::string_view axis, std::optional<std::string> value) {
  if (value) {
    values_.insert_or_assign(std::string(axis), std::move(value));
  } else if (const auto found = values_.find(axis); found != values_.end()) {
    values_.erase(found);
  }
}

std::string Cell::id() const {
  std::string text;
  for (const Axis& axis : axes()) {
    if (const auto& value = (*this)[axis.name]) text.append(axis.name).append("=").append(*value).append("\n");
  }
  return to_hex(xxh3_of(std::as_bytes(std::span(text))));
}

nlohmann::ordered_json Cell::to_json() const {
  nlohmann::ordered_json json;
  for (const Axis& axis : axes()) {
    auto& entry = json[std::string(axis.name)];
    if (const auto& value = (*this)[axis.name]) {
      if (axis.number) {
        entry = std::stoll(*value);
      } else {
        entry = *value;
      }
    }
  }
  return json;
}

std::string Cell::label() const {
  std::string text = *(*this)["data"];
  if (is("data", "tensor")) text += " " + *(*this)["tensor-dtype"];
  if (const auto& size = (*this)["image-size"]) text += " " + *size;
  if (const auto& cache = (*this)["cache"]; cache && *cache != "none") text += ", cache " + *cache;
  if (const auto& workers = (*this)["workers"]) text += ", " + *workers + (*workers == "1" ? " worker" : " workers");
  for (const char* name : {"container", "loader", "page-cache", "in-order", "read-ahead", "pin-workers", "augment", "augment-on", "decoder", "jpeg-engine", "decode-scale", "resize-filter", "on-bad", "pin-memory"}) {
    const auto& value = (*this)[name];
    if (value && *value != axis_named(name).fallback) text += std::string(", ") + name + " " + *value;
  }
  for (const Axis& axis : axes()) {
    const auto& value = (*this)[axis.name];
    const std::string_view by_itself = rung_by_itself(axis.name);
    if (value && !by_itself.empty() && *value != by_itself) text.append(", ").append(axis.name).append(" ").append(*value);
  }
  const std::string& gpus = *(*this)["gpus"];
  if (gpus != "1") text += ", " + gpus + (is("device", "cpu") ? " ranks" : " GPUs");
  text += ", input " + *(*this)["input-size"];
  return split_device(*(*this)["device"]).first == "emulated" ? text + ", EMULATED" : text;
}

CellSettings settings_of(const Cell& cell) {
  CellSettings s;
  const auto text = [&](std::string_view axis) { return cell[axis].value_or(""); };
  const auto number = [&](std::string_view axis, int otherwise) {
    return cell[axis] ? std::stoi(*cell[axis]) : otherwise;
  };
  s.device = text("device"), s.model = text("model"), s.precision = text("precision");
  s.data = text("data"), s.cache = text("cache"), s.container = cell["container"].value_or("files"), s.loader = text("loader"), s.page_cache = text("page-cache");
  s.gpus = number("gpus", 1), s.batch_size = number("batch-size", 1), s.workers = number("workers", 0);
  s.prefetch = number("prefetch", 1), s.device_threads = number("device-threads", 0);
  s.input_size = pixel_size_from(text("input-size"));
  s.image_size = cell["image-size"] ? pixel_size_from(*cell["image-size"]) : s.input_size;
  if (cell["tensor-dtype"]) s.tensor_dtype = dtype_from(*cell["tensor-dtype"]);
  if (cell["transfer"]) s.transfer = dtype_from(*cell["transfer"]);
  s.pin_memory = cell.is("pin-memory", "on"), s.augment_on_device = cell.is("augment-on", "device");
  s.augment = {!cell.is("augment", "none"), cell.is("augment", "jitter")};
  if (cell["resize-filter"]) s.filter = resize_filter_from(*cell["resize-filter"]);
  s.in_order = cell.is("in-order", "on"), s.read_ahead = cell.is("read-ahead", "on"), s.pin_workers = cell.is("pin-workers", "on"), s.skip_bad = cell.is("on-bad", "skip"), s.decode_scale = cell.is("decode-scale", "on");
  s.decode_on_device = cell.is("decoder", "nvjpeg"), s.engine_share = number("jpeg-engine", 100);
  s.feed = s.data == "synthetic" ? Feed::synthetic : s.cache == "device" ? Feed::resident : Feed::streamed;
  s.rungs = {.channels_last = !cell.is("memory-format", "contiguous"), .batch_norm = text("batch-norm"), .optimizer = text("optimizer"),
             .master_weights = cell.is("master-weights", "on"), .cudnn_benchmark = !cell.is("cudnn-benchmark", "off"),
             .cuda_graph = cell.is("cuda-graph", "on")};
  // A batch that is only made to be kept, or a cell that does without workers, is filled by one thread.
  if (s.loader.empty()) s.loader = "pool";
  return s;
}

StepSpec CellSettings::step_spec(std::uint64_t seed) const {
  StepSpec spec{.batch = batch_spec(), .model = model, .precision = precision, .pin_memory = pin_memory,
                .threads = device_threads, .rungs = rungs, .seed = seed, .feed = feed};
  spec.engine_share = engine_share;
  if (augment_on_device) spec.augment_to = input_size, spec.jitter = augment.jitter;
  return spec;
}

std::string CellSettings::variant() const {
  if (data == "synthetic") return {};
  const std::string files = data == "tensor" ? "tensor-" + std::string(name_of(tensor_dtype)) + "/" + to_string(input_size)
                                             : data + "/" + to_string(image_size);
  return in_container(files, container);
}

}  // namespace feedrate
