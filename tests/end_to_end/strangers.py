"""Strangers at the port where the ranks of a run meet, and what they do to it.

  strangers.py PROGRAM --times 5 [--seed 1]      # a Markdown table

Four emulated ranks on two machines (network namespaces, see two_machines.py) share a secret. Before
the last one comes, 10,000 connections are made to rank 0's port: hellos with a wrong secret,
changed ones, cut ones, other protocols, other messages. 100 strangers more hold connections when
the last rank comes, and others go on trying while the cell is measured. Runs with strangers and
without take turns.
"""

import argparse
import contextlib
import hashlib
import hmac
import json
import os
import random
import re
import select
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time

from two_machines import ADDRESSES, TwoMachines

PROTOCOL = b"feedrate ranks 2"
HELLO, RESULT, KINDS = 1, 10, 14  # MessageKind in src/ranks/connection.h
PATIENCE = 120
RATE = 20_000  # images/s of each emulated device: so fast that the ranks' messages are the limit


def frame(kind, body):
    return struct.pack("<IB", len(body), kind) + body


def hello(challenge, secret, rank=3, size=4):
    """A rank's hello, by the protocol as src/ranks/greeting.h describes it."""
    nonce = os.urandom(32)
    who = {"rank": rank, "size": size, "program": "p", "options": "o", "host": "h", "boot": "b"}
    text = json.dumps({**who, "pid": 1}).encode()
    said = b"r" + challenge[len(PROTOCOL) :] + nonce + text
    return nonce + hmac.new(secret, said, hashlib.sha256).digest() + text


def mutated(text, chance):
    text = bytearray(text)
    for _ in range(chance.randint(1, 8)):
        text[chance.randrange(len(text))] ^= 1 << chance.randrange(8)
    cut = chance.randrange(4)
    if cut == 0:
        del text[chance.randrange(len(text)) :]
    elif cut == 1:
        text += os.urandom(chance.randint(1, 64))
    return bytes(text)


def call(place):
    stream = socket.create_connection(place, timeout=5)
    stream.settimeout(5)
    return stream


def challenge_of(stream):
    """None: it was hung up, as one of too many at once."""
    whole = b""
    while len(whole) < 5 + len(PROTOCOL) + 32:
        part = stream.recv(4096)
        if not part:
            return None
        whole += part
    return whole[5:]


def shoot(place, chance):
    """One connection that is no rank's. False: nobody listens there."""
    try:
        with call(place) as stream:
            challenge = challenge_of(stream)
            if challenge is None:
                return True
            sound = frame(HELLO, hello(challenge, b"another secret"))
            stream.sendall(
                chance.choice(
                    [
                        lambda: sound,
                        lambda: mutated(sound, chance),
                        lambda: frame(HELLO, mutated(sound[5:], chance)),
                        lambda: frame(chance.randrange(KINDS), os.urandom(chance.randrange(64))),
                        lambda: struct.pack("<IB", 0xFFFFFFFF, chance.randrange(256)),
                        lambda: b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
                        lambda: os.urandom(chance.randint(1, 4096)),
                    ]
                )()
            )
    except ConnectionRefusedError:
        return False
    except OSError:  # hung up on
        pass
    return True


class Strangers:
    """Run on machine 1, as a program of its own: `strangers.py at HOST PORT`. Its lines say how far
    it is."""

    def __init__(self, place, seed):
        self.place = place
        self.chance = random.Random(seed)
        self.held = []

    def hold(self, count):
        for _ in range(count):
            try:
                self.held.append(call(self.place))
            except OSError:
                return

    def work(self, count):
        while not shoot(self.place, self.chance):
            time.sleep(0.01)
        for _ in range(count):
            shoot(self.place, self.chance)
        self.hold(100)
        print("made", count, flush=True)
        refused = 0
        while True:  # until it is ended
            if shoot(self.place, self.chance):
                continue
            refused += 1
            time.sleep(0.001)


def relay(listener, place, change):
    """Carries the bytes of one rank to rank 0 and back. `change(kind, body)`: what rank 0 gets in
    the place of a message of the rank."""
    rank, _ = listener.accept()
    rank_0 = None
    while rank_0 is None:  # it may not be there yet
        with contextlib.suppress(ConnectionRefusedError):
            rank_0 = socket.create_connection(place)
    waiting = b""
    while True:
        for stream in select.select([rank, rank_0], [], [])[0]:
            part = stream.recv(1 << 16)
            if not part:
                return
            if stream is rank_0:
                rank.sendall(part)
                continue
            waiting += part
            while len(waiting) >= 5:
                length, kind = struct.unpack_from("<IB", waiting)
                if len(waiting) < 5 + length:
                    break
                rank_0.sendall(change(kind, waiting[5 : 5 + length]))
                waiting = waiting[5 + length :]


def spoil(what):
    """What a rank that has gone mad sends instead of its result, or after some steps."""
    seen = [0]

    def change(kind, body):
        seen[0] += 1
        if what == "result" and kind == RESULT:
            return frame(kind, re.sub(rb'(?<="first":)(?=\d)', b"9", body))
        if what == "call" and seen[0] == 2000:
            return frame(kind, body) + b"\xff" * 64
        return frame(kind, body)

    return change


class Run:
    """Four ranks, two on each machine; the last one waits for its start."""

    def __init__(self, program, machines, folder, words, port, variables=None):
        self.program, self.machines, self.folder = program, machines, folder
        self.words, self.port, self.variables = words, port, variables or {}
        self.processes = []

    def start(self, *ranks, **more):
        for rank in ranks:
            environment = {
                **os.environ,
                "RANK": str(rank),
                "WORLD_SIZE": "4",
                "LOCAL_RANK": str(rank % 2),
                "LOCAL_WORLD_SIZE": "2",
                "MASTER_ADDR": ADDRESSES[0],
                "MASTER_PORT": str(self.port),
                **self.variables,
                **more,
            }
            self.processes.append(
                subprocess.Popen(
                    [*self.machines.at(rank // 2), self.program, *self.words],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    cwd=self.folder,
                    encoding="utf-8",
                    env=environment,
                )
            )

    def end(self):
        """Of each rank: exit code, stdout, stderr."""
        answers = []
        try:
            for process in self.processes:
                out, err = process.communicate(timeout=PATIENCE)
                answers.append((process.returncode, out, err))
        finally:
            for process in self.processes:
                process.kill()
        return answers


def start_relay(machines, port, what):
    """On machine 1, to rank 0. It listens when this returns."""
    words = [sys.executable, os.path.abspath(__file__), "relay", ADDRESSES[0], str(port), what]
    process = subprocess.Popen([*machines.at(1), *words], stdout=subprocess.PIPE, encoding="utf-8")
    process.stdout.readline()
    return process


def start_strangers(machines, port, count, seed):
    return subprocess.Popen(
        [
            *machines.at(1),
            sys.executable,
            os.path.abspath(__file__),
            "at",
            ADDRESSES[0],
            str(port),
            str(count),
            str(seed),
        ],
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )


def measure(program, machines, folder, words, secret_file, strangers, seed):
    """One run; `strangers`: how many come before its last rank does. Its record, and rank 0's
    stderr."""
    port = random.Random(seed).randrange(21000, 31000)
    run = Run(program, machines, folder, words, port, {"FEEDRATE_SECRET_FILE": secret_file})
    run.start(0, 1, 2)
    crowd = start_strangers(machines, port, strangers, seed) if strangers else None
    try:
        if crowd and crowd.stdout.readline() != f"made {strangers}\n":
            raise AssertionError("the strangers could not come")
        run.start(3)
        answers = run.end()
    finally:
        if crowd:
            crowd.kill()
            crowd.communicate()
    if [code for code, _, _ in answers] != [0] * 4:
        raise AssertionError(answers)
    return json.loads(answers[0][1]), answers[0][2]


def write_secret(folder):
    path = os.path.join(folder, "secret")
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as file:
        file.write(os.urandom(32).hex() + "\n")
    return path


def table(program, times, seed):
    words = ["run", "--data", "synthetic", f"--device=emulated:{RATE}", "--batch-size=8", "--json"]
    words += ["--input-size=224", "--warmup-seconds=1", "--min-seconds=5"]
    rates = {0: [], 10_000: []}
    print(
        "| run | strangers | imgs/s | mean and longest step, ms | turned away, by rank 0's count |"
    )
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        secret = write_secret(folder)
        machines = TwoMachines()
        try:
            for turn in range(times):
                for strangers, seen in rates.items():
                    record, said = measure(
                        program, machines, folder, words, secret, strangers, seed + turn
                    )
                    seen.append(record["imgs_per_s"])
                    counted = [line for line in said.splitlines() if "while the ranks met" in line]
                    shown = counted[0].split(": ", 1)[1].split(" ", 1)[0] if counted else "0"
                    rate, step = f"{record['imgs_per_s']:.2f}", record["step_ms"]
                    steps = f"{step['mean']:.3f}, {step['max']:.3f}"
                    print(
                        f"| {turn + 1} | {strangers:,} | {rate} | {steps} | {shown} |", flush=True
                    )
        finally:
            machines.close()
    ratios = [a / b for a, b in zip(rates[10_000], rates[0], strict=True)]
    print(f"\nWith strangers / without, median of {times} pairs: {statistics.median(ratios):.4f}")
    print(f"(from {min(ratios):.4f} to {max(ratios):.4f}).")


def main():
    if sys.argv[1:2] == ["at"]:
        host, port, count, seed = sys.argv[2:]
        Strangers((host, int(port)), int(seed)).work(int(count))
    if sys.argv[1:2] == ["relay"]:
        host, port, what = sys.argv[2:]
        with socket.create_server((ADDRESSES[1], int(port))) as listener:
            print("listens", flush=True)
            return relay(listener, (host, int(port)), spoil(what))
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program")
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    table(os.path.abspath(options.program), options.times, options.seed)


if __name__ == "__main__":
    main()
