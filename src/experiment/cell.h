#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/accelerator.h"
#include "pipeline/resize.h"

namespace feedrate {

// One point of the product of axes: a value for every axis, null where the axis does not concern it.
class Cell {
 public:
  const std::optional<std::string>& operator[](std::string_view axis) const;
  void set(std::string_view axis, std::optional<std::string> value);
  bool is(std::string_view axis, std::string_view value) const { return (*this)[axis] == value; }
  bool operator==(const Cell&) const = default;

  // 16 hex digits: XXH3-64 of "axis=value" lines in canonical order, nulls left out.
  std::string id() const;
  nlohmann::ordered_json to_json() const;  // every axis, in canonical order
  // What tells it apart for a person: "jpeg 500x375, 2 workers, 1 GPU".
  std::string label() const;

 private:
  std::map<std::string, std::optional<std::string>, std::less<>> values_;
};

// The values typed for each axis; an axis without an entry has its fallback.
using AxisValues = std::map<std::string, std::vector<std::string>, std::less<>>;

// The product of the axes as resolved cells, equal ones collapsed, in the order of the axes. Pure.
// Throws UsageError for unknown axes or values, or combinations that cannot be.
std::vector<Cell> expand(const AxisValues& chosen);

// The cell with `auto` and `native` replaced by what they stand for, and null for every axis that does
// not concern its data, cache or device.
Cell resolve(Cell cell);

// What `auto` stands for on an axis of how a step runs (StepRungs); empty for other axes.
std::string_view rung_by_itself(std::string_view axis);

// The ceiling that a cell is held against: synthetic data on the same device, GPUs, model, batch size,
// precision and input size.
Cell ceiling_of(const Cell& cell);

// A cell's values with their types.
struct CellSettings {
  std::string device, model, precision, data, cache, container, loader, page_cache;
  int gpus = 1, batch_size = 1, workers = 0, prefetch = 1, device_threads = 0;
  PixelSize image_size, input_size;
  Dtype tensor_dtype = Dtype::uint8, transfer = Dtype::uint8;
  AugmentPolicy augment;
  bool pin_memory = false, read_ahead = false, augment_on_device = false, in_order = false, pin_workers = false, skip_bad = false, decode_scale = false;
  ResizeFilter filter = ResizeFilter::bilinear;
  Feed feed = Feed::synthetic;
  StepRungs rungs;
  bool decode_on_device = false;
  int engine_share = 100;
  std::size_t encoded_slot = 0;  // decode_on_device: what the dataset's largest file asks for; known once it is open
  BatchSpec batch_spec() const { return {batch_size, augment_on_device ? image_size : input_size, transfer, encoded_slot}; }
  StepSpec step_spec(std::uint64_t seed) const;
  // Where its samples lie below the dataset's folder, e.g. "jpeg/500x375"; empty for synthetic.
  std::string variant() const;
};
CellSettings settings_of(const Cell& cell);

}  // namespace feedrate
