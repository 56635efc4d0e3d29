"""Writes the report's files, each whole or not at all."""

from __future__ import annotations

import argparse
import io
import os
import re
import tempfile

from . import interrupts
from .errors import ReportError

FORMATS = ("pdf", "svg", "png")
TEMPORARY = ".report-"  # how a file begins that is not whole yet
# No dates in the files: the same ledger gives the same bytes.
METADATA = {"pdf": {"CreationDate": None, "ModDate": None}, "svg": {"Date": None}, "png": {}}


def add_options(parser, default):
    """Those of every command that writes figures."""
    words = f"where to write (default: {default})"
    parser.add_argument("-o", "--output", metavar="DIR", help=words)
    words, usual = "figure formats (default: pdf,svg,png)", "pdf,svg,png"
    parser.add_argument("--formats", default=usual, type=_formats, help=words)


def _formats(text):
    names = text.split(",")
    if not set(names) <= set(FORMATS):
        raise argparse.ArgumentTypeError(f"{text!r}: choose from pdf, svg, png")
    return names


def write(path, data):
    """Atomically: a reader sees the old file or the new one, never half of it."""
    folder = os.path.dirname(path) or "."
    interrupts.sweep(folder, TEMPORARY)
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=interrupts.prefix(TEMPORARY), dir=folder)
    except OSError as error:
        raise ReportError(
            folder,
            error.strerror or "cannot be written",
            "make it writable, or name another folder with --output",
        )
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except OSError as error:
        raise ReportError(path, error.strerror or "cannot be written", "free some space")
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


def make_folder(folder):
    try:
        os.makedirs(folder, exist_ok=True)
        interrupts.sweep(folder, TEMPORARY)  # forks write there, too
    except OSError as error:
        raise ReportError(
            folder, error.strerror or "cannot be made", "name another folder with --output"
        )


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def figure_bytes(figure, kind, dpi):
    """The figure as PDF, SVG or PNG."""
    stream = io.BytesIO()
    # half the time of 6, 3 % more bytes
    packing = {"pil_kwargs": {"compress_level": 4}} if kind == "png" else {}
    figure.savefig(stream, format=kind, dpi=dpi, metadata=METADATA[kind], **packing)
    return stream.getvalue()


def remove_stale(folder, stems, written):
    """Figures of an earlier report that this ledger no longer gives; nothing else in the folder."""
    names = "|".join(map(re.escape, stems))
    ours = re.compile(rf"(?:{names})(?:\.[\w.-]+)?\.(?:pdf|svg|png)")
    for name in os.listdir(folder):
        if ours.fullmatch(name) and name not in written:
            os.unlink(os.path.join(folder, name))
