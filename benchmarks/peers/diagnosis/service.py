"""Stages that take a known time, for the peers' programs."""

import threading
import time
import zlib

BLOCK = bytes(1 << 20)
owed = threading.local()


def sleep_ms(ms):
    """Sleeps; what one call overshoots, the thread's next one leaves out."""
    if ms <= 0:
        return
    deadline = time.perf_counter() + ms / 1e3 - getattr(owed, "seconds", 0)
    left = deadline - time.perf_counter()
    if left > 0:
        time.sleep(left)
    owed.seconds = time.perf_counter() - deadline


def burn_ms(ms):
    """Takes that much CPU time. zlib lets go of the interpreter's lock, so that threads can burn
    at the same time."""
    end = time.thread_time() + ms / 1e3
    while time.thread_time() < end:
        zlib.crc32(BLOCK)


def serve(bottleneck, stage, samples=1, index=None):
    ms = getattr(bottleneck, stage) * samples
    if stage == "read" and bottleneck.every and index % bottleneck.every == bottleneck.every - 1:
        ms += bottleneck.spike
    (burn_ms if stage in bottleneck.burnt else sleep_ms)(ms)
