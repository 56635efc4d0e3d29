"""What `capacity`, `diagnose` and `run` say of storage and machines where no sleep was planted."""

import contextlib
import json
import math
import mmap
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from . import conditions

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import slow_device  # noqa: E402

PICTURES = ("--count", "4096", "--format", "jpeg", "--image-size", "224")
CELL = ("--data", "jpeg", "--image-size", "224")
SHORT = ("--min-seconds", "3", "--warmup-seconds", "0.5", "--max-warmup-seconds", "2")
QUIET = 0.02  # of the CPUs: more steal, or other programs, and a case is measured again


class Case:
    """`place`: where the data lie and what goes on meanwhile, see PLACES; `words`: the command.
    `right`: what counts as right, fixed before anything was measured: (answer, truth) → bool."""

    def __init__(self, place, command, words, right, said):
        self.place, self.command, self.words = place, command, tuple(words)
        self.right, self.said = right, said

    @property
    def name(self):
        return f"{self.place}, {self.command}"


class Answer:
    """Text on stdout and stderr, the record or diagnosis of --json, where there is one."""

    def __init__(self, out, err, code, seconds):
        self.out, self.err, self.code, self.seconds = out, err, code, seconds
        self.json = None
        with contextlib.suppress(ValueError):
            self.json = json.loads(out)

    @property
    def flags(self):
        return {flag["name"] for flag in (self.json or {}).get("flags", [])}


# --- Places: each yields (the folder for the data, preexec_fn, the device or "").


@contextlib.contextmanager
def _folder(at=None):
    folder = tempfile.mkdtemp(prefix="feedrate-answers-", dir=at)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, True)


@contextlib.contextmanager
def slow(**what):
    with _folder() as at, slow_device.planted(at, size="1G", **what) as disk:
        yield at, None, disk.device
        disk.forget()


@contextlib.contextmanager
def memory():
    with _folder("/dev/shm") as at:
        yield at, None, ""


@contextlib.contextmanager
def quota(cpus):
    with _folder() as at, conditions.group(cpus) as (join, _):
        yield at, join, ""


@contextlib.contextmanager
def beside_a_program():
    with _folder() as at, conditions.neighbour(1):
        yield at, None, ""


@contextlib.contextmanager
def beside_a_reader(rate):
    """Another program reads the same device, past the page cache, all the time."""
    over = threading.Event()

    def read(device):
        while not over.is_set():
            subprocess.run(
                ["dd", f"if={device}", "iflag=direct", "of=/dev/null", "bs=256k", "count=64"],
                check=False,
                stderr=subprocess.DEVNULL,
            )

    with slow(bytes_per_second=rate) as (at, join, device):
        reader = threading.Thread(target=read, args=(device,))
        yield at, join, device, reader.start
        over.set()
        if reader.ident:
            reader.join()


@contextlib.contextmanager
def little_memory(megabytes):
    """A control group whose memory holds the program, but not the files beside it."""
    v1 = os.path.isdir("/sys/fs/cgroup/memory")
    root = "/sys/fs/cgroup/memory" if v1 else "/sys/fs/cgroup"
    group = tempfile.mkdtemp(prefix="feedrate-answers-", dir=root)

    def write(name, text):
        with open(os.path.join(group, name), "w", encoding="ascii") as file:
            file.write(text)

    write("memory.limit_in_bytes" if v1 else "memory.max", str(megabytes << 20))
    try:
        with _folder() as at:
            yield at, lambda: write("cgroup.procs", str(os.getpid())), ""
    finally:
        deadline = time.monotonic() + 5
        while os.path.isdir(group) and time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                os.rmdir(group)


# --- The truth, by another reader: whole files, so many at once, past the page cache.


def reads_per_second(files, at_once, seconds=3):
    """Of whole files in an order by chance."""
    order = random.Random(at_once).sample(files, len(files))
    end = time.monotonic() + seconds

    def read(path):
        if time.monotonic() > end:
            return 0
        file = os.open(path, os.O_RDONLY | os.O_DIRECT)
        try:
            size = os.fstat(file).st_size
            with mmap.mmap(-1, (size + 8191) // 4096 * 4096) as buffer:
                os.preadv(file, [buffer], 0)
        finally:
            os.close(file)
        return 1

    began = time.monotonic()
    with ThreadPoolExecutor(at_once) as pool:
        count = sum(pool.map(read, order))
    return count / (time.monotonic() - began)


def best_rate(data):
    """images/s, and how many reads at once gave it."""
    files = [
        os.path.join(at, n) for at, _, names in os.walk(data) for n in names if n[-4:] == ".jpg"
    ]
    rates = {n: reads_per_second(files, n) for n in (1, 4, 8, 16, 32, 64)}
    return max(rates.values()), rates


# --- What counts as right.


def fed_gpus(answer):
    """GPUs at 90 %, as `capacity` says it first."""
    found = re.search(r"AU of 90 % or more: (?:at least )?(\d+) GPU", answer.out)
    return int(found[1]) if found else None


def reached(answer):
    """The most images/s that a row of `capacity`'s table holds."""
    rows = re.findall(r"^ +\d+ +[\d.]+% +([\d,]+) ", answer.out, re.MULTILINE)
    return max((float(row.replace(",", "")) for row in rows), default=0)


def first_line(answer):
    return answer.out.split("\n", 1)[0]


def feeds_what_the_storage_gives(answer, truth):
    """0.9 of the best rate, the GPUs that follow from it, and the storage as what limits."""
    gpus, best = fed_gpus(answer), truth["best"]
    most, least = math.floor(1.1 * best / 90), math.floor(0.85 * best / 90)
    return (
        gpus is not None
        and least <= gpus <= most
        and reached(answer) >= 0.9 * best
        and re.search("limits[^\n]*: the storage", answer.out) is not None
    )


def feeds_some_or_names_this_machine(answer, _):
    return (fed_gpus(answer) or 0) > 0 or "this machine" in answer.out


def names_this_machine(answer, _):
    return "this machine" in answer.out and is_marked(answer, "cpu_quota")


def is_marked(answer, *flags):
    """A flag stands in the record or the diagnosis, or in the text of the answer."""
    if answer.json:
        return bool(answer.flags & set(flags))
    return any(flag in answer.out for flag in flags)


def marks(*flags):
    return lambda answer, _: is_marked(answer, *flags)


def verdict_of(answer):
    """Of a diagnosis."""
    verdict = (answer.json or {}).get("verdict")
    return verdict if isinstance(verdict, dict) else {}


def names(*right, flags=()):
    """The verdict names one of these alone and clearly; or is spoilt, and says so."""

    def is_right(answer, _):
        named = set(verdict_of(answer).get("names", []))
        is_named = bool(named) and named <= set(right) and verdict_of(answer).get("clear", False)
        return is_named and (not flags or is_marked(answer, *flags))

    return is_right


def waits_for(*words):
    """`run`: the device waits most of the time, and the verdict names what it waits for."""
    return lambda answer, _: (
        (answer.json or {}).get("device_idle_fraction", 0) > 0.3
        and any(word in str(answer.json["verdict"]) for word in words)
    )


def sure_and_wrong(answer, case, truth):
    confidence = verdict_of(answer).get("confidence") or 0
    return case.command == "diagnose" and confidence > 0.8 and not case.right(answer, truth)


# --- The cases.

CAPACITY = ("--device", "emulated:100", "--batch-size", "16", "--decoder", "raw-read")
DIAGNOSE = ("--device", "emulated:2400", "--batch-size", "32", "--budget", "45s", "--json")
DEEP = ("--io", "uring-direct", "--io-depth", "4", "--workers", "1")
RUN = ("--device", "emulated:2400", "--batch-size", "16", "--workers", "1", "--json", *SHORT)
IN_MEMORY = ("--io", "buffered", "--page-cache", "warm")

READS = ("read", "reads in flight", "storage")
CPUS = ("shared CPU", "CPU", "decode", "augment", "training thread")


def _slow_cases(place):
    return [
        Case(
            place,
            "capacity",
            (*CAPACITY, "--io", "direct"),
            feeds_what_the_storage_gives,
            "the GPUs that 0.9 of the best rate of up to 64 readers feeds; the storage limits",
        ),
        Case(place, "diagnose", (*DIAGNOSE, *DEEP), names(*READS), "read, or reads in flight"),
        Case(place, "run", (*RUN, "--io", "direct"), waits_for("read"), "waits for read"),
    ]


CASES = [
    *_slow_cases("7 ms"),
    *_slow_cases("20 ms"),
    *_slow_cases("12 MB/s"),
    *_slow_cases("40 MB/s"),
    Case(
        "RAM disk",
        "capacity",
        ("--device", "emulated:h100-mlperf", "--page-cache", "warm", "--decoder", "raw-read"),
        feeds_some_or_names_this_machine,
        "a GPU or more, or this machine as what limits",
    ),
    Case(
        "RAM disk",
        "diagnose",
        ("--device", "emulated:200", "--batch-size", "16", "--workers", "2", *IN_MEMORY)
        + ("--budget", "45s", "--json"),
        names("compute"),
        "compute",
    ),
    Case(
        "RAM disk",
        "run",
        (*RUN, "--io", "direct"),
        marks("page_cache"),
        "not to be quoted: page_cache",
    ),
    Case(
        "half a CPU",
        "capacity",
        ("--device", "emulated:100", "--batch-size", "16", "--page-cache", "warm"),
        names_this_machine,
        "this machine limits; cpu_quota",
    ),
    Case(
        "half a CPU",
        "diagnose",
        (*DIAGNOSE, "--workers", "2", *IN_MEMORY),
        names(*CPUS, flags=("cpu_quota",)),
        "the CPU or what takes it; cpu_quota",
    ),
    Case("half a CPU", "run", (*RUN, *IN_MEMORY), marks("cpu_quota"), "cpu_quota"),
    Case(
        "program on a CPU",
        "diagnose",
        ("--device", "emulated:100", "--batch-size", "16", "--workers", "1", *IN_MEMORY)
        + ("--budget", "45s", "--json"),
        names("compute", flags=("noisy_neighbour",)),
        "compute; noisy_neighbour",
    ),
    Case(
        "program on a CPU",
        "run",
        (*RUN, *IN_MEMORY),
        marks("noisy_neighbour"),
        "noisy_neighbour",
    ),
    Case(
        "reader on the disk",
        "capacity",
        (*CAPACITY, "--io", "direct"),
        marks("storage_shared"),
        "storage_shared",
    ),
    Case(
        "reader on the disk",
        "run",
        (*RUN, "--io", "direct"),
        marks("storage_shared"),
        "storage_shared",
    ),
    Case(
        "little memory",
        "diagnose",
        (*DIAGNOSE, "--workers", "1", "--page-cache", "warm"),
        marks("page_cache", "memory_pressure"),
        "page_cache or memory_pressure",
    ),
    Case(
        "little memory",
        "run",
        (*RUN, "--page-cache", "warm"),
        marks("page_cache", "memory_pressure"),
        "page_cache or memory_pressure",
    ),
]

PLACES = {
    "7 ms": lambda: slow(delay_ms=7),
    "20 ms": lambda: slow(delay_ms=20),
    "12 MB/s": lambda: slow(bytes_per_second=12e6),
    "40 MB/s": lambda: slow(bytes_per_second=40e6),
    "RAM disk": memory,
    "half a CPU": lambda: quota(0.5),
    "program on a CPU": beside_a_program,
    "reader on the disk": lambda: beside_a_reader(40e6),
    "little memory": lambda: little_memory(80),
}


def drawn(seed):
    """Eight more cases, whose devices are drawn."""
    chance = random.Random(seed)
    cases, places = [], {}
    for i in range(8):
        if i % 2:
            ms = chance.randint(3, 40)
            name, make = f"{ms} ms", lambda ms=ms: slow(delay_ms=ms)
        else:
            rate = chance.randint(8, 80)
            name, make = f"{rate} MB/s", lambda rate=rate: slow(bytes_per_second=rate * 1e6)
        places[name] = make
        cases.append(_slow_cases(name)[chance.randrange(3)])
    return cases, places


# --- Measuring.


def _ticks():
    """(steal, all) of all CPUs so far."""
    with open("/proc/stat", encoding="ascii") as file:
        numbers = [int(word) for word in file.readline().split()[1:9]]
    return numbers[7], sum(numbers)


def ask(program, data, case, seed, join):
    """One fresh answer; with how much of the CPUs the hypervisor took meanwhile."""
    words = [program, case.command, "--dataset", data, *CELL, *case.words, "--seed", str(seed)]
    before, began = _ticks(), time.monotonic()
    done = subprocess.run(words, capture_output=True, text=True, preexec_fn=join, check=False)
    steal, every = (b - a for a, b in zip(before, _ticks()))
    answer = Answer(done.stdout, done.stderr, done.returncode, time.monotonic() - began)
    return answer, steal / max(1, every)


def row_of(case, answer, truth, steal, again):
    return {
        "place": case.place,
        "command": case.command,
        "expected": case.said,
        "right": bool(case.right(answer, truth)),
        "sure_and_wrong": sure_and_wrong(answer, case, truth),
        "confidence": verdict_of(answer).get("confidence"),
        "said": said_by(case, answer),
        "truth": truth,
        "steal": round(steal, 3),
        "measured_again": again,
        "seconds": round(answer.seconds, 1),
    }


def said_by(case, answer):
    """In a few words, what was answered."""
    if answer.code not in (0, 1) or not answer.out:
        return (answer.err.strip().split("\n") or [""])[-1][:200]
    if case.command == "capacity":
        limits = re.search("what limits[^\n]*", answer.out)
        return f"{fed_gpus(answer)} GPUs, {reached(answer):.0f} img/s; " + (
            limits[0] if limits else first_line(answer)
        )
    if case.command == "run":
        return f"{answer.json['verdict']}; {', '.join(sorted(answer.flags)) or 'no flags'}"
    verdict = verdict_of(answer)
    named = " and ".join(verdict["names"]) + f" ({', '.join(verdict['resources'])})"
    flags = ", ".join(sorted(answer.flags)) or "no flags"
    clear = "" if verdict["clear"] else "not clear: "
    return f"{clear}{named}, confidence {verdict['confidence'] or '-'}; {flags}"


@contextlib.contextmanager
def prepared(program, place):
    """Yields (data, join, truth) at a place, with pictures in it."""
    with contextlib.ExitStack() as stack:
        at, join, device, *start = stack.enter_context(place())
        data = os.path.join(at, "data")
        subprocess.run([program, "gen", data, *PICTURES], check=True, capture_output=True)
        truth = {}
        if device:
            truth["best"], truth["at_once"] = best_rate(data)
        for begin in start:
            begin()
        yield data, join, truth


def answers(program, cases, places, seeds, keep):
    """Asks each case once for each of `seeds(case)`, place after place; gives rows to `keep`."""
    for place in dict.fromkeys(case.place for case in cases if seeds(case)):
        with prepared(program, places[place]) as (data, join, truth):
            for case in (c for c in cases if c.place == place):
                for seed in seeds(case):
                    answer, steal = ask(program, data, case, seed, join)
                    again = steal > QUIET
                    if again:
                        answer, steal = ask(program, data, case, seed, join)
                    keep({"seed": seed, **row_of(case, answer, truth, steal, again)})
