"""The kernels of a step by group, from a trace of `run --trace-operators`, beside what they took on
an H200 before docs/gpu.md's changes and what that page expects of them since."""

import collections
import gzip
import json
import re

# Group, its kernels by a part of their names (the first that fits), ms a step in
# results/reference/h200/step.trace.json.gz, and what docs/gpu.md, "Changed since", expects.
GROUPS = [
    ("statistics of batch normalisations", r"batch_norm::SumDeviations", 2.10, "1.55 to 1.7"),
    ("totals of their sums", r"batch_norm::Finish", 0.40, "0.27"),
    ("max pooling, with its batch normalisation", r"[Pp]ool", 2.67, "0.7"),
    ("their other passes", r"models::batch_norm|batch_norm::", 12.28, "10.4"),
    ("memset nodes, or kernels in their place", r"Memset|memset|FillRows", 0.18, ""),
    ("SGD and the copies of its weights", r"multi_tensor_apply|Sgd|sgd", 0.27, "0.3"),
    (
        "convolutions, classifier, padding",
        r"xmma|cutlass|nvjet|cublas|Padding|nchw|nhwc|implicit_gemm|splitK",
        15.58,
        "13.6 to 14.1",
    ),
]
REST = "the rest"
KERNELS_ROW = "operators: stream"  # how the name of a row of kernels begins
HOST = re.compile(r"^cuda[A-Z]|^Activity|^INVALID")


def events_of(file):
    opened = gzip.open if str(file).endswith(".gz") else open
    with opened(file, "rt") as text:
        trace = json.load(text)
    return trace["traceEvents"] if isinstance(trace, dict) else trace


def group_of(name):
    return next((group for group, part, *_ in GROUPS if re.search(part, name)), REST)


def ms_a_step(file):
    """({group: ms}, ms between the kernels, both of a step) of the steps that a trace takes apart;
    nothing where it holds no kernels."""
    events = events_of(file)
    rows = {
        (e["pid"], e["tid"])
        for e in events
        if e.get("name") == "thread_name" and e["args"]["name"].startswith(KERNELS_ROW)
    }
    kernels = sorted(
        (e["ts"], e["dur"], e["name"])
        for e in events
        if e.get("ph") == "X" and (e["pid"], e["tid"]) in rows and not HOST.search(e["name"])
    )
    steps = sum("nll_loss_forward" in name for _, _, name in kernels)  # each has one loss
    if not steps:
        return {}, 0.0
    groups = collections.Counter()
    for _, duration, name in kernels:
        groups[group_of(name)] += duration / 1000 / steps
    begins, ends = kernels[0][0], max(start + duration for start, duration, _ in kernels)
    return dict(groups), max(0.0, (ends - begins) / 1000 / steps - sum(groups.values()))


def rows(file):
    """[group, ms a step, ms before on an H200, ms expected], the largest first."""
    found, gaps = ms_a_step(file)
    known = {group: (before, expected) for group, _, before, expected in GROUPS}
    lines = [
        [group, f"{ms:.2f}", *known.get(group, ("", ""))]
        for group, ms in sorted(found.items(), key=lambda one: -one[1])
    ]
    return lines + ([["between the kernels", f"{gaps:.2f}", "", ""]] if found else [])
