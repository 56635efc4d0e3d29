"""Runs under conditions that make a number untrue or another one: each must be flagged, and runs
without them must not be."""

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

CGROUPS = "/sys/fs/cgroup"
BATCH = 16
RUN = [
    "--data",
    "jpeg",
    "--image-size",
    "224",
    "--batch-size",
    str(BATCH),
    "--no-ceiling",
    "--json",
]
SHORT = ["--warmup-seconds", "0.2", "--max-warmup-seconds", "0.5", "--min-seconds", "1.5"]
SLOW = ["--device", "emulated:200", "--workers", "1"]


class NotAllowed(Exception):
    """This user may not make such a condition."""


class Conditions:
    """Each returns the record of a run under it, or without it where `planted` is not set."""

    def __init__(self, options, folder):
        self.program, self.folder = os.path.abspath(options.program), folder
        self.data = os.path.join(folder, "data")
        self.call("gen", self.data, "--count", "256", "--format", "jpeg", "--image-size", "224")

    def call(self, *words, **more):
        return subprocess.run(
            [self.program, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            check=True,
            **more,
        ).stdout

    def run(self, *words, **more):
        return json.loads(self.call("run", "--dataset", self.data, *RUN, *SHORT, *words, **more))

    def start(self, *words):
        return subprocess.Popen(
            [self.program, "run", "--dataset", self.data, *RUN, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            start_new_session=True,
        )

    def unequal_ranks(self, planted, chance):
        """Other programs take three quarters of the CPU that the second rank's only worker is kept
        to, from the window's start on. (One alone is not enough: now and then the scheduler leaves
        the worker what it needs.) Both queues are full by then, and last longer than the window."""
        each = self.of_one_rank()
        rate = each * chance.uniform(0.55, 0.7)
        full = max(4, round(0.8 * each / BATCH))  # batches, as many as 0.8 s of loading make
        process = self.start(
            *("--device", f"emulated:{rate:.0f}", *self.TWO_RANKS, "--prefetch", str(full)),
            *("--warmup-seconds", "3", "--max-warmup-seconds", "3"),
            *("--min-seconds", "1.5", "--max-seconds", "1.5"),
        )
        time.sleep(3.4)
        with neighbour(3 if planted else 0):
            return json.loads(process.communicate()[0])

    TWO_RANKS = ("--gpus", "2", "--workers", "1", "--pin-workers", "on", "--input-size", "64")

    def of_one_rank(self):
        """images/s that each of two ranks loads; measured once."""
        if not hasattr(self, "_of_one_rank"):
            answer = self.run("--device", "emulated:1000000", *self.TWO_RANKS)
            self._of_one_rank = answer["imgs_per_s"] / 2
        return self._of_one_rank

    def stopped(self, planted, chance):
        """SIGSTOP, as Ctrl-Z sends it, to all processes of the run, and SIGCONT."""
        if not planted:
            return self.run(*SLOW)
        process = self.start(*SHORT, *SLOW)
        time.sleep(chance.uniform(1.2, 1.6))  # in the window
        os.killpg(process.pid, signal.SIGSTOP)
        time.sleep(chance.uniform(0.3, 1.5))
        os.killpg(process.pid, signal.SIGCONT)
        return json.loads(process.communicate()[0])

    def oversubscribed(self, planted, chance):
        cpus = len(os.sched_getaffinity(0))
        workers = chance.randint(2 * cpus + 1, max(16, 4 * cpus)) if planted else cpus
        return self.run("--device", "emulated:200", "--workers", str(workers))

    def as_is_caches(self, planted, _):
        """The first repetition reads from the disk, the second what that left in memory. Without:
        the files lie in memory before both."""
        for at, _, names in os.walk(self.data):
            for name in names:
                (_drop if planted else _read)(os.path.join(at, name))
        output = os.path.join(self.folder, "as-is")
        shutil.rmtree(output, True)
        self.call(
            *("sweep", "--dataset", self.data, "-o", output, "--repetitions", "2"),
            *("--data", "jpeg", "--image-size", "224", "--batch-size", "16", *SHORT, *SLOW),
            *("--page-cache", "as-is"),
        )
        with open(os.path.join(output, "ledger.jsonl"), encoding="utf-8") as file:
            return [r for r in map(json.loads, file) if r["role"] == "cell"][-1]

    def quota(self, planted, chance):
        """A control group that may use less than the run would, or more."""
        with group(chance.uniform(0.2, 0.8) if planted else 64) as (join, _):
            return self.run("--device", "emulated:1000000", "--workers", "2", preexec_fn=join)

    def neighbour(self, planted, _):
        with neighbour(planted):
            return self.run(*SLOW)


def _reasons(record, flag):
    return [found["reason"] for found in record["flags"] if found["name"] == flag]


def _read(path):
    with open(path, "rb") as file:
        file.read()


def _drop(path):
    with open(path, "rb") as file:
        os.fdatasync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


@contextlib.contextmanager
def neighbour(programs=1):
    """So many other programs that never rest on the last CPU."""
    cpu = max(os.sched_getaffinity(0))
    words = f"import os\nos.sched_setaffinity(0, {{{cpu}}})\nwhile True: pass"
    others = [subprocess.Popen([sys.executable, "-c", words]) for _ in range(int(programs))]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


@contextlib.contextmanager
def group(cpus):
    """A control group, of either version, that may take so many CPUs' time. Yields what makes a
    process join it, and what sets another number of CPUs."""
    first = os.path.isdir(os.path.join(CGROUPS, "cpu"))
    with _owner_alone():
        folder = tempfile.mkdtemp(
            prefix="feedrate-validate-", dir=os.path.join(CGROUPS, "cpu" if first else "")
        )

    def allow(cpus):
        quota = str(int(cpus * 100_000))
        with _owner_alone():
            _write(
                folder,
                "cpu.cfs_quota_us" if first else "cpu.max",
                quota if first else f"{quota} 100000",
            )

    try:
        allow(cpus)
        yield lambda: _write(folder, "cgroup.procs", str(os.getpid())), allow
    finally:
        deadline = time.monotonic() + 5
        while os.path.isdir(folder) and time.monotonic() < deadline:
            with contextlib.suppress(OSError):  # its processes have not all gone yet
                os.rmdir(folder)


@contextlib.contextmanager
def _owner_alone():
    try:
        yield
    except OSError as error:
        raise NotAllowed(error) from error


def _write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="ascii") as file:
        file.write(text)


# What is planted, the flag that it must raise, and words of its reason.
PLANTED = {
    "ranks that load unequally fast": ("unequal_ranks", "queue_not_at_rest", "of rank 1's images"),
    "a process that was stopped": ("stopped", "stopped", ""),
    "more threads than CPUs": ("oversubscribed", "oversubscribed", ""),
    "files as they are, first cold, then warm": (
        "as_is_caches",
        "page_cache",
        "in the first repetition",
    ),
    "a CPU quota": ("quota", "cpu_quota", ""),
    "another program on a CPU": ("neighbour", "noisy_neighbour", ""),
}


def run(options, folder):
    """Each condition, and the same command without it, in a shuffled order. An error of the program
    ends the part."""
    conditions, count, missed = Conditions(options, folder), 4 if options.small else 20, []
    chance = random.Random(1)
    order = [(name, planted) for name in PLANTED for planted in (True, False)] * count
    chance.shuffle(order)
    flagged, impossible = {}, {}
    for name, planted in order:
        how, flag, words = PLANTED[name]
        try:
            record = getattr(conditions, how)(planted, chance)
        except NotAllowed as error:
            impossible[name] = error
            continue
        found = any(words in reason for reason in _reasons(record, flag))
        flagged.setdefault((name, planted), []).append(found)
    print("| planted | flag | flagged | flagged without |\n| --- | --- | ---: | ---: |")
    for name, (_, flag, _) in PLANTED.items():
        if name in impossible:
            print(f"| {name} | `{flag}` | not possible here: {impossible[name]} | |")
            continue
        with_it, without = (sum(flagged[name, planted]) for planted in (True, False))
        print(f"| {name} | `{flag}` | {with_it} of {count} | {without} of {count} |")
        if with_it < count - 1 or without > 1:
            missed.append(f"{name}: {with_it} of {count} flagged, {without} without")
    return missed
