"""Draws the figures of figures.plan(), on all CPUs that the process may use, and writes their
files."""

from __future__ import annotations

import gc
import importlib
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace

from .. import interrupts, output
from ..claims import claims
from ..errors import ReportError
from ..look import typeface
from . import figures

PAPER_FORMATS = ("pdf", "svg")
# [(plan, context, folder), …]: the forked processes inherit it
_work = []


@dataclass
class Drawn:
    """What became of a plan; kinds is empty where there was nothing to show."""

    plan: figures.Plan
    kinds: list = field(default_factory=list)
    sentence: str = ""
    finding: str = ""
    caption: list = field(default_factory=list)  # sentences for a paper
    notes: list = field(default_factory=list)  # all that the sheet says below and above its panels
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
    _work[:] = [(plan, context, folder) for plan in plans]
    typeface.cut()  # once, for all processes
    # the ledger stays as it is: no use looking through it for garbage at every figure
    gc.freeze()
    count = min(_cpus(), len(plans), 16)
    if count < 2 or "fork" not in multiprocessing.get_all_start_methods():
        yield from map(_carry_out, range(len(plans)))
        return
    # Forked before anything here imports numpy, which starts threads that no fork survives.
    with ProcessPoolExecutor(
        count, multiprocessing.get_context("fork"), interrupts.leave_to_parent
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
    plan, context, folder = _work[i]
    gc.disable()  # a figure is made of small things that live until it is saved
    try:
        return _draw(plan, context, folder)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # One figure that trips over its numbers must not cost the others; the exit code tells.
        return Drawn(_bare(plan), error=f"{type(error).__name__}: {error}")
    finally:
        gc.enable()


def _draw(plan, context, folder):
    from ..look import style
    from . import findings

    module = importlib.import_module("." + plan.module, __package__)
    options = context.options
    sheet, kept = replace(context, medium=style.SHEET), ["png"] if options.slides else []
    pictures, page = _saved(module, plan, sheet, folder, options.formats, kept)
    if page is None:
        return Drawn(_bare(plan))
    found = Drawn(_bare(plan), list(options.formats), plan.figure.sentence)
    found.finding = findings.headline(plan, context.claims)
    found.caption, found.notes = page.caption, page.notes
    found.picture = pictures["png"] if options.slides else b""
    paper, kinds = os.path.join(folder, "paper"), PAPER_FORMATS if options.paper else []
    for medium in (style.WIDE, style.COLUMN) if options.paper or options.html else ():
        bare, kept = replace(context, medium=medium), ["svg"] if options.html else []
        data, _ = _saved(module, plan, bare, paper, kinds, kept)
        found.svg |= {medium.name: data["svg"].decode()} if options.html else {}
    return found


def paper_files(drawn):
    """The names of the files for a paper."""
    from ..look import style

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
    medium = context.medium
    data, page = rendered(
        lambda: module.draw(plan.setting, plan.gpus, context),
        medium,
        dict.fromkeys([*kinds, *kept]),
        # Their ids differ, so that one page can hold them all.
        {"svg.hashsalt": f"feedrate.{plan.name}.{medium.name}"},
    )
    for kind in kinds if page else ():
        output.write(os.path.join(folder, f"{plan.name}{medium.suffix}.{kind}"), data[kind])
    return data, page


def rendered(draw, medium, kinds, settings=()):
    """({kind: bytes}, the Page that draw() gives) in the medium's style, with further settings of
    matplotlib; ({}, None) where it gives none."""
    import matplotlib

    from ..look import style

    typeface.use(typeface.cut())
    # A context of its own: the style never leaks into, or in from, the user's settings.
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(style.rc(medium) | dict(settings))
        page = draw()
        if page is None:
            return {}, None
        dpi = medium.dpi / page.scale  # as many pixels, however large the sheet
        return {kind: output.figure_bytes(page.figure, kind, dpi) for kind in kinds}, page
