"""Which figures a report has and what their files are called. Imports nothing that draws: see
drawing.py."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .heading import heading
from .text import clean

# What a figure is about, whatever it shows.
TITLES = {
    "throughput_vs_workers": "Throughput against loader workers",
    "throughput_vs_gpus": "Throughput against GPUs",
    "scaling_efficiency": "Scaling efficiency",
    "utilisation_vs_gpus": "Accelerator utilisation against emulated GPUs",
    "bars": "Throughput by kind of data",
    "ceiling_heatmap": "Share of the ceiling by kind of data and stored size",
    "batch_times": "Every batch of the run",
    "load_vs_step": "Waiting for data and step time, batch by batch",
    "stages": "Where the workers' time goes",
    "disk_or_cpu": "Disk or CPU: shares of the workers' time and of the CPUs'",
    "storage_bandwidth": "What the workers read, and what storage gave",
    "load_vs_detail": "Load time against picture complexity",
    "waiting_cost": "What the input costs",
    "monitors": "Host and GPUs over a run",
    "waterfall": "What the difference is made of",
}
STEMS = tuple(TITLES)
# Drawn at every GPU count; the others at the smallest one, where the device is best fed, or over
# all of them.
AT_EVERY_COUNT = (
    "throughput_vs_workers",
    "bars",
    "ceiling_heatmap",
    "storage_bandwidth",
    "waiting_cost",
)
OVER_COUNTS = ("throughput_vs_gpus", "scaling_efficiency", "utilisation_vs_gpus")
# Drawn of the cell that `feedrate diagnose` looked at, where there is one.
OF_DIAGNOSIS = ("waterfall",)
# Figures whose titles state a result; the others show a single run.
OF_RESULTS = tuple(stem for stem in STEMS if stem not in ("batch_times", "monitors"))


@dataclass(frozen=True)
class Plan:
    """A figure that might be drawn: there may turn out to be nothing to show."""

    name: str  # of its file, without the ending
    module: str  # that draws it
    setting: object
    gpus: object  # None: over all counts
    words: str  # the setting in words


def plan(settings, only=()):
    """Every figure of a report, setting by setting."""
    found = []
    for setting in settings:
        suffix = _suffix(setting, settings)
        for stem in (s for s in STEMS if not only or s in only):
            for n in _counts(stem, setting):
                more = "" if n in (None, setting.first_count) else f".{n}-gpus"
                found.append(Plan(stem + suffix + more, stem, setting, n, heading(setting, n)))
    return found


def _counts(stem, setting):
    """At which numbers of GPUs the figure is drawn."""
    if stem in OF_DIAGNOSIS:
        return [setting.diagnosis.gpus] if setting.diagnosis else []
    if stem in OVER_COUNTS:
        return [None]
    return setting.gpu_counts() if stem in AT_EVERY_COUNT else [setting.first_count]


def _suffix(setting, settings):
    """ ".emulated-a100" and further axes, as far as the settings differ; "" for a single one."""
    # An axis is named only if it distinguishes settings that agree in all axes before it.
    parts, alike = [], settings
    for axis in setting.axes:
        if len({str(s.axes[axis]) for s in alike}) > 1:
            parts.append(slug(setting.axes[axis]))
            alike = [s for s in alike if str(s.axes[axis]) == str(setting.axes[axis])]
    name = "".join("." + part for part in parts)
    slugs = [slug(value) for value in setting.axes.values()]
    twins = [
        s
        for s in settings
        if s is not setting and [slug(value) for value in s.axes.values()] == slugs
    ]
    return name + (f".{settings.index(setting)}" if twins else "")


def slug(value):
    """A file name's part: letters, digits, dots and dashes."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", clean(value, 60)).strip("-.") or "x"
