"""What a training step of ResNet-50 must at least move and compute, per image: the two rooflines of
a GPU.

Every activation counts each time a kernel reads or writes it, 2 bytes an element (fp16, bf16). Left
out are the weights (per image only 1/batch of their bytes) and the two poolings (2 %). Convolution:
the forward pass reads its input and writes its output; the weights' gradient reads the input and
the output's gradient; the input's gradient reads the output's gradient and writes its own. The
other operations, in reads and writes of one activation: batch normalisation 3 forward and 5
backward, ReLU in place 2 and 3, addition 3 and 3 (the sum of two gradients). Batch normalisation
that is fused with what follows it takes 3 forward and 5 backward in all, 1 more to read a shortcut,
and 2 more to write its gradient and to read the gradient of the other reader."""

import re

BYTES = 2
BLOCKS = ((3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2))  # number, width, stride of the first


# Bytes/s of memory and dense 16-bit FLOP/s, from NVIDIA's data sheets; the first name that fits
# counts.
DATA_SHEETS = [
    ("GH200", 4.0e12, 989e12),
    ("H200", 4.8e12, 989e12),
    ("H100 NVL", 3.9e12, 835e12),
    ("H100 PCIe", 2.0e12, 756e12),
    ("H100", 3.35e12, 989e12),
    ("A100 80GB PCIe", 1.935e12, 312e12),
    ("A100-SXM4-80GB", 2.039e12, 312e12),
    ("A100", 1.555e12, 312e12),
    ("V100", 0.9e12, 125e12),
    ("L40S", 0.864e12, 362e12),
    ("L4", 0.3e12, 121e12),
    ("T4", 0.32e12, 65e12),
    ("B200", 8.0e12, 2250e12),
]


def data_sheet(name):
    """[bytes/s, FLOP/s] of a whole GPU of this name; None: unknown."""
    if "MIG" in name:
        return None
    return next(
        (list(peaks) for known, *peaks in DATA_SHEETS if re.search(rf"\b{known}\b", name)), None
    )


def convolutions(size=224):
    """Yields ((in channels, in side, out channels, out side, kernel), what follows it) for each of
    the 53 convolutions."""
    side = (size + 1) // 2
    yield (3, size, 64, side, 7), "relu"
    side = (side + 1) // 2
    channels = 64
    for number, width, stride in BLOCKS:
        for block in range(number):
            step = stride if block == 0 else 1
            out = (side + step - 1) // step
            yield (channels, side, width, side, 1), "relu"
            yield (width, side, width, out, 3), "relu"
            yield (width, out, 4 * width, out, 1), "add"
            if block == 0:
                yield (channels, side, 4 * width, out, 1), "nothing"
            channels, side = 4 * width, out


def flops_per_image(size=224):
    """Multiplications and additions of forward and backward (thrice the forward's)."""
    forward = sum(
        2 * cin * cout * k * k * side * side for (cin, _, cout, side, k), _ in convolutions(size)
    )
    return 3 * (forward + 2 * 2048 * 1000)


def bytes_per_image(size=224, fused=False):
    passes = {"nothing": 8, "relu": 8 if fused else 13, "add": 11 if fused else 19}
    total = 0
    for (cin, side, cout, out, _), then in convolutions(size):
        total += 3 * cin * side * side + (3 + passes[then]) * cout * out * out
    return BYTES * total


def bounds(bytes_per_s, flops_per_s, size=224):
    """Images per second that memory and arithmetic allow: (unfused, fused, arithmetic)."""
    return (
        bytes_per_s / bytes_per_image(size),
        bytes_per_s / bytes_per_image(size, fused=True),
        flops_per_s / flops_per_image(size),
    )


# The prediction that docs/gpu.md gives before anything was measured. What a kernel reaches of the
# data sheet, and how far apart kernels start: taken, not measured.
OF_BYTES, OF_FLOPS = 0.8, 0.6
GAP_S, GAP_IN_GRAPH_S = 1.5e-6, 0.6e-6
WEIGHTS, TENSORS = 25.6e6, 161


def activations_s(bytes_per_s, flops_per_s, size, transposed, fused):
    """Seconds of an image's convolutions, each bound by memory or by arithmetic, and of what
    follows them. `transposed`: NCHW, which tensor cores' kernels turn round before and after."""
    passes = {"nothing": 8, "relu": 8 if fused else 13, "add": 11 if fused else 19}
    memory, arithmetic = OF_BYTES * bytes_per_s, OF_FLOPS * flops_per_s
    seconds = 0.0
    for (cin, side, cout, out, kernel), then in convolutions(size):
        moved = BYTES * (cin * side * side + cout * out * out)
        flops = 2 * cin * cout * kernel * kernel * out * out
        seconds += 3 * max(moved / memory, flops / arithmetic)
        seconds += 3 * 2 * moved / memory if transposed else 0.0
        seconds += BYTES * passes[then] * cout * out * out / memory
    return seconds


def predicted(bytes_per_s, flops_per_s, batch=256, size=224):
    """(rung, images/s), each on top of the one before it."""
    layers, joins = 53, 16
    kernels = (
        layers * 5 + (layers - 4) * 2 + joins * 3
    )  # of the network, without counters and casts
    rungs = (  # transposed, fused, kernels beside the network's, bytes of each weight, gap
        ("plain", True, False, layers + 8 * TENSORS, 52, GAP_S),
        ("memory-format channels_last", False, False, layers + 8 * TENSORS, 52, GAP_S),
        ("batch-norm library", False, False, 8 * TENSORS, 52, GAP_S),
        ("optimizer fused", False, False, 4 * TENSORS + 4, 28, GAP_S),
        ("master-weights on", False, False, 8, 24, GAP_S),
        ("cuda-graph on", False, False, 8, 24, GAP_IN_GRAPH_S),
        ("batch-norm fused", False, True, 8 - 2 * (layers - 4) - 2 * joins, 24, GAP_IN_GRAPH_S),
    )
    for name, transposed, fused, more, of_weight, gap in rungs:
        step_s = batch * activations_s(bytes_per_s, flops_per_s, size, transposed, fused)
        step_s += (kernels + more) * gap + of_weight * WEIGHTS / (OF_BYTES * bytes_per_s)
        yield name, batch / step_s


if __name__ == "__main__":
    sheets = {"A100 40GB": "A100", "H100 SXM": "H100", "H200": "H200"}
    columns = {title: dict(predicted(*data_sheet(name))) for title, name in sheets.items()}
    print("| on top of those above | " + " | ".join(f"{name} img/s" for name in columns) + " |")
    print("|---" * (1 + len(columns)) + "|")
    for rung in next(iter(columns.values())):
        print(f"| {rung} | " + " | ".join(f"{c[rung]:,.0f}" for c in columns.values()) + " |")
