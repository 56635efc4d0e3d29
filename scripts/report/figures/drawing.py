"""Draws the figures of figures.plan(), on all CPUs that the process may use, and writes their
files."""

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
from ..look import style, typeface
from . import figures, findings

PAPER_FORMATS = ("pdf", "svg")
# [(plan, context, folder), …]: the forked processes inherit it
_work = []


@dataclass
class Drawn:
    """What became of a plan; kinds is empty where there was nothing to show."""

    plan: figures.Plan
    kinds: list = field(default_factory=list)
    finding: str = ""
    caption: list = field(default_factory=list)  # sentences for a paper
    notes: list = field(default_factory=list)  # all that the sheet says below and above its panels
    picture: bytes = b""  # PNG for a slide
    svg: dict = field(default_factory=dict)  # {"wide": SVG, "column": SVG} for the page
    error: str = ""

    sentence = property(lambda self: self.plan.figure.sentence)


def draw(settings, context, folder):
    """Every figure; the plan's order is kept. Yields them as they come."""
    options = context.options
    for unknown in sorted(set(options.only) - set(context.figures)):
        known = "choose from " + ", ".join(context.figures)
        raise ReportError("--only " + unknown, "there is no such figure", known)
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
    fork = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(count, fork, interrupts.leave_to_parent) as pool:
        try:
            yield from pool.map(_carry_out, range(len(plans)))
        except BrokenProcessPool:
            remedy = "free some memory and run it again"
            raise ReportError("figures", "a process that draws was ended", remedy)


def _cpus():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _carry_out(i):
    plan, context, folder = _work[i]
    found = Drawn(replace(plan, setting=None))  # which a process need not send back
    gc.disable()  # a figure is made of small things that live until it is saved
    try:
        _draw(plan, context, folder, found)
        return found
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # One figure that trips over its numbers must not cost the others; the exit code tells.
        return Drawn(found.plan, error=f"{type(error).__name__}: {error}")
    finally:
        gc.enable()


def _draw(plan, context, folder, found):
    """Draws it on each medium that is asked for, and writes its files."""
    options = context.options
    kept = ["png"] if options.slides else []
    page, data = _saved(plan, context, style.SHEET, folder, options.formats, kept)
    if page is None:
        return
    found.kinds, found.finding = list(options.formats), findings.headline(plan, context.claims)
    found.caption, found.notes = page.caption, page.notes
    found.picture = data["png"] if options.slides else b""
    paper, kinds = os.path.join(folder, "paper"), PAPER_FORMATS if options.paper else ()
    kept = ["svg"] if options.html else []
    for medium in (style.WIDE, style.COLUMN) if options.paper or options.html else ():
        _, data = _saved(plan, context, medium, paper, kinds, kept)
        found.svg |= {medium.name: data["svg"].decode()} if options.html else {}


def paper_files(drawn):
    """The names of the files for a paper."""
    return [
        f"{d.plan.name}{medium.suffix}.{kind}"
        for d in drawn
        for medium in (style.COLUMN, style.WIDE)
        for kind in PAPER_FORMATS
    ]


def _saved(plan, context, medium, folder, kinds, kept):
    """(its Page on that medium, {kind: bytes} of `kinds`, which are written, and of `kept`)."""
    module = importlib.import_module("." + plan.module, __package__)
    draw = lambda: module.draw(plan.setting, plan.gpus, replace(context, medium=medium))
    # Their ids differ, so that one page can hold them all.
    ids = {"svg.hashsalt": f"feedrate.{plan.name}.{medium.name}"}
    data, page = rendered(draw, medium, dict.fromkeys([*kinds, *kept]), ids)
    for kind in kinds if page else ():
        output.write(os.path.join(folder, f"{plan.name}{medium.suffix}.{kind}"), data[kind])
    return page, data


def rendered(draw, medium, kinds, settings=()):
    """({kind: bytes}, the Page that draw() gives) in the medium's style, with further settings of
    matplotlib; ({}, None) where it gives none."""
    import matplotlib

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
