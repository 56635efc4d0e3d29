"""The machine setting in words: device, model, batch size, precision, input size."""

from __future__ import annotations

from ..text import axis_value, clean, counted

# How far the cells of an emulated device are those of the GPU whose rate it has: as the program
# says it (src/device/emulated_device.h).
EMULATION = "emulation not yet compared with a GPU"

# Always said, each in its own way; the other axes of a setting where they are not as everybody
# expects.
SAID = ("device", "device-threads", "model", "batch-size", "precision", "input-size")


def emulated(name):
    """How it is emulated may stand in the name: "H100 (EMULATED from its recorded steps)"."""
    bare, found, how = name.rpartition(" (EMULATED")
    if not found:
        return name + " (EMULATED DEVICE)"
    return bare.replace(" (EMULATED)", "") + " (EMULATED DEVICE" + how


def device_name(setting):
    """An emulated device says EMULATED DEVICE and a CPU says CPU, whatever its name is."""
    # "NVIDIA H200, PyTorch's published 3,079 img/s scaled to 448x448 (EMULATED)" is one.
    name = clean(setting.device.get("name") or _axes(setting)["device"], 100)
    if setting.kind == "emulated":
        return emulated(name)
    return name + (" (CPU)" if setting.kind == "cpu" and "cpu" not in name.lower() else "")


def heading(setting, gpus=None):
    """The setting, at so many GPUs."""
    axes = _axes(setting)
    words = [device_name(setting), clean(axes["model"], 40)]
    words.append(f"batch {axis_value(axes['batch-size'])}")
    # An emulated device has no choice of precision: its published rate has one.
    precision = axes["precision"] or setting.device.get("precision")
    if precision is not None:
        words.append(clean(axis_value(precision), 40))
    words += [
        f"{clean(axis, 40)} {clean(axis_value(value), 40)}"
        for axis, value in axes.items()
        if axis not in SAID
        and value is not None
        and axis_value(value) != setting.tables.usual(axis)
    ]
    if axes["device-threads"] is not None:
        words.append(f"{axis_value(axes['device-threads'])} threads")
    words.append(f"input {axis_value(axes['input-size'])}")
    if gpus:
        words.append(devices(gpus, setting))
    return " · ".join(words)


def _axes(setting):
    """With what `auto` stood for on the device."""
    found = setting.stands_for
    return {
        axis: found.get(axis, value) if value == "auto" else value
        for axis, value in setting.axes.items()
    }


def devices(count, setting):
    """ "2 GPUs", or "2 replicas" on the CPU."""
    return counted(count, "replica" if setting.kind == "cpu" else "GPU")
