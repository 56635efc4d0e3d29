"""Which figures the page has for a setting: [{stem, title, sentence, gpus, panels}], gpus None
where all counts are in it."""

from __future__ import annotations

from . import choice, html_bars, html_throughput, html_time

SENTENCES = {
    "throughput_vs_workers": (
        "Throughput against loader workers",
        (
            "Images per second of all GPUs together; dashed, with its band, the synthetic ceiling"
            " that the lines climb to. A line that rises wants more workers; one that is flat below"
            " the ceiling is held back by something else."
        ),
    ),
    "heat_map": (
        "Share of the ceiling by format and stored size",
        (
            f"Each format and size: {choice.RULE}. "
            "× is missing, not zero; an empty field: not asked for; * the ceiling drifted."
        ),
    ),
    "stages": (
        "Stage times against the step",
        (
            "What one worker spends on an image: solid is computing, hatched waiting (wall − CPU)."
            " The upright mark is the device's time per image at the ceiling × the workers: a bar"
            " that passes it limits the training."
        ),
    ),
    "disk_or_cpu": (
        "Disk or CPU",
        (
            "Upper bar: the workers' time by stage, solid computing, hatched waiting; what lacks to"
            " 100 % they had no room for another batch. Lower bar: the CPUs of the machine, busy"
            " with the run and with others, and idle with I/O outstanding (iowait). The diamond:"
            " how long some task waited for I/O."
        ),
    ),
    "bandwidth": (
        "Storage bandwidth",
        (
            "What the loader took in, and how much of it storage itself gave; the rest came out of"
            " the page cache."
        ),
    ),
    "throughput_vs_gpus": (
        "Throughput against GPUs",
        (
            "All GPUs together, each point at the workers chosen. Dotted: the straight line from"
            " the first point."
        ),
    ),
    "scaling_efficiency": (
        "Scaling efficiency",
        (
            "Images per second per GPU as a share of those with the fewest GPUs; the ratio is"
            " formed within each repetition."
        ),
    ),
}
AT_A_COUNT = {
    "throughput_vs_workers": html_throughput.over_workers,
    "heat_map": html_bars.heat_map,
    "stages": html_bars.stages,
    "disk_or_cpu": html_time.disk_or_cpu,
    "bandwidth": html_bars.bandwidth,
}
OVER_COUNTS = {
    "throughput_vs_gpus": html_throughput.over_gpus,
    "scaling_efficiency": html_throughput.efficiency,
}


def of(setting, cells, note):
    """All figures of the setting; one that trips over its numbers is told of and costs no other."""
    found = []
    for stem in SENTENCES:
        tasks = (
            [(n, lambda n=n: AT_A_COUNT[stem](setting, n, cells)) for n in setting.gpu_counts()]
            if stem in AT_A_COUNT
            else [(None, lambda: OVER_COUNTS[stem](setting, cells))]
        )
        for gpus, make in tasks:
            title, sentence = SENTENCES[stem]
            figure = {
                "stem": stem,
                "title": title,
                "sentence": sentence,
                "gpus": gpus,
                "panels": [],
                "failed": "",
            }
            try:
                figure["panels"] = make()
            except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
                figure["failed"] = f"could not be drawn: {type(error).__name__}"
                note(
                    f"index.html, {stem} could not be drawn: {type(error).__name__}: {error}; the"
                    " rest of the page is complete, please report it with the ledger"
                )
            if figure["panels"] or figure["failed"]:
                found.append(figure)
    return found
