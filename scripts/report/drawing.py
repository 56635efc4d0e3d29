"""Draws the figures of figures.plan(), on all CPUs that the process may use. Writes their files."""

from __future__ import annotations

import gc
import importlib
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace

from . import beside, claims, figures, output, typeface
from .ledger import ReportError

PAPER_FORMATS = ("pdf", "svg")
# [(plan, context, folder, the fonts' folder), …]: the forked processes inherit it
_work = []


@dataclass
class Drawn:
    """What became of a plan; kinds is empty where there was nothing to show."""

    plan: figures.Plan
    kinds: list = field(default_factory=list)
    sentence: str = ""
    finding: str = ""
    caption: list = field(default_factory=list)  # sentences for a paper
    picture: bytes = b""  # PNG for a slide
    svg: dict = field(default_factory=dict)  # {"wide": SVG, "column": SVG} for the page
    error: str = ""


def draw(settings, context, folder):
    """Every figure; the plan's order is kept. Yields them as they come."""
    options = context.options
    unknown = set(options.only) - set(context.figures)
    if unknown:
        raise ReportError(
            "--only " + min(unknown),
            "there is no such figure",
            "choose from " + ", ".join(context.figures),
        )
    plans = figures.plan(settings, options.only or context.figures)
    context.claims = claims.of(settings)
    _work[:] = [(plan, context, folder, typeface.cut()) for plan in plans]
    # the ledger stays as it is: no use looking through it for garbage at every figure
    gc.freeze()
    count = min(_cpus(), len(plans), 16)
    if count < 2 or "fork" not in multiprocessing.get_all_start_methods():
        yield from map(_carry_out, range(len(plans)))
        return
    # Forked before anything here imports numpy, which starts threads that no fork survives.
    with ProcessPoolExecutor(
        count, multiprocessing.get_context("fork"), beside.leave_interrupts_alone
    ) as pool:
        try:
            yield from pool.map(_carry_out, range(len(plans)))
        except BrokenProcessPool:
            raise ReportError(
                "figures", "a process that draws was ended", "free some memory and run it again"
            )


def _cpus():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _carry_out(i):
    plan, context, folder, type_folder = _work[i]
    typeface.use(type_folder)
    gc.disable()  # a figure is made of small things that live until it is saved
    try:
        return _draw(plan, context, folder)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # One figure that trips over its numbers must not cost the others; the exit code tells.
        return Drawn(_bare(plan), error=f"{type(error).__name__}: {error}")
    finally:
        gc.enable()


def _draw(plan, context, folder):
    from . import findings, style

    module = importlib.import_module("." + plan.module, __package__)
    options = context.options
    pictures, page = _saved(
        module,
        plan,
        replace(context, medium=style.SHEET),
        folder,
        options.formats,
        ["png"] if options.slides else [],
    )
    if page is None:
        return Drawn(_bare(plan))
    svg = {}
    for medium in (style.WIDE, style.COLUMN) if options.paper or options.html else ():
        data, _ = _saved(
            module,
            plan,
            replace(context, medium=medium),
            os.path.join(folder, "paper"),
            PAPER_FORMATS if options.paper else [],
            ["svg"] if options.html else [],
        )
        svg |= {medium.name: data["svg"].decode()} if options.html else {}
    return Drawn(
        _bare(plan),
        list(options.formats),
        plan.figure.sentence,
        findings.headline(plan, context.claims),
        page.caption,
        pictures.get("png", b"") if options.slides else b"",
        svg,
    )


def paper_files(drawn):
    """The names of the files for a paper."""
    from . import style

    return [
        f"{d.plan.name}{medium.suffix}.{kind}"
        for d in drawn
        for medium in (style.COLUMN, style.WIDE)
        for kind in PAPER_FORMATS
    ]


def _bare(plan):
    """Without the setting: a process need not send it back."""
    return replace(plan, setting=None)


def _saved(module, plan, context, folder, kinds, kept=()):
    """Draws on the context's medium; writes the files of `kinds` and gives their bytes, and those
    of `kept`."""
    import matplotlib

    from . import style

    # A context of its own: the style never leaks into, or in from, the user's settings.
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(style.rc(context.medium))
        # Their ids differ, so that one page can hold them all.
        matplotlib.rcParams["svg.hashsalt"] = f"feedrate.{plan.name}.{context.medium.name}"
        page = module.draw(plan.setting, plan.gpus, context)
        if page is None:
            return {}, None
        dpi = context.medium.dpi / page.scale  # as many pixels, however large the sheet
        data = {
            kind: output.figure_bytes(page.figure, kind, dpi)
            for kind in dict.fromkeys([*kinds, *kept])
        }
    for kind in kinds:
        name = f"{plan.name}{context.medium.suffix}.{kind}"
        output.write(os.path.join(folder, name), data[kind])
    return data, page
