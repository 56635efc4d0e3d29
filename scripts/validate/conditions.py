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
RUN = ["--data", "jpeg", "--image-size", "224", "--batch-size", "16", "--no-ceiling", "--json"]
SHORT = ["--warmup-seconds", "0.2", "--max-warmup-seconds", "0.5", "--min-seconds", "1.5"]
SLOW = ["--device", "emulated:200", "--workers", "1"]


class Conditions:
    """Each returns the names of the flags of a run under it."""

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
        return _flags(self.call("run", "--dataset", self.data, *RUN, *SHORT, *words, **more))

    def start(self, *words):
        return subprocess.Popen(
            [self.program, "run", "--dataset", self.data, *RUN, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            start_new_session=True,
        )

    def nothing(self, _):
        return self.run(*SLOW)

    def unequal_ranks(self, chance):
        """Another program takes half of the CPU that the second rank's only worker is kept to, from
        the window's start on. What was loaded before lasts longer than the window."""
        rate = self.of_one_cpu() * chance.uniform(0.65, 0.8)
        process = self.start(
            *("--device", f"emulated:{rate:.0f}", "--gpus", "2", "--workers", "1"),
            *("--pin-workers", "on", "--prefetch", "512", "--input-size", "64"),
            *("--warmup-seconds", "1.5", "--max-warmup-seconds", "1.5"),
            *("--min-seconds", "1.5", "--max-seconds", "1.5"),
        )
        time.sleep(2)
        with _busy(sorted(os.sched_getaffinity(0))[-1]):
            return _flags(process.communicate()[0])

    def of_one_cpu(self):
        """images/s of one worker; measured once."""
        if not hasattr(self, "_of_one_cpu"):
            words = ("run", "--dataset", self.data, *RUN, *SHORT, "--device", "emulated:1000000")
            answer = self.call(*words, "--workers", "1", "--input-size", "64")
            self._of_one_cpu = json.loads(answer)["imgs_per_s"]
        return self._of_one_cpu

    def stopped(self, chance):
        """SIGSTOP, as Ctrl-Z sends it, to all processes of the run, and SIGCONT."""
        process = self.start(*SHORT, *SLOW)
        time.sleep(chance.uniform(1.2, 1.6))  # in the window
        os.killpg(process.pid, signal.SIGSTOP)
        time.sleep(chance.uniform(0.3, 1.5))
        os.killpg(process.pid, signal.SIGCONT)
        return _flags(process.communicate()[0])

    def oversubscribed(self, chance):
        workers = chance.randint(2 * len(os.sched_getaffinity(0)) + 1, 16)
        return self.run("--device", "emulated:200", "--workers", str(workers))

    def as_is_caches(self, _):
        """The first repetition reads from the disk, the second what that left in memory."""
        for at, _, names in os.walk(self.data):
            for name in names:
                _drop(os.path.join(at, name))
        output = os.path.join(self.folder, "as-is")
        shutil.rmtree(output, True)
        self.call(
            *("sweep", "--dataset", self.data, "-o", output, "--repetitions", "2"),
            *("--data", "jpeg", "--image-size", "224", "--batch-size", "16", *SHORT, *SLOW),
            *("--page-cache", "as-is"),
        )
        with open(os.path.join(output, "ledger.jsonl"), encoding="utf-8") as file:
            return set().union(*map(_flags, file))

    def quota(self, chance):
        """A control group that may use less than the run would."""
        with _group(chance.uniform(0.2, 0.8)) as join:
            return self.run("--device", "emulated:1000000", "--workers", "2", preexec_fn=join)

    def neighbour(self, _):
        with _busy(sorted(os.sched_getaffinity(0))[-1]):
            return self.run(*SLOW)


def _flags(line):
    return {flag["name"] for flag in json.loads(line)["flags"]}


def _drop(path):
    with open(path, "rb") as file:
        os.fdatasync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


@contextlib.contextmanager
def _busy(cpu):
    """Another program that never rests on this CPU."""
    words = f"import os\nos.sched_setaffinity(0, {{{cpu}}})\nwhile True: pass"
    other = subprocess.Popen([sys.executable, "-c", words])
    try:
        yield
    finally:
        other.kill()
        other.wait()


@contextlib.contextmanager
def _group(cpus):
    """A control group, of either version, that may take so many CPUs' time. Yields what makes a
    process join it."""
    first = os.path.isdir(os.path.join(CGROUPS, "cpu"))
    folder = tempfile.mkdtemp(
        prefix="feedrate-validate-", dir=os.path.join(CGROUPS, "cpu" if first else "")
    )
    try:
        quota = str(int(cpus * 100_000))
        _write(
            folder,
            "cpu.cfs_quota_us" if first else "cpu.max",
            quota if first else f"{quota} 100000",
        )
        yield lambda: _write(folder, "cgroup.procs", str(os.getpid()))
    finally:
        deadline = time.monotonic() + 5
        while os.path.isdir(folder) and time.monotonic() < deadline:
            with contextlib.suppress(OSError):  # its processes have not all gone yet
                os.rmdir(folder)


def _write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="ascii") as file:
        file.write(text)


# What is planted, and the flag that it must raise.
PLANTED = {
    "ranks that load unequally fast": ("unequal_ranks", "queue_not_at_rest"),
    "a process that was stopped": ("stopped", "stopped"),
    "more threads than CPUs": ("oversubscribed", "oversubscribed"),
    "files as they are, first cold, then warm": ("as_is_caches", "page_cache"),
    "a CPU quota": ("quota", "cpu_quota"),
    "another program on a CPU": ("neighbour", "noisy_neighbour"),
}


def run(options, folder):
    conditions, count, missed = Conditions(options, folder), 4 if options.small else 20, []
    chance = random.Random(1)
    found = {name: [] for name in (*PLANTED, "")}
    order = [name for name in found for _ in range(count)]
    chance.shuffle(order)
    impossible = {}
    for name in order:
        how = PLANTED[name][0] if name else "nothing"
        try:
            found[name].append(getattr(conditions, how)(chance))
        except (OSError, subprocess.SubprocessError) as error:  # control groups need their owner
            impossible[name] = str(error)
    print("| planted | flag | flagged | flagged without |\n| --- | --- | ---: | ---: |")
    for name, (_, flag) in PLANTED.items():
        if name in impossible:
            print(f"| {name} | `{flag}` | not possible here: {impossible[name]} | |")
            continue
        with_it, without = (sum(flag in one for one in found[which]) for which in (name, ""))
        print(f"| {name} | `{flag}` | {with_it} of {count} | {without} of {count} |")
        if with_it < count - 1 or without > 1:
            missed.append(f"{name}: {with_it} of {count} flagged, {without} without")
    return missed
