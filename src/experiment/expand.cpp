#include <algorithm>

#include "experiment/axes.h"
#include "experiment/cell.h"
#include "measure/clock.h"
#include "measure/error.h"

namespace feedrate {
namespace {

void clear(Cell& cell, std::initializer_list<std::string_view> axes) {
  for (const std::string_view axis : axes) cell.set(axis, std::nullopt);
}

void resolve_device(Cell& cell) {
  const std::string_view device = split_device(*cell["device"]).first;
  if (device != "cpu") clear(cell, {"device-threads"});
  if (device != "cuda") clear(cell, {"pin-memory"});
  if (device == "emulated") clear(cell, {"precision"});
  if (cell.is("device-threads", "auto")) {
    cell.set("device-threads", std::to_string(allowed_cpus()));
  }
}

void resolve_transfer(Cell& cell) {
  const bool tensor = cell.is("data", "tensor");
  if (cell.is("transfer", "auto")) cell.set("transfer", tensor ? *cell["tensor-dtype"] : "uint8");
  if (tensor && !cell.is("tensor-dtype", "uint8") && cell["transfer"] != cell["tensor-dtype"]) {
    throw UsageError("--transfer " + *cell["transfer"],
                     "cannot carry tensors that are stored normalised as " + *cell["tensor-dtype"],
                     "use --transfer " + *cell["tensor-dtype"] + ", or --tensor-dtype uint8");
  }
}

}  // namespace

Cell resolve(Cell cell) {
  if (cell.is("input-size", "native")) cell.set("input-size", cell["image-size"]);
  resolve_device(cell);
  if (cell.is("data", "synthetic")) {
    clear(cell, {"cache", "image-size", "tensor-dtype", "container", "loader", "workers", "prefetch", "in-order", "pin-workers",
                 "transfer", "pin-memory", "augment", "decode-scale", "resize-filter", "on-bad", "page-cache"});
    return cell;
  }
  resolve_transfer(cell);
  if (cell.is("data", "tensor")) {
    clear(cell, {"image-size", "augment", "decode-scale", "resize-filter"});
  } else {
    clear(cell, {"tensor-dtype"});
  }
  if (!cell.is("data", "jpeg")) clear(cell, {"decode-scale"});
  // A cache that spares the workers' reading, or the workers altogether, makes their axes meaningless.
  if (!cell.is("cache", "none")) clear(cell, {"page-cache", "container"});
  if (cell.is("cache", "host") || cell.is("cache", "device")) {
    clear(cell, {"loader", "workers", "prefetch", "in-order", "pin-workers"});
  }
  if (cell.is("cache", "device")) clear(cell, {"pin-memory"});
  if (cell.is("workers", "0")) clear(cell, {"loader", "prefetch", "in-order", "pin-workers"});
  if (cell.is("loader", "batch")) clear(cell, {"in-order"});  // it knows no other way
  if (cell.is("prefetch", "auto")) cell.set("prefetch", cell.is("loader", "batch") ? "2" : "4");
  return cell;
}

std::vector<Cell> expand(const AxisValues& chosen) {
  for (const auto& [name, values] : chosen) axis_named(name);
  std::vector<Cell> product(1);
  for (const Axis& axis : axes()) {
    const auto found = chosen.find(axis.name);
    const std::vector<std::string> typed =
        found == chosen.end() ? std::vector<std::string>{std::string(axis.fallback)} : found->second;
    std::vector<Cell> next;
    for (const Cell& cell : product) {
      for (const std::string& value : typed) {
        next.push_back(cell);
        next.back().set(axis.name, axis.canonical(axis, value));
      }
    }
    product = std::move(next);
  }
  std::vector<Cell> cells;
  for (Cell& cell : product) {
    Cell resolved = resolve(std::move(cell));
    if (std::find(cells.begin(), cells.end(), resolved) == cells.end()) cells.push_back(std::move(resolved));
  }
  return cells;
}

Cell ceiling_of(const Cell& cell) {
  Cell ceiling = cell;
  ceiling.set("data", "synthetic");
  return resolve(ceiling);
}

}  // namespace feedrate
