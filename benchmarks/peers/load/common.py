"""What every peer's program shares: its arguments, and the clock. A peer builds an endless iterator
over batches and hands it to measure(); it prints one line of JSON."""

import argparse
import json
import time

BATCH = 64
SCALE, RATIO = (0.08, 1.0), (3 / 4, 4 / 3)  # of torchvision's RandomResizedCrop


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", help="class folders of pictures, as ImageFolder reads them")
    parser.add_argument("--workers", type=int, required=True)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--cache", default="/tmp", help="for a format of the peer's own")
    return parser.parse_args()


def measure(batches, seconds, **about):
    """Images per second over at least `seconds`, after a warm-up of a quarter of them and 8 batches
    (more than any queue holds). `batches`: yields the number of pictures of each batch that was
    delivered.
    """
    start, count = time.perf_counter(), 0
    while count < 8 or time.perf_counter() - start < seconds / 4:
        next(batches)
        count += 1
    start, images = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        images += next(batches)
    elapsed = time.perf_counter() - start
    print(
        json.dumps({"imgs_per_s": images / elapsed, "images": images, "seconds": elapsed, **about}),
        flush=True,
    )


def endless(make_epoch):
    while True:
        yield from make_epoch()
