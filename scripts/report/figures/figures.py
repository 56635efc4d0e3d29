"""Which figures a report has and what their files are called. Imports nothing that draws: see
drawing.py."""

import re
from dataclasses import dataclass

from ..ledger.heading import heading
from ..text import clean

# The numbers of GPUs at which a figure is drawn: the smallest, where the device is best fed; each;
# one over all of them; that of the cell that `feedrate diagnose` looked at, where there is one.
FIRST, EVERY, OVER, DIAGNOSIS = "first", "every", "over", "diagnosis"


@dataclass(frozen=True)
class Figure:
    name: str  # of its module and of its files
    title: str  # what it is about, whatever it shows
    sentence: str  # what it shows and how to read it
    counts: str  # FIRST, EVERY, OVER or DIAGNOSIS
    states_result: bool = True  # False: it shows a single run


# A new figure: one row here, in the order of a report, and its module.
FIGURES = (
    Figure(
        "share",
        "Share of the ceiling",
        "The share of its synthetic ceiling that each kind of data reaches at the workers chosen,"
        " with its 95 % interval, the largest loss first; in colour where a loss is shown",
        OVER,
    ),
    Figure(
        "gpus_fed",
        "How many GPUs are fed",
        "Images per second that emulated GPUs need and that they were given, against their number,"
        " and the share of the time in which they compute (AU): each run small, the median of the"
        " runs large; the strip is the 95 % interval of the most GPUs that keep 90 %",
        OVER,
    ),
    Figure(
        "throughput_vs_workers",
        "Throughput against loader workers",
        "Images per second against the loader's workers per GPU, or against the axis that was"
        " varied in their place, with the synthetic ceiling (dashed) that they climb to; the ring"
        " is around the knee: more workers gain less than 1 %",
        EVERY,
    ),
    Figure(
        "throughput_vs_gpus",
        "Throughput against GPUs",
        "Images per second of all GPUs together against their number, each point at the"
        " workers chosen, with the straight line from the first point (dotted)",
        OVER,
    ),
    Figure(
        "ceiling_heatmap",
        "Share of the ceiling by kind of data and stored size",
        "The share of the ceiling that every kind of data reaches at every stored size, at the"
        " workers chosen",
        EVERY,
    ),
    Figure(
        "latency",
        "Step, wait and read times",
        "What share of the batches took so long or less, of all runs of the cell that the title"
        " names (the largest loss, or else the least share of the ceiling) and of its ceiling, and"
        " how long the training thread waited for them; of single reads the percentiles that the"
        " records keep",
        FIRST,
    ),
    Figure(
        "au_vs_share",
        "Device utilisation beside the share of the ceiling",
        "How busy the device was, as its driver reports it or else as its steps say, against the"
        " share of the synthetic ceiling that each cell reached: above the diagonal a device is"
        " busy and slow",
        FIRST,
    ),
    Figure(
        "stages",
        "Where the workers' time goes",
        "Busy time per image of one worker by stage, computing and waiting apart, against the"
        " device's time per image × workers: a bar that passes the mark limits the training",
        EVERY,
    ),
    Figure(
        "monitors",
        "Host and GPUs over a run",
        "Readings of the host and, where there are any, of the GPUs while one run was measured, of"
        " the cell that kept them and reaches the least of its ceiling, with however many GPUs",
        OVER,
        states_result=False,
    ),
    Figure(
        "waterfall",
        "What the difference is made of",
        "Images per second from the synthetic ceiling down to what one cell reaches, with what"
        " each step between the two takes; measured by `feedrate diagnose`",
        DIAGNOSIS,
    ),
)
NAMED = {figure.name: figure for figure in FIGURES}


@dataclass(frozen=True)
class Plan:
    """A figure that might be drawn: there may turn out to be nothing to show."""

    name: str  # of its file, without the ending
    module: str  # that draws it: the name of its Figure
    setting: object
    gpus: object  # None: over all counts
    words: str  # the setting in words

    figure = property(lambda self: NAMED[self.module])


def plan(settings, names=tuple(NAMED)):
    """The figures of those names for a report, setting by setting."""
    found = []
    for setting in settings:
        suffix = _suffix(setting, settings)
        for figure in (f for f in FIGURES if f.name in names):
            for n in _counts(figure, setting):
                more = "" if n in (None, setting.first_count) else f".{n}-gpus"
                name = figure.name + suffix + more
                found.append(Plan(name, figure.name, setting, n, heading(setting, n)))
    return found


def _counts(figure, setting):
    """At which numbers of GPUs the figure is drawn."""
    if figure.counts == DIAGNOSIS:
        return [setting.diagnosis.gpus] if setting.diagnosis else []
    if figure.counts == OVER:
        return [None]
    return setting.gpu_counts() if figure.counts == EVERY else [setting.first_count]


def _suffix(setting, settings):
    """ ".emulated-a100" and further axes, as far as the settings differ; "" for a single one."""
    # An axis is named only if it distinguishes settings that agree in all axes before it.
    parts, alike = [], settings
    for axis in setting.axes:
        if len({str(s.axes[axis]) for s in alike}) > 1:
            parts.append(slug(setting.axes[axis]))
            alike = [s for s in alike if str(s.axes[axis]) == str(setting.axes[axis])]
    name = "".join("." + part for part in parts)
    slugs = lambda one: list(map(slug, one.axes.values()))
    has_twin = any(s is not setting and slugs(s) == slugs(setting) for s in settings)
    return name + (f".{settings.index(setting)}" if has_twin else "")


def slug(value):
    """A file name's part: letters, digits, dots and dashes."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", clean(value, 60)).strip("-.") or "x"
