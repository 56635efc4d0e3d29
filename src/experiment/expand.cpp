#include <algorithm>
#include <functional>
#include <string>

#include "experiment/axes.h"
#include "experiment/cell.h"
#include "measure/clock.h"
#include "measure/error.h"
#include "storage/container.h"

namespace feedrate {
namespace {

void clear(Cell& cell, std::initializer_list<std::string_view> axes) {
  for (const std::string_view axis : axes) cell.set(axis, std::nullopt);
}

[[noreturn]] void refuse_together(const char* option, const std::string& what, const char* reason, const char* remedy) {
  throw UsageError(option, "cannot be used with " + what + ": " + reason, remedy);
}

// How a step runs that is not emulated, and what `auto` stands for.
struct Rung {
  std::string_view axis, by_itself;
  bool cuda_only = false;
};
constexpr Rung kRungs[] = {{"memory-format", "channels_last"}, {"batch-norm", "library"},
                           {"optimizer", "fused"},             {"master-weights", "on"},
                           {"cudnn-benchmark", "on", true},    {"cuda-graph", "off", true}};

void resolve_rungs(Cell& cell, std::string_view device) {
  for (const auto& [axis, by_itself, cuda_only] : kRungs) {
    const bool concerns = device == "cuda" || (device == "cpu" && !cuda_only);
    if (!concerns) cell.set(axis, std::nullopt);
    if (cell.is(axis, "auto")) cell.set(axis, std::string(by_itself));
  }
  if (!cell.is("precision", "fp16") && !cell.is("precision", "bf16")) clear(cell, {"master-weights"});
  if (cell.is("batch-norm", "fused") && cell.is("memory-format", "contiguous")) {
    refuse_together("--batch-norm fused", "--memory-format contiguous", "its rows are of channels", "use --batch-norm library");
  }
  if (cell.is("cuda-graph", "on") && cell.is("optimizer", "loop") && cell.is("precision", "fp16")) {
    refuse_together("--cuda-graph on", "--optimizer loop and fp16", "the host asks for each overflow", "use --optimizer fused");
  }
}

void resolve_device(Cell& cell) {
  const std::string_view device = split_device(*cell["device"]).first;
  if (device != "cpu") clear(cell, {"device-threads"});
  if (device != "cuda") clear(cell, {"pin-memory"});
  if (device == "emulated") clear(cell, {"precision"});
  resolve_rungs(cell, device);
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

// The device takes whole pictures and makes of them what a host worker would.
void resolve_augment_on_device(Cell& cell) {
  const auto refuse = std::bind_front(refuse_together, "--augment-on device");
  if (split_device(*cell["device"]).first == "emulated") {
    refuse("an emulated device", "it computes nothing", "use --device cpu or cuda, or --augment-on host");
  }
  if (!cell.is("resize-filter", "bilinear")) refuse("--resize-filter " + *cell["resize-filter"], "it has no such filter", "use bilinear");
  if (!cell.is("transfer", "uint8")) refuse("--transfer " + *cell["transfer"], "it takes pixels", "use --transfer uint8");
  if (cell.is("loader", "dali")) refuse("--loader dali", "that crops itself", "use --loader pool or batch");
  clear(cell, {"decode-scale"});  // a host worker resizes nothing
}

// The GPU decodes whole pictures, and then augments them.
void resolve_nvjpeg(Cell& cell) {
  const auto refuse = std::bind_front(refuse_together, "--decoder nvjpeg");
  if (split_device(*cell["device"]).first != "cuda") refuse("--device " + *cell["device"], "it decodes on an NVIDIA GPU", "use --device cuda");
  if (cell.is("loader", "dali")) refuse("--loader dali", "that decodes itself", "use --loader pool or batch");
  if (cell.is("cache", "sample")) refuse("--cache sample", "there are no decoded samples on the host", "use --cache none or encoded");
  if (cell.is("cache", "device")) refuse("--cache device", "the batch that is kept is one of pixels", "use --cache none, encoded or host");
  if (cell.is("on-bad", "skip")) refuse("--on-bad skip", "a bad sample fails its whole batch", "use --on-bad fail");
  cell.set("augment-on", "device");
  clear(cell, {"decode-scale"});
}

// DALI decodes, crops, resizes and flips pictures, in order, in threads that it places itself.
void resolve_dali(Cell& cell) {
  clear(cell, {"in-order", "read-ahead", "pin-workers", "decode-scale"});
  const auto refuse = std::bind_front(refuse_together, "--loader dali");
  if (cell.is("data", "tensor")) refuse("--data tensor", "there is nothing to decode", "use --loader pool");
  if (cell.is("cache", "sample")) refuse("--cache sample", "there is nothing to decode", "use --cache none or encoded");
  if (cell.is("augment", "jitter")) refuse("--augment jitter", "its colours are not those of the other loaders", "use --augment train");
  if (cell.is("on-bad", "skip")) refuse("--on-bad skip", "a bad sample fails its whole batch", "use --on-bad fail");
  if (cell.is("resize-filter", "area")) refuse("--resize-filter area", "it has no such filter", "use bilinear or antialias");
  if (!cell.is("data", "jpeg") && !cell.is("data", "png") && !cell.is("data", "png0") && !cell.is("data", "bmp")) {
    refuse("--data " + *cell["data"], "it does not know the format", "use jpeg, png, png0 or bmp");
  }
}

}  // namespace

std::string_view rung_by_itself(std::string_view axis) {
  const auto* found = std::ranges::find(kRungs, axis, &Rung::axis);
  return found == std::end(kRungs) ? std::string_view() : found->by_itself;
}

Cell resolve(Cell cell) {
  if (cell.is("input-size", "native")) cell.set("input-size", cell["image-size"]);
  resolve_device(cell);
  if (cell.is("data", "synthetic")) {
    clear(cell, {"cache", "image-size", "tensor-dtype", "container", "loader", "workers", "prefetch", "in-order", "read-ahead", "pin-workers",
                 "transfer", "pin-memory", "augment", "augment-on", "decoder", "jpeg-engine", "decode-scale", "resize-filter", "on-bad", "page-cache"});
    return cell;
  }
  resolve_transfer(cell);
  if (cell.is("data", "tensor")) {
    clear(cell, {"image-size", "augment", "augment-on", "decode-scale", "resize-filter"});
  } else {
    clear(cell, {"tensor-dtype"});
  }
  if (!cell.is("data", "jpeg")) clear(cell, {"decoder", "decode-scale"});
  if (cell.is("decoder", "nvjpeg")) resolve_nvjpeg(cell);
  else clear(cell, {"jpeg-engine"});
  if (cell.is("augment-on", "device")) resolve_augment_on_device(cell);
  // A cache that spares the workers' reading, or the workers altogether, makes their axes meaningless.
  if (!cell.is("cache", "none")) clear(cell, {"page-cache", "container", "read-ahead"});
  if (cell["container"] && !find_container(*cell["container"])->announces) clear(cell, {"read-ahead"});
  if (cell.is("cache", "host") || cell.is("cache", "device")) {
    clear(cell, {"loader", "workers", "prefetch", "in-order", "pin-workers"});
  }
  if (cell.is("cache", "device")) clear(cell, {"pin-memory"});
  if (cell.is("workers", "0") && cell.is("loader", "dali")) {
    throw UsageError("--loader dali", "has no 0 workers: DALI loads in threads of its own", "use --workers 1 or more");
  }
  if (cell.is("workers", "0")) clear(cell, {"loader", "prefetch", "in-order", "pin-workers"});
  if (cell.is("loader", "batch")) clear(cell, {"in-order"});  // it knows no other way
  if (cell.is("loader", "dali")) resolve_dali(cell);
  if (cell.is("prefetch", "auto")) cell.set("prefetch", cell.is("loader", "pool") ? "4" : "2");
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
