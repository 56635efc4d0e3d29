"""Cold and warm runs of one cell, told apart by their records alone; and runs that another program
makes a lie of, which must be told."""

import json
import os
import random
import subprocess

import page_cache

COUNT = 512
CELL = [
    *("--data", "jpeg", "--image-size", "224", "--no-ceiling", "--json"),
    *("--device", "emulated:250", "--batch-size", "16"),  # one pass takes two seconds
    *("--warmup-seconds", "0.2", "--max-warmup-seconds", "0.5"),
    *("--min-seconds", "1", "--min-steps", "10"),
]
# A record's evidence: at most this share of the files in memory at the start, and at least this
# share of the bytes from storage; for warm files the other way round. The flags know no other.
LITTLE, MOST, WARM = 0.05, 0.8, 0.95
# What is asked for, what another program does meanwhile, what the record must tell, and how many
# runs of it there are: at full size, with --small.
KINDS = {
    "cold": ("cold", None, "cold", 25, 3),
    "cold, and warmed again in the middle": ("cold", page_cache.warm_in_the_middle, None, 25, 3),
    "warm": ("warm", None, "warm", 50, 4),
    "a lie: cold, and warmed once it was prepared": (
        "cold",
        page_cache.warm_once_prepared,
        None,
        7,
        2,
    ),
    "a lie: cold, and kept warm throughout": ("cold", page_cache.warm_all_the_time, None, 6, 2),
    "a lie: warm, and dropped throughout": ("warm", page_cache.drop_all_the_time, None, 7, 2),
}


class Runs:
    def __init__(self, options, folder):
        self.program = os.path.abspath(options.program)
        self.data = os.path.join(folder, "data")
        words = ("--count", str(COUNT), "--format", "jpeg", "--image-size", "224")
        subprocess.run(
            [self.program, "gen", self.data, *words], check=True, stdout=subprocess.DEVNULL
        )
        self.files = page_cache.samples_of(os.path.join(self.data, "jpeg"))

    def record(self, state, other):
        """Of a run in that state of the page cache, with the other program beside it."""
        process = subprocess.Popen(
            [self.program, "run", "--dataset", self.data, *CELL, "--page-cache", state],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        with page_cache.meanwhile(other(self.files) if other else lambda over: None):
            out, err = process.communicate()
        if not out:
            raise AssertionError(f"a {state} run gave no record: {err}")
        return json.loads(out)


def _needed(record):
    return sum(stage["bytes"] for stage in record["stages"] if stage["name"] == "read")


def _from_storage(record):
    """Share of the bytes needed that the process itself got from storage; -1 where unknown."""
    fetched = record["monitors"]["storage_read_bytes"]
    return -1 if fetched < 0 else fetched / max(_needed(record), 1)


def _told(record):
    """What the evidence in the record makes of the run."""
    if record["status"] != "ok":
        return "refused"
    before, share = record["dataset"]["page_cache_before"], _from_storage(record)
    if 0 <= before <= LITTLE and share >= MOST:
        return "cold"
    return "warm" if before >= WARM and 0 <= share <= LITTLE else "neither"


def _is_flagged(record):
    return any(
        flag["name"] == "page_cache" and flag["severity"] == "serious" for flag in record["flags"]
    )


def _span(values):
    values = sorted(values)
    if not values:
        return "-"
    return f"{100 * values[0]:.1f} to {100 * values[-1]:.1f} %"


def _row(kind, records):
    told = [_told(record) for record in records]
    ok = [record for record in records if record["status"] == "ok"]
    cells = [
        kind,
        len(records),
        *(told.count(word) for word in ("cold", "warm", "neither", "refused")),
        sum(map(_is_flagged, ok)),
        _span([record["dataset"]["page_cache_before"] for record in ok]),
        _span([_from_storage(record) for record in ok]),
    ]
    return "| " + " | ".join(map(str, cells)) + " |"


def _misses(kind, wanted, records):
    """What is not as it must be: an honest run is told as what it is, without a serious flag; any
    other is not told as what it says, and is flagged or refused."""
    state = KINDS[kind][0]
    told = [(_told(record), _is_flagged(record)) for record in records]
    if wanted:
        wrong = [t for t in told if t != (wanted, False)]
        return [f"{kind}: {len(wrong)} of {len(told)} not told so, or flagged"] if wrong else []
    taken = sum(t == state for t, _ in told)
    unflagged = sum(not flagged and t != "refused" for t, flagged in told)
    return [f"{kind}: {taken} of {len(told)} told as {state}"] * bool(taken) + [
        f"{kind}: {unflagged} of {len(told)} neither flagged nor refused"
    ] * bool(unflagged)


def _words(records, *path):
    """The different words that the records have there."""
    found = set()
    for record in records:
        for key in path:
            record = record.get(key) if isinstance(record, dict) else None
        found.add(str(record))
    return ", ".join(f"`{word}`" for word in sorted(found - {"None"})) or "nothing"


def run(options, folder):
    """All kinds in a shuffled order."""
    runs, chance = Runs(options, folder), random.Random(1)
    if not page_cache.can_be_dropped(runs.files):
        print("Not possible here: this file system keeps its files in memory. Set TMPDIR.")
        return []
    order = [
        kind
        for kind, (*_, full, small) in KINDS.items()
        for _ in range(small if options.small else full)
    ]
    chance.shuffle(order)
    found = {kind: [] for kind in KINDS}
    for kind in order:
        state, other, *_ = KINDS[kind]
        found[kind].append(runs.record(state, other))
    print(
        "| runs | how many | told cold | told warm | told neither | refused | flagged `page_cache`,"
        " serious | in the page cache at the start | of the bytes needed, from storage |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    )
    missed = []
    for kind, records in found.items():
        print(_row(kind, records))
        missed += _misses(kind, KINDS[kind][2], records)
    everything = [record for records in found.values() for record in records]
    print(
        f"\nFiles dropped by {_words(everything, 'dataset', 'page_cache_method')} and looked at by"
        f" {_words(everything, 'dataset', 'page_cache_look', 'by')}, on"
        f" {_words(everything, 'environment', 'file_system', 'type')}."
    )
    return missed
