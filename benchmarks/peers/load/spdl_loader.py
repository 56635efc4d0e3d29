"""SPDL: FFmpeg decodes, crops and scales in --workers threads of one process. The crop is drawn
from the size that the folder's name says (WIDTHxHEIGHT): FFmpeg wants it before the picture is
opened."""

import math
import pathlib
import random

import spdl.io
from common import BATCH, RATIO, SCALE, arguments, measure
from spdl.pipeline import PipelineBuilder


def random_crop(width, height):
    for _ in range(10):
        area = width * height * random.uniform(*SCALE)
        ratio = math.exp(random.uniform(*map(math.log, RATIO)))
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            return w, h, random.randint(0, width - w), random.randint(0, height - h)
    side = min(width, height)
    return side, side, (width - side) // 2, (height - side) // 2


def main():
    a = arguments()
    width, height = map(int, pathlib.Path(a.folder).name.split("x"))
    files = [
        str(path) for path in pathlib.Path(a.folder).rglob("*") if path.suffix in (".jpg", ".png")
    ]

    def endless_files():
        while True:
            yield from random.sample(files, len(files))

    def load(path):
        w, h, x, y = random_crop(width, height)
        flip = ",hflip" if random.random() < 0.5 else ""
        crop = f"crop={w}:{h}:{x}:{y}:exact=1"
        scale = f"scale={a.size}:{a.size}:flags=bilinear{flip}"
        steps = f"{crop},{scale},format=pix_fmts=rgb24"
        return spdl.io.decode_packets(spdl.io.demux_image(path), filter_desc=steps)

    pipeline = (
        PipelineBuilder()
        .add_source(endless_files())
        .pipe(load, concurrency=a.workers)
        .aggregate(BATCH)
        .pipe(spdl.io.convert_frames)
        .add_sink(4)
        .build(num_threads=a.workers)
    )
    with pipeline.auto_stop():
        batches = iter(pipeline)
        measure(
            (spdl.io.to_numpy(batch).shape[0] for batch in batches),
            a.seconds,
            version="0.8.0",
            filter="antialias",
        )


main()
