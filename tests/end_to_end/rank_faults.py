"""Kills or stops a rank of a run at a random moment, and looks at what is left.

  rank_faults.py PROGRAM --times 50 [--device cpu] [--seed 1]      # a Markdown table

Each time: a run of several ranks starts; a random rank's process gets SIGKILL or SIGSTOP at a
random moment between its start and the run's end. Then everything must end within 30 s, with an
error that names that rank, a `failed` record in the ledger, and no process, no shared memory left.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

LIMIT_S = 30


class Fault(AssertionError):
    pass


def command_of(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []


def children_of(pid):
    """Processes that this one has started, by /proc."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def ranks_of(coordinators):
    """Rank -> process, of those that are there."""
    found = {}
    for process in coordinators:
        for child in children_of(process.pid):
            words = command_of(child)
            if words[1:2] == [b"rank"]:
                found[int(words[2])] = child
    return found


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def shared_memory_files():
    """What shm_open() makes. Folders there are datasets of other tests, which run meanwhile."""
    with os.scandir("/dev/shm") as entries:
        return {entry.name for entry in entries if not entry.is_dir(follow_symlinks=False)}


def launched(program, words, size, folder):
    """As torchrun or mpirun would: one process a rank, told by its environment."""
    port = str(random.randrange(21000, 31000))
    processes = []
    for rank in range(size):
        environment = {
            **os.environ,
            "RANK": str(rank),
            "WORLD_SIZE": str(size),
            "LOCAL_RANK": str(rank),
            "LOCAL_WORLD_SIZE": str(size),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": port,
        }
        processes.append(
            subprocess.Popen(
                [program, *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=folder,
                encoding="utf-8",
                env=environment,
            )
        )
    return processes


def _started(program, device, size, folder, by_launcher):
    """The processes of one run of some seconds: each rank's with a launcher, else the program's."""
    options = {
        "device": device,
        "gpus": size,
        "data": "synthetic",
        "batch-size": 2,
        "input-size": 32 if device == "cpu" else 224,
        "warmup-seconds": 0.3,
        "min-seconds": 3,
        "output": os.path.join(folder, "ledger"),
        **({"model": "resnet18"} if device == "cpu" else {}),
    }
    words = ["run", *(f"--{name}={value}" for name, value in options.items())]
    if by_launcher:
        return launched(program, words, size, folder)
    return [
        subprocess.Popen(
            [program, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            encoding="utf-8",
        )
    ]


def hit(program, device, size, number, delay, by_launcher=False, rank=None, terminate=False):
    """Sends signal `number` to a rank of one run, `delay` seconds after its ranks have started.
    Returns (rank, seconds to the run's end, its error), or None if the run was over before. Raises
    Fault if something is wrong. `rank`: the rank to hit, else any; `terminate`: rank 0's process
    gets SIGTERM a little later, as a launcher would send it."""
    folder = tempfile.mkdtemp(prefix="feedrate-faults-")
    shared_memory = shared_memory_files()
    processes = _started(program, device, size, folder, by_launcher)
    ranks = {}
    try:
        wanted = 1 if by_launcher else size
        while len(ranks) < wanted and processes[0].poll() is None:
            ranks = ranks_of(processes[:1])
            time.sleep(0.005)
        if by_launcher:  # the other ranks are the launched processes themselves
            ranks.update({rank: process.pid for rank, process in enumerate(processes) if rank > 0})
        time.sleep(delay)
        rank = random.choice(sorted(ranks)) if rank is None else rank
        if processes[0].poll() is not None or not alive(ranks[rank]):
            return None
        os.kill(ranks[rank], number)
        if terminate:
            # A launcher hears of the death when it is over, and the rank's connections are closed.
            while any(p.pid == ranks[rank] and p.poll() is None for p in processes):
                time.sleep(0.005)
            time.sleep(0.1)
            processes[0].send_signal(signal.SIGTERM)
        return rank, *judge(
            processes,
            ranks,
            rank,
            os.path.join(folder, "ledger"),
            shared_memory,
            (1, 128 + signal.SIGTERM) if terminate else (1,),
        )
    finally:
        for pid in [*ranks.values(), *(p.pid for p in processes)]:
            if alive(pid):
                os.kill(pid, signal.SIGKILL)
        for process in processes:
            process.wait()
            process.stdout.close()
            process.stderr.close()
        shutil.rmtree(folder, True)


def judge(processes, ranks, rank, ledger, shared_memory, codes):
    sent = time.monotonic()
    # A launched rank that was stopped is its launcher's to end: the program is not its parent.
    ours = [p for p in processes if p.pid != ranks[rank] or p is processes[0]]
    while any(alive(p.pid) for p in ours) and time.monotonic() - sent < LIMIT_S:
        time.sleep(0.02)
        for process in processes:
            process.poll()
    took = time.monotonic() - sent
    theirs = {p.pid for p in processes} - {p.pid for p in ours}
    if left := [
        pid
        for pid in [*ranks.values(), *(p.pid for p in processes)]
        if alive(pid) and pid not in theirs
    ]:
        raise Fault(f"after {took:.0f} s there are still {left}")
    processes[0].wait()
    err = processes[0].stderr.read()
    with open(os.path.join(ledger, "ledger.jsonl"), encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    if records and records[-1]["status"] == "ok":
        return took, "had ended"
    line = (
        [line for line in err.splitlines() if "rank " in line and "img/s" not in line]
        or ["no rank is named"]
    )[-1]
    if processes[0].returncode not in codes:
        raise Fault(f"exit code {processes[0].returncode}: {line}")
    if f"rank {rank} " not in line:
        raise Fault(f"rank {rank} is not named: {line}")
    if (
        not records
        or records[-1]["status"] != "failed"
        or f"rank {rank} " not in records[-1]["error"]
    ):
        raise Fault(f"the ledger does not say so: {records[-1:]}")
    if shared := shared_memory_files() - shared_memory:
        raise Fault(f"shared memory is left: {shared}")
    return took, line


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program")
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--gpus", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--within", type=float, default=6, help="seconds after the ranks' start")
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    random.seed(a.seed)
    print(
        f"{a.times} runs on {a.device}, {' or '.join(map(str, a.gpus))} ranks; every signal within"
        f" {a.within:g} s of the ranks' start\n\n| signal | rank | of | after s | all ended within"
        " s | error |\n|---|---|---|---|---|---|",
        flush=True,
    )
    done, bad = 0, 0
    while done < a.times:
        number = random.choice([signal.SIGKILL, signal.SIGSTOP])
        size, delay = random.choice(a.gpus), random.uniform(0, a.within)
        try:
            result = hit(os.path.abspath(a.program), a.device, size, number, delay)
        except Fault as fault:
            bad += 1
            result = "?", float("nan"), f"**{fault}**"
        if result is None or result[2] == "had ended":
            continue
        done += 1
        print(
            f"| {number.name} | {result[0]} | {size} | {delay:.2f} | {result[1]:.1f} |"
            f" {result[2]} |",
            flush=True,
        )
    print(f"\n{done - bad} of {done} as they should be")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
