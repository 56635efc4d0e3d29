"""What SPDL's headspace says of one bottleneck: one line of JSON.

  python with_spdl.py "decode 2x"

SPDL 0.8.0 (PyPI: spdl, BSD). Its guide's headspace analysis wraps the loader in CacheDataLoader,
which hands out the loader's batches and then a few of them again and again, and compares the time
of a training step before and after:

  headspace = (real - cached) / real

The words are those of its optimisation strategies (spdl/autoresearch): below 5 % loading is not the
bottleneck, above 10 % it is worth working on; in between it says neither (here: unclear). It cannot
say copy or none, and no stage. (SPDL also prints the times of its stages, which a user can read the
slowest one from; that is no verdict and left out.)

The pipeline has the stages one after the other, as many at a time as there are workers, and as many
threads. The copy is the pipeline's last stage, in a thread of its own, as SPDL's examples transfer
batches; with --copy-in loop it is the training loop's. The step is slept in the training loop.
"""

import argparse
import concurrent.futures
import importlib.metadata
import itertools
import json
import time

from bottlenecks import named, use_the_processors
from service import serve, sleep_ms
from spdl.dataloader import CacheDataLoader
from spdl.pipeline import PipelineBuilder

SMALL, LARGE = 0.05, 0.10
SKIPPED = 10  # steps after the start and after the change: queues that fill
CACHES = 10


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", help="of the bottleneck")
    parser.add_argument("--seconds", type=float, default=12, help="of training")
    parser.add_argument("--copy-in", choices=["loader", "loop"], default="loader")
    return parser.parse_args()


def pipeline_of(bottleneck, copies):
    def read(index):
        serve(bottleneck, "read", index=index)
        return index

    def decode(sample):
        serve(bottleneck, "decode")
        return sample

    def augment(sample):
        serve(bottleneck, "augment")
        return sample

    def collate(samples):
        serve(bottleneck, "collate", samples=len(samples))
        return samples

    def copy(batch):
        sleep_ms(bottleneck.copy)
        return batch

    builder = PipelineBuilder().add_source(itertools.count())
    for stage in (read, decode, augment):
        builder.pipe(stage, concurrency=bottleneck.workers)
    builder.aggregate(bottleneck.batch)
    builder.pipe(collate, concurrency=bottleneck.workers)
    if copies:
        builder.pipe(copy, executor=concurrent.futures.ThreadPoolExecutor(1))
    return builder.add_sink().build(num_threads=bottleneck.workers)


def mean_ms(times):
    """Of a step, over all but the first SKIPPED."""
    return (times[-1] - times[SKIPPED - 1]) / (len(times) - SKIPPED) * 1e3


def headspace(bottleneck, seconds, copies):
    """Milliseconds of a step from the loader and from the cache."""
    step = bottleneck.step + bottleneck.all_reduce + (0 if copies else bottleneck.copy)
    real = max(2 * SKIPPED, round(0.7 * seconds * 1e3 / bottleneck.period_ms))
    cached = max(2 * SKIPPED, round(0.3 * seconds * 1e3 / step))
    ends = []
    pipeline = pipeline_of(bottleneck, copies)
    with pipeline.auto_stop():
        loader = CacheDataLoader(pipeline, CACHES, real, stop_after=real + cached)
        for _ in loader:
            sleep_ms(step)
            ends.append(time.perf_counter())
    return mean_ms(ends[:real]), mean_ms(ends[real:])


def main():
    a = arguments()
    use_the_processors()
    start = time.perf_counter()
    real, cached = headspace(named(a.name), a.seconds, a.copy_in == "loader")
    share = (real - cached) / real
    folded = "input" if share > LARGE else "compute" if share < SMALL else "unclear"
    line = {
        "tool": "SPDL",
        "name": a.name,
        "label": f"headspace {100 * share:.0f} %",
        "folded": folded,
        "seconds": round(time.perf_counter() - start, 1),
        "headspace": round(share, 4),
        "step_ms": round(real, 2),
        "cached_step_ms": round(cached, 2),
        "copy_in": a.copy_in,
        "version": importlib.metadata.version("spdl"),
    }
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
