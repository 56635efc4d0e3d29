"""Which figures a report has, what their files are called, and how they are saved."""
from __future__ import annotations

import os

import matplotlib

from . import (bars, batch_times, load_vs_step, output, stages, style, throughput_vs_gpus,
               throughput_vs_workers, waiting_cost)
from .cli import slug
from .heading import heading
from .settings import SETTING_AXES

# Drawn at every GPU count; the others at the smallest one, where the device is best fed.
AT_EVERY_COUNT = {"throughput_vs_workers": throughput_vs_workers, "bars": bars,
                  "waiting_cost": waiting_cost}
AT_ONE_COUNT = {"batch_times": batch_times, "load_vs_step": load_vs_step, "stages": stages}
STEMS = ("throughput_vs_workers", "throughput_vs_gpus", "bars", "batch_times", "load_vs_step",
         "stages", "waiting_cost")


def plan(settings, context, only=()):
    """Yields (file stem, setting in words, sentence, save) for every figure that might be drawn;
    save(folder, stem, formats) gives the formats written, [] where there is nothing to show."""
    names = [_suffix(setting, settings) for setting in settings]
    for setting, name in zip(settings, names):
        counts = setting.gpu_counts()
        for stem in (s for s in STEMS if not only or s in only):
            if stem == "throughput_vs_gpus":
                yield (stem + name, heading(setting), throughput_vs_gpus.SENTENCE,
                       _saver(throughput_vs_gpus.draw, setting, context))
                continue
            module = AT_EVERY_COUNT.get(stem) or AT_ONE_COUNT[stem]
            for n in counts if stem in AT_EVERY_COUNT else counts[:1]:
                more = f".{n}-gpus" if n != counts[0] else ""
                yield (stem + name + more, heading(setting, n), module.SENTENCE,
                       _saver(module.draw, setting, n, context))


def _suffix(setting, settings):
    """".emulated-a100" and further axes, as far as the settings differ; "" for a single one."""
    # An axis is named only where those before it leave settings that it tells apart.
    parts, alike = [], settings
    for axis in SETTING_AXES:
        if len({str(s.axes[axis]) for s in alike}) > 1:
            parts.append(slug(setting.axes[axis]))
            alike = [s for s in alike if str(s.axes[axis]) == str(setting.axes[axis])]
    name = "".join("." + part for part in parts)
    slugs = [slug(setting.axes[axis]) for axis in SETTING_AXES]
    twins = [s for s in settings if s is not setting and
             [slug(s.axes[axis]) for axis in SETTING_AXES] == slugs]
    return name + (f".{settings.index(setting)}" if twins else "")


def _saver(draw, *what):
    def save(folder, stem, formats):
        # A context of its own: the style never leaks into, or in from, the user's settings.
        with matplotlib.rc_context():
            matplotlib.rcdefaults()
            matplotlib.rcParams.update(style.RC)
            figure = draw(*what)
            if figure is None:
                return []
            for kind in formats:
                output.write(os.path.join(folder, f"{stem}.{kind}"),
                             output.figure_bytes(figure, kind, style.DPI))
        return list(formats)
    return save
