"""Every figure in every medium, of ledgers that give each of them much to say."""

import importlib
import os
import tempfile
from types import SimpleNamespace

import diagnoses
import drawn
import sound
from ledgers import axes, gpu, read_more, record
from report.claims import diagnosis_file
from report.compare import compare, verdicts
from report.figures import figures
from report.ledger import settings, trace
from test_latency import sweep as with_steps
from test_marks import SERIOUS
from test_trace_figures import Made, text_of
from test_utilisation import search

MEDIA = ("SHEET", "COLUMN", "WIDE")
KINDS = (("tensor", 990.0), ("jpeg", 700.0), ("png", 420.0), ("bmp", 985.0))
SIZES = ("224x224", "320x240", "500x375", "1024x768")
READS = {"median": 25.0, "p90": 35.0, "p99": 52.0, "p999": 90.0}


def rich():
    """Kinds of data, stored sizes, workers, GPUs; a cell is invalid, one is missing, the ceiling
    drifts."""
    records = []
    for n in range(4):
        off = 1 + 0.004 * (n % 3 - 1)
        for count in (1, 2):
            for place in (0, 1):
                rate = 1000.0 * count * off * (1 + 0.02 * place)
                records.append(record(axes(gpus=count), rate, n, "ceiling", place=place))
            for data, rate in KINDS:
                for i, size in enumerate(SIZES if data != "tensor" else (None,)):
                    for workers in (1, 2, 4):
                        share = rate * count * off * min(workers, 2) / 2 / (1 + 0.2 * i)
                        cell = axes(data, gpus=count, workers=workers, **{"image-size": size})
                        records.append(record(cell, share, n))
    for one in records:
        cell = one["cell"]
        read_more(one, gpus=cell["gpus"])
        one["io"] = {"latency_us": dict(READS)}
        if (cell["data"], cell["image-size"], cell["workers"]) == ("bmp", "500x375", 2):
            one.update(flags=[SERIOUS], valid=False)
    gone = axes("png", workers=8, **{"image-size": "500x375"})
    return records + [record(gone, None, n, status="failed", error="gone") for n in range(4)]


def busy():
    """Steps one by one, and devices that seem busier than they are fast."""
    records = with_steps(png=510.0, jpeg=950.0, reads=READS)
    for one in records:
        share = {"png": 0.98, "jpeg": 0.96}.get(one["cell"]["data"], 1.0)
        one["ranks"] = [{"rank": 0, "gpu": {**gpu(), "utilisation_percent": [100 * share] * 8}}]
    return records


def named():
    """Cells with long names, one of which loses."""
    records = []
    for n in range(3):
        off = 1 + 0.004 * (n - 1)
        records.append(record(axes(), 1000.0 * off, n, "ceiling"))
        for cache in ("none", "encoded", "decoded", "sample", "host", "device"):
            for size in ("256x256", "1024x1024"):
                more = {"cache": cache, "image-size": size, "augment": "mask-color-crop-last"}
                rate = 600.0 if (cache, size) == ("encoded", "1024x1024") else 998.0
                records.append(record(axes("jpeg", **more), rate * off, n))
    for one in records:
        one["io"] = {"latency_us": dict(READS)}
    return records


def pages():
    """[((figure, ledger, GPUs, medium), Page), …]"""
    ledgers = {"rich": rich(), "busy": busy(), "named": named(), "search": search()}
    ledgers["diagnosed"] = diagnoses.records()
    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = diagnoses.write(folder, diagnoses.diagnosis())
        for name, records in ledgers.items():
            grouped = settings.group(records)
            if name == "diagnosed":
                diagnosis_file.attach(grouped, path)
            for plan in figures.plan(grouped):
                module = importlib.import_module("report.figures." + plan.module)
                for medium in MEDIA:
                    page = _page(module, plan, grouped, medium)
                    if page:
                        found.append(((plan.module, name, plan.gpus, medium), page))
        return found + _compared(folder) + _traced(folder)


def _page(module, plan, grouped, medium):
    context = drawn.context_of(grouped, medium)
    return drawn.in_style(lambda: module.draw(plan.setting, plan.gpus, context), medium)


def _compared(folder):
    from report.compare import comparison

    rates = {"ceiling": [1000.0] * 4, "png": [500.0, 502.0, 498.0, 501.0]}
    rates |= {"jpeg": [400.0, 401.0, 399.0, 402.0], "bmp": [600.0, 640.0, 560.0, 610.0]}
    slower = {**rates, "png": [400.0, 401.0, 398.0, 402.0]}
    sides = []
    for name, of, day in (("a", rates, "20"), ("b", slower, "21")):
        made = sound.sweep(of, f"2026-11-{day}T08:00:00Z")
        sides.append(compare._read(sound.folder(folder, name, made)))
    rules = verdicts.Rules()
    (found,) = verdicts.compare([compare._pairs(*sides, rules)], rules)
    pages = []
    for medium in MEDIA:
        context = drawn.context_of([], medium)
        draw = lambda context=context: comparison.draw(*sides, found, rules, context)
        pages.append((("comparison", "two", None, medium), drawn.in_style(draw, medium)))
    return pages


def _traced(folder):
    from report.figures import batch_life, timeline

    path = os.path.join(folder, "trace.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text_of(Made(longer=(21,))))
    found, options = trace.read([path]), SimpleNamespace(batch=None, at=None, steps=10)
    pages = []
    for module in (batch_life, timeline):
        draw = lambda module=module: module.draw(found, found.ranks, options, drawn.context_of([]))[
            0
        ]
        name = module.__name__.rpartition(".")[2]
        pages.append(((name, "trace", None, "SHEET"), drawn.in_style(draw)))
    return pages
