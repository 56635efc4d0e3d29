"""Figures drawn in this process, for tests that look at what is on them."""

import ledgers  # noqa: F401 (it puts scripts/ on the path)
import matplotlib
from report.claims import claims
from report.figures import figures, findings
from report.figures.context import Context
from report.ledger import settings
from report.look import style


def context_of(found, medium="SHEET"):
    context = Context("run/ledger", "0.1.0", medium=getattr(style, medium))
    context.claims = claims.of(found)
    return context


def page(module, records, gpus=None, medium="SHEET", attach=None):
    """The page of the first setting of these records; None where the module draws none."""
    found = settings.group(records)
    for setting in found:
        if attach:
            attach(setting)
    return in_style(lambda: module.draw(found[0], gpus, context_of(found, medium)), medium)


def in_style(draw, medium="SHEET"):
    """draw() with the report's settings, in the font that matplotlib carries."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(style.rc(getattr(style, medium)))
        matplotlib.rcParams["font.family"] = "DejaVu Sans"
        return draw()


def claim(module, records, gpus=None, attach=None):
    found = settings.group(records)
    for setting in found:
        if attach:
            attach(setting)
    name = module.__name__.rpartition(".")[2]
    plan = figures.Plan("", name, found[0], gpus, "")
    return findings.headline(plan, claims.of(found))


def texts(owner):
    """All words that a page or an axes shows, in the order in which they were written; of a page
    its axes' as well."""
    axes = owner.figure.axes if hasattr(owner, "caption") else [owner]
    found = [] if axes == [owner] else [t.get_text() for t in owner.figure.texts]
    for ax in axes:
        found += [t.get_text() for t in [*ax.texts, *ax.get_xticklabels(), *ax.get_yticklabels()]]
        found += [ax.get_xlabel(), ax.get_ylabel(), ax.get_title(loc="left")]
    return [words.replace(r"\$", "$") for words in found if words]


def points(ax):
    """Lines that hold a single point: (x, y, colour of its rim, colour of its face, its link)."""
    return [
        (
            float(line.get_xdata()[0]),
            float(line.get_ydata()[0]),
            line.get_markeredgecolor(),
            line.get_markerfacecolor(),
            line.get_url(),
        )
        for line in ax.lines
        if len(line.get_xdata()) == 1
    ]
