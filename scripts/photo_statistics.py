#!/usr/bin/env python3
"""Compares generated pictures with photographs, as a Markdown table.

    feedrate gen DATA --format png --image-size 224,500x375,640x427 --count 200
    scripts/photo_statistics.py DATA [--photographs FOLDER ...]

Every size that DATA holds (the width and height of its pictures) gets a table. The photographs are
cut to that size's aspect ratio and scaled down by area averaging, never up; those that are too
small for a size are left out of it. Without --photographs, the colour photographs that scikit-image
and scikit-learn carry in their wheels are taken. Needs numpy and Pillow; PNG decode times are
libspng's where the library is installed, Pillow's otherwise.
"""

import argparse
import collections
import ctypes
import ctypes.util
import importlib.util
import io
import math
import pathlib
import random
import sys
import time

import numpy as np
from PIL import Image

SUFFIXES = {".png", ".jpg", ".jpeg", ".ppm", ".bmp"}
PACKAGED = {
    "skimage": [
        "data/astronaut.png",
        "data/chelsea.png",
        "data/coffee.png",
        "data/motorcycle_left.png",
        "data/rocket.jpg",
    ],
    "sklearn": ["datasets/images/china.jpg", "datasets/images/flower.jpg"],
}
# name, format of a value, what it is
METRICS = {
    "jpeg90": ("JPEG quality 90, 4:2:0, bits per pixel", ".2f"),
    "jpeg75": ("JPEG quality 75, 4:2:0, bits per pixel", ".2f"),
    "png": ("PNG level 6, bits per pixel", ".2f"),
    "jpeg_ms": ("JPEG (quality 90) decode, ms per megapixel", ".2f"),
    "png_ms": ("PNG decode, ms per megapixel", ".1f"),
    "slope": ("spectral slope (log power over log frequency)", ".2f"),
    "kurtosis": ("kurtosis of the luma gradient (Gaussian: 3)", ".1f"),
    "gradient": ("mean absolute luma gradient, grey levels per pixel", ".2f"),
    "contrast": ("standard deviation of luma, grey levels", ".1f"),
    "chroma": ("standard deviation of chroma (Cb, Cr), grey levels", ".1f"),
}


class Spng:
    """libspng through ctypes: PNG bytes to RGB, as feedrate decodes."""

    RGB8 = 4

    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.pixels = b""
        self.lib.spng_ctx_new.restype = ctypes.c_void_p
        self.lib.spng_ctx_new.argtypes = [ctypes.c_int]
        self.lib.spng_ctx_free.argtypes = [ctypes.c_void_p]
        self.lib.spng_set_png_buffer.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
        self.lib.spng_decode_image.argtypes = [
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_size_t,
            ctypes.c_int,
            ctypes.c_int,
        ]

    def __call__(self, encoded, size):
        if len(self.pixels) != size[0] * size[1] * 3:  # kept: fresh pages would be in the time
            self.pixels = ctypes.create_string_buffer(size[0] * size[1] * 3)
        context = self.lib.spng_ctx_new(0)
        error = self.lib.spng_set_png_buffer(context, encoded, len(encoded))
        error = error or self.lib.spng_decode_image(
            context, self.pixels, len(self.pixels), self.RGB8, 0
        )
        self.lib.spng_ctx_free(context)
        if error:
            raise ValueError(f"libspng: error {error}")


def pillow_decode(encoded, _size):
    Image.open(io.BytesIO(encoded)).load()


def encode(picture, **options):
    out = io.BytesIO()
    picture.save(out, **options)
    return out.getvalue()


def decode_ms(decode, encoded, size, repeats):
    """CPU time of the fastest of several: the one that the machine's other work disturbed least."""
    best = math.inf
    for _ in range(repeats):
        begin = time.thread_time()
        decode(encoded, size)
        best = min(best, time.thread_time() - begin)
    return best * 1e3 / (size[0] * size[1] / 1e6)


def spectral_slope(luma):
    """Slope of the radially averaged power from 4 cycles per picture to 0.4 cycles per pixel."""
    height, width = luma.shape
    window = np.hanning(height)[:, None] * np.hanning(width)[None, :]
    power = np.abs(np.fft.fft2((luma - luma.mean()) * window)) ** 2
    radius = np.hypot(np.fft.fftfreq(height)[:, None], np.fft.fftfreq(width)[None, :])
    edges = np.geomspace(4 / min(width, height), 0.4, 17)
    bins = np.digitize(radius.ravel(), edges)
    frequency, mean = [], []
    for index in range(1, len(edges)):
        inside = bins == index
        if inside.any():
            frequency.append(np.log(radius.ravel()[inside]).mean())
            mean.append(np.log(power.ravel()[inside].mean() + 1e-9))
    return np.polyfit(frequency, mean, 1)[0]


def measure(picture, png_decode, repeats):
    width, height = picture.size
    bits = 8 / (width * height)
    jpeg90 = encode(picture, format="JPEG", quality=90, subsampling="4:2:0")
    jpeg75 = encode(picture, format="JPEG", quality=75, subsampling="4:2:0")
    png = encode(picture, format="PNG", compress_level=6)
    ycc = np.asarray(picture.convert("YCbCr"), np.float64)
    luma = ycc[..., 0]
    gradient = np.concatenate([np.diff(luma, axis=0).ravel(), np.diff(luma, axis=1).ravel()])
    return {
        "jpeg90": len(jpeg90) * bits,
        "jpeg75": len(jpeg75) * bits,
        "png": len(png) * bits,
        "jpeg_ms": decode_ms(pillow_decode, jpeg90, picture.size, repeats),
        "png_ms": decode_ms(png_decode, png, picture.size, repeats),
        "slope": spectral_slope(luma),
        "kurtosis": (gradient**4).mean() / max((gradient**2).mean(), 1e-9) ** 2,
        "gradient": np.abs(gradient).mean(),
        "contrast": luma.std(),
        "chroma": math.sqrt((ycc[..., 1].var() + ycc[..., 2].var()) / 2),
    }


def fit(photograph, size):
    """Cut to the aspect ratio of `size`, then averaged down to it; None if it is too small."""
    width, height = photograph.size
    scale = min(width / size[0], height / size[1])
    if scale < 1:
        return None
    left, top = (width - size[0] * scale) / 2, (height - size[1] * scale) / 2
    box = (left, top, left + size[0] * scale, top + size[1] * scale)
    return photograph.resize(size, Image.Resampling.BOX, box=box)


def files_below(folders):
    for folder in folders:
        found = sorted(p for p in pathlib.Path(folder).rglob("*") if p.suffix.lower() in SUFFIXES)
        if not found:
            kinds = ", ".join(sorted(SUFFIXES))
            sys.exit(f"{folder}: holds no pictures; give a folder with {kinds}")
        yield from found


def packaged_photographs():
    for package, names in PACKAGED.items():
        spec = importlib.util.find_spec(package)
        if spec is None:
            sys.exit(f"{package}: not installed; install it, or give --photographs FOLDER")
        yield from (pathlib.Path(spec.origin).parent / name for name in names)


def describe(values, form):
    return f"{np.mean(values):{form}} ± {np.std(values):{form}}"


def row(text, form, generated, photographs):
    ratio = np.mean(generated) / np.mean(photographs) if photographs else math.nan
    low, high = np.percentile(generated, [10, 90])
    line = f"| {text} | {describe(generated, form)} | {low:{form}} to {high:{form}} |"
    if not photographs:
        return line + " - | - | - |"
    low, high = np.percentile(photographs, [10, 90])
    return line + f" {describe(photographs, form)} | {low:{form}} to {high:{form}} | {ratio:.2f} |"


def print_table(size, generated, photographs):
    counts = f"{len(generated)} generated, {len(photographs)} photographs"
    print(f"\n### {size[0]}x{size[1]}: {counts}\n")
    print("| mean ± deviation; 10th to 90th percentile | generated | | photographs | | ratio |")
    print("|---|---|---|---|---|---|")
    for name, (text, form) in METRICS.items():
        print(row(text, form, [m[name] for m in generated], [m[name] for m in photographs]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("pictures", help="folder of generated pictures, searched recursively")
    parser.add_argument("--photographs", nargs="+", metavar="FOLDER")
    parser.add_argument("--count", type=int, default=200, help="generated pictures of each size")
    parser.add_argument("--repeats", type=int, default=7, help="decodes, the fastest counts")
    options = parser.parse_args()

    spng = ctypes.util.find_library("spng")
    png_decode = Spng(spng) if spng else pillow_decode
    by_size = collections.defaultdict(list)
    for path in files_below([options.pictures]):
        with Image.open(path) as picture:
            if len(by_size[picture.size]) < options.count:
                by_size[picture.size].append(path)
    sources = files_below(options.photographs) if options.photographs else packaged_photographs()
    photographs = [Image.open(path).convert("RGB") for path in sources]

    print(f"PNG decoded by {'libspng' if spng else 'Pillow'}, JPEG by Pillow (libjpeg-turbo).")
    for size, paths in sorted(by_size.items()):
        work = [(Image.open(path).convert("RGB"), True) for path in paths]
        work += [(picture, False) for p in photographs if (picture := fit(p, size))]
        random.Random(0).shuffle(work)  # so that the machine's drift falls on both alike
        done = [(measure(picture, png_decode, options.repeats), made) for picture, made in work]
        print_table(size, [m for m, made in done if made], [m for m, made in done if not made])


if __name__ == "__main__":
    main()
