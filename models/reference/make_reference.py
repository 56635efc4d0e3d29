#!/usr/bin/env python3
"""Writes expected.json: torchvision's ResNets on weights and pictures made by a formula.

    python make_reference.py [-o expected.json]    two minutes; needs torch and torchvision (CPU)

tests/models fills the C++ networks by the same formula (tests/models/formula.h is its twin) and
compares every figure. Each case is one training step on the CPU: forward, cross entropy, backward,
SGD; the logits in evaluation mode before and after it. The figures are those of fp64. How far fp32
is from them in torchvision, by two sets of kernels, is printed and recorded: far below the tests'
fp32 tolerance, or that comparison would be ill-conditioned. For gradients it can be: one activation
that rounding carries across zero opens or shuts a ReLU, which moved gradient norms of ResNet-152 by
0.4 %, with one CPU's kernels and not with another's. So the gradients of the cases with the most
activations are compared in fp64 only (`gradients_in_fp32`), all others in both.
"""

import argparse
import json
import pathlib
import platform

import numpy as np
import torch
import torchvision

MODELS = ["resnet18", "resnet34", "resnet50", "resnet101", "resnet152"]
CASES = [  # model, pictures, pixels, whether gradients are well-conditioned in fp32
    ("resnet18", 4, 64, True),
    ("resnet34", 4, 64, True),
    ("resnet50", 4, 64, True),
    ("resnet101", 4, 64, True),
    ("resnet152", 4, 64, False),
    ("resnet50", 4, 224, False),
]
LEARNING_RATE, MOMENTUM, WEIGHT_DECAY = 0.1, 0.9, 1e-4
CLASS_STRIDE = 50  # every 50th logit of each picture is stored


# --- the formula: integers until the last step, so that every language gets the same floats ---


def seed_of(name):
    """FNV-1a, 32 bits, of the name."""
    seed = 0x811C9DC5
    for byte in name.encode():
        seed = (seed ^ byte) * 0x01000193 & 0xFFFFFFFF
    return seed


def hashes(name, count):
    """One 32-bit hash an element: Weyl sequence from the name's seed, mixed by lowbias32."""
    h = np.arange(count, dtype=np.uint32) * np.uint32(0x9E3779B1) + np.uint32(seed_of(name))
    h ^= h >> np.uint32(16)
    h *= np.uint32(0x7FEB352D)
    h ^= h >> np.uint32(15)
    h *= np.uint32(0x846CA68B)
    h ^= h >> np.uint32(16)
    return h


def uniform(name, shape):
    """fp32 in [-1, 1), multiples of 2^-23: exact."""
    h = hashes(name, int(np.prod(shape)))
    scaled = (h >> np.uint32(8)).astype(np.float32) * np.float32(2**-23)
    return (scaled - np.float32(1)).reshape(shape)


def formula(name, shape):
    """A parameter's or buffer's values, rounded once each, as the constants are powers of two.

    Batch norms multiply by a half and add one, so most of what a ReLU sees lies two standard
    deviations above zero: few activations are close enough to zero for rounding to matter.
    """
    if name.endswith("num_batches_tracked"):
        return np.zeros(shape, np.int64)
    u = uniform(name, shape)
    if len(shape) > 1:  # convolutions and the classifier: variance 2 / fan_in
        return u * np.float32(np.sqrt(6.0 / np.prod(shape[1:])))
    if name.endswith("running_var"):
        return np.float32(1) + np.float32(0.25) * u
    if name.endswith("running_mean") or name == "fc.bias":
        return np.float32(0.25) * u
    return np.float32(0.5 if name.endswith(".weight") else 1) + np.float32(0.25) * u


def pictures(count, pixels):
    """Eight by eight squares of random colours, so that pictures differ, and a quarter of noise."""
    side = pixels // 8
    squares = uniform("squares", (count, 3, 8, 8)).repeat(side, axis=2).repeat(side, axis=3)
    return squares + np.float32(0.25) * uniform("noise", (count, 3, pixels, pixels))


# --- what is compared ---


def fill(model):
    for name, tensor in model.state_dict().items():
        tensor.copy_(torch.from_numpy(np.asarray(formula(name, tuple(tensor.shape)))))


def norms(tensors):
    return [t.double().norm().item() for t in tensors]


def logits_of(tensor):
    return tensor.double()[:, ::CLASS_STRIDE].flatten().tolist()


def run(name, count, pixels, dtype):
    model = getattr(torchvision.models, name)()
    fill(model)
    model.to(dtype)
    images = torch.from_numpy(pictures(count, pixels)).to(dtype)
    labels = torch.from_numpy((hashes("labels", count) % np.uint32(1000)).astype(np.int64))
    result = {"model": name, "pictures": count, "pixels": pixels}

    model.eval()
    with torch.no_grad():
        result["eval_logits_before"] = logits_of(model(images))
    model.train()
    optimiser = torch.optim.SGD(
        model.parameters(), lr=LEARNING_RATE, momentum=MOMENTUM, weight_decay=WEIGHT_DECAY
    )
    logits = model(images)
    loss = torch.nn.functional.cross_entropy(logits, labels)
    loss.backward()
    optimiser.step()
    result["train_logits"] = logits_of(logits.detach())
    result["loss"] = [loss.item()]
    result["gradient_norms"] = norms(p.grad for p in model.parameters())
    result["parameter_norms_after"] = norms(p.detach() for p in model.parameters())
    running = [b for n, b in model.named_buffers() if not n.endswith("num_batches_tracked")]
    result["running_norms_after"] = norms(running)
    model.eval()
    with torch.no_grad():
        result["eval_logits_after"] = logits_of(model(images))
    return result


def difference(key, a, b):
    """Largest relative difference: of logits to the largest of them, of norms each to its own.

    A norm below a ten-thousandth of the largest counts as that much: the gradients of some biases
    vanish, as the batch norm behind them takes a constant away, and are nothing but rounding.
    """
    a, b = np.array(a), np.array(b)
    largest = np.abs(b).max()
    scale = largest if "logits" in key else np.maximum(np.abs(b), 1e-4 * largest)
    return float(np.max(np.abs(a - b) / scale))


def figures(values):
    """Twelve digits: the tests ask for nine."""
    return [float(f"{v:.12g}") for v in values]


def describe(name):
    """Names and shapes in order, the parameter count, and the initial values' norms from seed 0."""
    torch.manual_seed(0)
    model = getattr(torchvision.models, name)()
    return {
        "parameter_count": sum(p.numel() for p in model.parameters()),
        "parameters": [[n, list(p.shape)] for n, p in model.named_parameters()],
        "buffers": [[n, list(b.shape)] for n, b in model.named_buffers()],
        "initial_norms_seed_0": figures(norms(p.detach() for p in model.parameters())),
    }


def run_other_kernels(*arguments):
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.backends.mkldnn.enabled = False
    result = run(*arguments)
    torch.backends.mkldnn.enabled = True
    torch.set_num_threads(threads)
    return result


def case(name, count, pixels, gradients_in_fp32):
    expected = run(name, count, pixels, torch.float64)
    keys = [key for key, value in expected.items() if isinstance(value, list)]
    differences = {}
    for kernels, runner in {"oneDNN": run, "without oneDNN": run_other_kernels}.items():
        single = runner(name, count, pixels, torch.float32)
        worst = {key: f"{difference(key, single[key], expected[key]):.1e}" for key in keys}
        print(f"{name} {count}x{pixels}, fp32 ({kernels}) against fp64:", worst, flush=True)
        differences[kernels] = {key: float(value) for key, value in worst.items()}
    for key in keys:
        expected[key] = figures(expected[key])
    expected["gradients_in_fp32"] = gradients_in_fp32
    return expected | {"fp32_to_fp64": differences}


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=pathlib.Path, default=here / "expected.json")
    output = parser.parse_args().output
    reference = {
        "versions": {
            "torch": torch.__version__,
            "torchvision": torchvision.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
            "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        },
        "sgd": {"lr": LEARNING_RATE, "momentum": MOMENTUM, "weight_decay": WEIGHT_DECAY},
        "class_stride": CLASS_STRIDE,
        "formula": {name: uniform(name, (8,)).tolist() for name in ("noise", "fc.bias")},
        "models": {name: describe(name) for name in MODELS},
        "cases": [case(*c) for c in CASES],
    }
    text = json.dumps(reference, separators=(",", ":"))
    output.write_text(text.replace('{"model"', '\n{"model"') + "\n")  # a case a line
    print(f"{output}: {output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
