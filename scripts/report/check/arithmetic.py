"""Checks whether a record's numbers agree with each other. Each check yields a line for every
disagreement. It skips what an older version did not write yet, except the core of a
measurement."""

from __future__ import annotations

import datetime
import math

from ..ledger import intervals, ledger, pairs, shares, statistics
from ..ledger.ledger import EXACT, number

CORE = ("steps", "images", "window_s", "step_ms", "data_wait_ms", "device_idle_fraction")
# milliseconds are written to 0.001, and a quantile of rounded values is rounded again
MS = 0.0011
RAW_KEPT = 5000
BUSY_CPUS = 0.85  # from this utilisation on, the CPUs come before the loader


def problems(record):
    """All lines for a record that ledger.scan() found sound."""
    found = _all(ALWAYS, record)
    if record["status"] != "ok":
        return found
    lacking = [key for key in CORE if record.get(key) is None]
    if lacking:
        return found + [f"status is ok, but {_named(lacking)} missing"]
    odd = [key for key in ("steps", "images", "window_s") if not ledger.positive(record[key])]
    if odd:
        return found + [f"status is ok, but {_named(odd)} not above zero"]
    return found + _unwritten(record) + _all(MEASURED, record)


def _named(keys):
    """ "a is", "a, b are"."""
    return f"{', '.join(keys)[:200]} {'is' if len(keys) == 1 else 'are'}"


def _all(checks, record):
    found = []
    for check in checks:
        try:
            found += check(record)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            # A field of a kind that no feedrate writes: the other checks must not suffer from it.
            name = check.__name__.strip("_")
            found.append(f"{name} cannot be checked, a field is of the wrong kind ({error})")
    return found


def started(record):
    """The moment as a datetime, None where there is none to read."""
    try:
        return datetime.datetime.strptime(str(record.get("started_at")), "%Y-%m-%dT%H:%M:%SZ")
    except ValueError:
        return None


def _unwritten(record):
    """The fields that every ok record holds from schema 3 on, and that are missing or of the wrong
    kind in this one."""
    if not ledger.since(record, 3):
        return []
    found, is_synthetic = {}, record["cell"]["data"] == "synthetic"
    for path, kind in WRITTEN.items():
        value = ledger.part(record, *path.split("."))
        sound = number(value) is not None if kind is float else isinstance(value, kind)
        if not sound and not (value is None and is_synthetic and path.startswith("dataset.")):
            found[path] = kind
    ranks = record.get("ranks") if isinstance(record.get("ranks"), list) else []
    each = all(isinstance(rank, dict) and "gpu" in rank for rank in ranks)
    if not each or len(ranks) != (record["cell"].get("gpus") or 1):
        found["ranks"] = list
    return [f"status is ok, but {_named(found)} missing or of another kind"] if found else []


# What src/ledger/record.cpp always writes of a run that ended well; of a ceiling, nothing of a
# dataset.
LIMITS = ("warmup_seconds", "max_warmup_seconds", "min_seconds", "max_seconds", "min_steps")
MONITORS = ("usable_cpus_other_processes", "storage_read_bytes", "stopped_s", "suspended_s")
NUMBERS = (
    "bad_samples seed queue.drawn_fraction queue.rank device_rate.imgs_per_s cpu_wait_s"
    " threads.loader threads.cpus threads.cpu_capacity dataset.bytes dataset.page_cache_before"
).split()
WRITTEN = {
    **dict.fromkeys(("flags", "stages", "capacities", "ranks"), list),
    **dict.fromkeys(("device_idle_ms", "environment"), dict),
    **dict.fromkeys(("verdict", "device.kind", "device.name"), str),
    **dict.fromkeys(("dataset.manifest_xxh3", "dataset.page_cache"), str),
    "dataset.fits_in_memory": bool,
    **dict.fromkeys(NUMBERS, float),
    **{f"limits.{name}": float for name in LIMITS},
    **{f"monitors.{name}": float for name in (*shares.MONITORS, *MONITORS)},
}


def _status(record):
    status, error = record["status"], record.get("error")
    # who interrupted it knows why
    if status != "interrupted" and (status == "ok") != (not error):
        yield f"status is {status}, and error {'is null' if not error else 'is not null'}"
    if status in ("failed", "interrupted") and record.get("imgs_per_s") is not None:
        yield f"status is {status}, but there is an imgs_per_s"
    due = ledger.valid_by_flags(record)
    if record.get("valid", due) != due:
        stated, due = (str(value).lower() for value in (record["valid"], due))
        yield f"valid is {stated}, but status and flags make it {due}"
    if started(record) is None:
        moment = str(record.get("started_at"))[:40]
        yield f"started_at {moment!r} is no UTC time (YYYY-MM-DDTHH:MM:SSZ)"


def _role(record):
    is_synthetic = record["cell"]["data"] == "synthetic"
    if (record["role"] == "ceiling") != is_synthetic:
        yield f"role is {record['role']}, but data is {record['cell']['data'][:40]}"
    has_none = record.get("dataset") is None
    if record["status"] == "ok" and "dataset" in record and has_none != is_synthetic:
        data = "the data is synthetic" if is_synthetic else "the data is not synthetic"
        yield f"{'dataset is null' if has_none else 'there is a dataset'}, but {data}"


def _rate(record):
    rate, window = record["imgs_per_s"], record["window_s"]
    steps, images = record["steps"], record["images"]
    gpus, batch = record["cell"].get("gpus") or 1, record["cell"]["batch-size"]
    whole = window if ledger.since(record, 3) else None
    if images != steps * batch * gpus:
        yield f"images is {images}, steps × batch size × GPUs is {steps * batch * gpus:g}"
    # Before schema 3, window_s was the window of the first rank. The windows of the ranks do not
    # begin and end at the same instant: they differ by one step at most.
    slack = 0 if gpus == 1 or whole else _part(record["step_ms"], "max", 0) / 1e3
    if abs(images / rate - window) > slack + EXACT * window:
        yield f"imgs_per_s is {rate:.8g}, images / window_s is {images / window:.8g}"
    mean, first = _part(record["step_ms"], "mean"), ledger.first_window(record)
    if mean is not None and abs(mean - 1e3 * first / steps) > MS:
        yield f"step_ms.mean is {mean}, window_s × 1000 / steps is {1e3 * first / steps:.3f}"


def _ranks(record):
    """Each rank's rate by its own window, and who waits for whom."""
    ranks = record.get("ranks")
    if not ledger.since(record, 3) or not isinstance(ranks, list):
        return
    images = record["steps"] * record["cell"]["batch-size"]  # of each
    gpus = record["cell"].get("gpus") or 1
    if [r.get("rank") for r in ranks] != list(range(gpus)):
        yield f"ranks are {[r.get('rank') for r in ranks]}, there are {gpus} GPUs"[:160]
        return
    # The windows of the ranks, and of each block, do not begin and end at the same instant.
    blocks = len(record["pairs"]["cell_s"]) if ledger.in_pairs(record) else 1
    apart = blocks * _part(record["step_ms"], "max", 0) / 1e3
    for rank in ranks:
        n, rate, window = rank["rank"], number(rank.get("imgs_per_s")), number(rank.get("window_s"))
        if not rate or not window or abs(rate * window / images - 1) > EXACT:
            due = images / window if window else None
            yield f"ranks[{n}].imgs_per_s is {rate}, its images / window_s is {due}"
        if window and abs(window - record["window_s"]) > apart + EXACT:
            far = f"that of all ranks {record['window_s']}: more than a step apart"
            yield f"ranks[{n}].window_s is {window}, {far}"
    waits, own = _part(ranks[0], "data_wait_ms_mean"), _part(record["data_wait_ms"], "mean")
    if waits is not None and own is not None and abs(waits - own) > MS:
        yield f"ranks[0].data_wait_ms_mean is {waits}, data_wait_ms.mean is {own}"
    yield from _straggler(record, ranks)


def _straggler(record, ranks):
    sync = sorted((number(r.get("sync_ms_mean")) or 0.0, r["rank"]) for r in ranks)
    stated = record.get("straggler")
    behind = sync[len(sync) // 2][0] - sync[0][0] if len(sync) > 1 else 0.0
    least = 0.05 * _part(record["step_ms"], "mean", 0.0)
    rank, wait = sync[0][1], f"{behind:.3f} ms"
    if stated is None:
        if len(sync) > 1 and behind > least + 2 * MS:
            yield f"straggler is null, rank {rank} keeps the others waiting for {wait}"
    elif behind < least - 2 * MS:
        yield "there is a straggler, the ranks' sync_ms_mean show none"
    elif (
        _part(stated, "rank") != rank
        and behind > 2 * MS
        or abs(_part(stated, "others_wait_ms", -1) - behind) > 2 * MS
    ):
        due = f"the ranks' sync_ms_mean make it rank {rank}, {wait}"
        yield f"straggler is {str(stated)[:80]}, {due}"


def _counts(record):
    """What follows from the axes, or by counting."""
    if not ledger.since(record, 3):
        return
    threads, data, queue = (
        ledger.object_at(record, key) for key in ("threads", "dataset", "queue")
    )
    gpus = record["cell"].get("gpus") or 1
    workers = (record["cell"].get("workers") or 0) * gpus
    if "loader" in threads and threads["loader"] != workers:
        yield f"threads.loader is {threads['loader']}, workers × GPUs is {workers}"
    of_host = {}
    for rank in record.get("ranks") or []:
        if isinstance(rank, dict) and rank.get("host"):
            of_host.setdefault(rank["host"], set()).update(_cpu_list(str(rank.get("cpus"))))
    cpus = sum(map(len, of_host.values()))
    if of_host and "cpus" in threads and threads["cpus"] != cpus:
        yield f"threads.cpus is {threads['cpus']}, the ranks may use {cpus}"
    capacity = number(threads.get("cpu_capacity"))
    if capacity is not None and not 0 < capacity <= threads.get("cpus", 0):
        yield f"threads.cpu_capacity is {capacity}, threads.cpus {threads.get('cpus')}"
    drawn_rank = number(queue.get("rank"))
    if drawn_rank is not None and drawn_rank not in range(gpus):
        yield f"queue.rank is {drawn_rank}, there are {gpus} GPUs"
    yield from _drawn_mean(queue, gpus)
    samples, mean = data.get("samples"), data.get("mean_bytes")
    if ledger.positive(samples) and mean != (due := data.get("bytes", 0) // samples):
        yield f"dataset.mean_bytes is {mean}, bytes / samples is {due}"


def _drawn_mean(queue, gpus):
    """The mean of all ranks is no further from 0 than the worst rank's; of one rank it is that."""
    mean, worst = number(queue.get("drawn_mean")), number(queue.get("drawn_fraction"))
    if mean is None or worst is None:  # an older feedrate's
        return
    if abs(mean - worst) > EXACT if gpus == 1 else abs(mean) > abs(worst) + EXACT:
        yield f"queue.drawn_mean is {mean:.6g}, queue.drawn_fraction of {gpus} GPUs {worst:.6g}"


# The percentiles of a read's latency, with the share of all reads that each covers.
PERCENTILES = {"median": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999, "max": 1.0}

# How the files were dropped, by what the page cache stood for; None: they were not.
METHODS = {"cold": ("drop_caches", "fadvise"), "bypassed": ("bypassed",)}


def _page_cache(record):
    """The words about the page cache, and how many files were looked at."""
    dataset = ledger.object_at(record, "dataset")
    if "page_cache_method" not in dataset:  # an older feedrate's
        return
    told, method = dataset.get("page_cache"), dataset["page_cache_method"]
    if method not in METHODS.get(told, (None,)):
        state = f"dataset.page_cache {str(told)[:40]}"
        yield f"dataset.page_cache_method is {str(method)[:40]}, {state}"
    if dataset.get("page_cache_scope") not in (("host", "client") if told else (None,)):
        yield f"dataset.page_cache_scope is {str(dataset.get('page_cache_scope'))[:40]}"
    if (look := dataset.get("page_cache_look")) is not None:
        files, of = _part(look, "files"), _part(look, "of")
        if None in (files, of) or not 0 < files <= of <= (number(dataset.get("samples")) or 0):
            yield f"dataset.page_cache_look is of {files} of {of} files: {dataset.get('samples')}"


def _io(record):
    """What a record says of its reads."""
    io = record.get("io")
    if not isinstance(io, dict):
        return
    reads, window = number(io.get("reads")), number(record.get("window_s"))
    rate = number(io.get("reads_per_s"))
    if None in (reads, window, rate) or reads <= 0 or window <= 0:
        yield "io has no reads, or no rate of them"
        return
    if abs(rate - reads / window) > 2 * MS + 1e-6 * rate:
        yield f"io.reads_per_s is {rate}, reads / window_s is {reads / window:.3f}"
    stages = [s for s in record.get("stages") or [] if isinstance(s, dict)]
    read = sum(number(s.get("bytes")) or 0 for s in stages if s.get("name") == "read")
    stated = number(io.get("bytes_per_s"))
    if stated is None or abs(stated - read / window) > 1 + 1e-6 * read / window:
        yield f"io.bytes_per_s is {stated}, bytes read / window_s is {read / window:.0f}"
    late = number(io.get("seen_late", 0))  # older records have none
    if late is None or not 0 <= late <= reads:
        yield f"io.seen_late is {str(io['seen_late'])[:40]} of {reads:g} reads"
        return
    for key, unknown in (("latency_us", late), ("open_us", 0)):
        if io.get(key) is not None:
            yield from _percentiles(f"io.{key}", io[key], reads, unknown)


def _percentiles(name, stated, reads, unknown):
    """`unknown`: of the reads, how many took nobody knows how long. They may be longer than all
    others, so that a percentile may be null, or has to be."""
    found = {q: _part(stated, part) for part, q in PERCENTILES.items()}
    known = [value for value in found.values() if value is not None]
    if known != sorted(known) or min(known, default=0) < 0:
        yield f"{name} is not in order: {str(stated)[:80]}"
    elif unknown == 0 and None in found.values():
        yield f"{name} lacks a percentile, and all reads are known: {str(stated)[:80]}"
    elif any(v is not None and unknown > (1 - q) * reads + 1e-6 for q, v in found.items()):
        yield f"{name} has a percentile that {unknown:g} reads seen late hide: {str(stated)[:80]}"


def _cpu_list(text):
    """The numbers of a list such as "0-3,8". Raises ValueError for any other text."""
    found = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        if not 0 <= int(first) <= int(last or first) < 1 << 16:
            raise ValueError(text[:40])
        found.update(range(int(first), int(last or first) + 1))
    return found


def _place(record):
    """Whether its position is one that its role can have."""
    place = record.get("place", 0)
    if place not in ((0, 1) if record["role"] == "ceiling" else (0,)) or isinstance(place, float):
        yield f"place is {str(place)[:20]}: 0, or 1 for the ceiling that closes a repetition"


def _search(record):
    """Each run of a search reads the samples in an order of its own."""
    search = record.get("search")
    if search is None:
        return
    due = (search["base_seed"] + search["run"]) % 2**64
    if record.get("seed") != due:
        yield f"seed is {record.get('seed')}, base_seed and number of the run make it {due}"
    if record.get("order") != search["run"]:
        yield f"run {search['run']} of the search has the order {record.get('order')}"


def _jobs(record):
    """So does each run of `feedrate jobs`."""
    jobs = record.get("jobs")
    if jobs is None or "base_seed" not in jobs:  # older records say nothing of it
        return
    due = (jobs["base_seed"] + record.get("order")) % 2**64
    if record.get("seed") != due:
        yield f"seed is {record.get('seed')}, base_seed and order of the run make it {due}"


def _summaries(record):
    for key in ("step_ms", "data_wait_ms", "device_idle_ms"):
        if record.get(key) is not None:
            yield from (f"{key}: {line}" for line in _summary(record[key], record["steps"]))


def _summary(summary, steps):
    names = ("median", "p95", "p99", "max")
    values = [_part(summary, name) for name in (*names, "mean")]
    if None in values or min(values) < 0:
        yield "one of median, mean, p95, p99, max is missing or negative"
        return
    for i in range(3):
        if values[i] > values[i + 1] + MS:
            yield f"{names[i]} {values[i]} exceeds {names[i + 1]} {values[i + 1]}"
    raw = summary.get("raw")
    if not isinstance(raw, list) or any(number(v) is None for v in raw):
        yield "raw is not a list of numbers"
    elif len(raw) != min(steps, RAW_KEPT):
        yield f"raw holds {len(raw)} values of {steps} steps, {min(steps, RAW_KEPT):g} are kept"
    elif len(raw) < steps:
        if max(raw) > values[3] + MS:
            yield f"max is {values[3]}, raw holds {max(raw)}"
    else:
        ordered = sorted(raw)
        for name, stated, q in zip(names, values, (0.5, 0.95, 0.99, 1)):
            if abs(stated - intervals.quantile(ordered, q)) > MS:
                yield f"{name} is {stated}, that of raw is {intervals.quantile(ordered, q):.3f}"
        if abs(values[4] - sum(raw) / len(raw)) > MS:
            yield f"mean is {values[4]}, that of raw is {sum(raw) / len(raw):.3f}"


def _interval(record):
    stated = record.get("ci95")
    raw = ledger.raw(record, "step_ms")
    if stated is not None and not _is_interval(stated):
        yield f"ci95 {str(stated)[:60]} is no interval"
    elif stated is None and record["steps"] >= 2 * intervals.BLOCKS and ledger.drawn(record) < 1:
        yield f"ci95 is null, {record['steps']} steps give an interval"
    elif stated and len(raw) == record["steps"]:
        images = record["images"] / record["steps"]
        forms = [intervals.of_blocks(raw, images, nudge) for nudge in intervals.NUDGES]
        if not ledger.since(record, 3):
            forms.append(intervals.of_blocks_1(raw, images))
        else:
            forms = [intervals.widened(form, ledger.drawn(record)) for form in forms]
        if ledger.since(record, 4):
            forms = [_below_the_set_rate(form, record) for form in forms]
        yield from _is_none_of("ci95", stated, forms)


def _is_interval(value):
    is_pair = isinstance(value, list) and len(value) == 2 and None not in map(number, value)
    return is_pair and 0 < value[0] <= value[1]


def _is_none_of(name, stated, forms):
    """`forms`: [((low, high), slack), …], in any of which it may have been computed."""

    def is_close(ends, slack):
        return max(abs(math.log(value / end)) for value, end in zip(stated, ends)) <= slack

    if not any(is_close(*form) for form in forms):
        words = "{} is {:.6g} to {:.6g}, the steps in raw give {:.6g} to {:.6g}"
        yield words.format(name, *stated, *forms[0][0])


def _below_the_set_rate(interval, record):
    """Of an emulated device, but for one whose recorded steps differ."""
    device, step_ms = record["cell"]["device"], number(ledger.part(record, "device", "step_ms"))
    if not device.startswith("emulated") or device.startswith("emulated:trace=") or not step_ms:
        return interval
    (low, high), slack = interval
    most = 1e3 * record["images"] / record["steps"] / step_ms
    return (low, statistics.cut_at(most, low, high, record["imgs_per_s"])), slack


def _device_rate(record):
    """The rate without the steps' waiting, and its interval; and whether a cell has its
    ceiling's."""
    if not ledger.since(record, 3):
        return
    rate, idle = _part(record["device_rate"], "imgs_per_s"), number(record["device_idle_fraction"])
    busy = ledger.first_window(record) * (1 - idle)
    # the idle share and the steps are written to a microsecond each
    slack = 2 * MS * record["steps"] / max(1e3 * busy, 1e-9) + EXACT
    if rate and busy > 0 and abs(rate * busy / record["images"] - 1) > slack:
        worked = record["images"] / busy
        yield f"device_rate is {rate:.8g}, images / time not waited is {worked:.8g}"
    stated = ledger.part(record, "device_rate", "ci95")
    steps, waits = (ledger.raw(record, of) for of in ("step_ms", "device_idle_ms"))
    if stated and len(steps) == len(waits) == record["steps"]:
        worked = [a - b for a, b in zip(steps, waits)]
        images = record["images"] / record["steps"]
        forms = [intervals.of_blocks(worked, images, nudge) for nudge in intervals.NUDGES]
        forms = [(ends, 2 * slack) for ends, slack in forms]
        yield from _is_none_of("device_rate.ci95", stated, forms)
    if ("ceiling_imgs_per_s" in record) != ("ceiling_device_rate" in record):
        yield "one of ceiling_imgs_per_s and ceiling_device_rate is there without the other"


def _idle(record):
    share, mean = (
        number(record["device_idle_fraction"]),
        _part(record.get("device_idle_ms"), "mean"),
    )
    if share is not None and mean is not None:
        per_ms = record["steps"] / (1e3 * ledger.first_window(record))
        if abs(share - mean * per_ms) > MS * per_ms + EXACT:
            due = f"device_idle_ms.mean × steps / window is {mean * per_ms:.6g}"
            yield f"device_idle_fraction is {share:.6g}, {due}"
    pairs = zip(ledger.raw(record, "device_idle_ms"), ledger.raw(record, "step_ms"))
    late = [i for i, (idle, step) in enumerate(pairs) if idle > step + MS]
    if late:
        yield f"device_idle_ms exceeds step_ms at step {late[0]} of the window"


def _ceiling(record):
    ceiling, share = (record.get(key) for key in ("ceiling_imgs_per_s", "ceiling_fraction"))
    if ceiling is not None and not ledger.positive(ceiling):
        yield "ceiling_imgs_per_s is not a positive number"
    elif ledger.since(record, 3):
        named = [record.get(key) for key in ("ceiling_fraction", pairs.INTERVAL)]
        if not ledger.in_pairs(record) and named != [None, None]:
            yield "there is a ceiling_fraction, which is formed from whole repetitions alone"
        if ceiling is not None and record["role"] == "ceiling":
            yield "a ceiling has no ceiling_imgs_per_s"
    elif (ceiling is None) != (share is None):
        yield "one of ceiling_imgs_per_s and ceiling_fraction is there without the other"
    elif ceiling is not None and not ledger.positive(share):
        yield "ceiling_fraction is not a positive number"
    elif ceiling is not None and abs(share * ceiling / record["imgs_per_s"] - 1) > EXACT:
        due = f"imgs_per_s / ceiling_imgs_per_s is {record['imgs_per_s'] / ceiling:.8g}"
        yield f"ceiling_fraction is {share:.8g}, {due}"


def _capacities(record):
    known = [c for c in record.get("capacities") or [] if isinstance(c, dict)]
    known = [c for c in known if ledger.positive(c.get("imgs_per_s"))]
    for c in known:
        used, due = number(c.get("utilisation")), record["imgs_per_s"] / c["imgs_per_s"]
        if used is not None and abs(used / due - 1) > EXACT:
            what = f"capacities: utilisation of {str(c.get('resource'))[:40]}"
            yield f"{what} is {used:.6g}, imgs_per_s / its capacity is {due:.6g}"
    # a busy CPU stands before the loader that runs on it
    for i, (c, following) in enumerate(zip(known, known[1:])):
        is_busy = (number(c.get("utilisation")) or 0) >= BUSY_CPUS
        if c.get("resource") == "cpu" and following.get("resource") == "loader" and is_busy:
            del known[i]
            break
    rates = [c["imgs_per_s"] for c in known]
    if rates != sorted(rates):
        yield "capacities are not in order, the tightest first"


def _part(summary, name, otherwise=None):
    value = number(ledger.part(summary, name))
    return otherwise if value is None else value


ALWAYS = (_status, _role, _place, _search, _jobs)
MEASURED = (
    _rate,
    _summaries,
    _interval,
    _idle,
    _device_rate,
    _ceiling,
    pairs.blocks,
    _capacities,
    shares.within_limits,
    shares.series,
    _ranks,
    _counts,
    _io,
    _page_cache,
)
