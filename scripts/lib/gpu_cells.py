"""The cells that gpu-check measures: their parts, names and commands."""

from gpu_pictures import MIXED, ONE_SIZE, of_one_size

PARTS = ["checks", "ceilings", "rungs", "data", "copies", "precisions", "batches"]
PRECISIONS = ["fp32", "tf32", "fp16", "auto"]  # auto: bf16 or fp16
# Ways that are right wherever the program runs: they need no qualification.
FIXED = ["--memory-format", "channels_last", "--batch-norm", "library", "--optimizer", "loop"]
FIXED += ["--master-weights", "off", "--cudnn-benchmark", "on", "--cuda-graph", "off"]
FIXED += ["--stem", "convolution", "--graph-memsets", "nodes"]
CEILINGS = ["ceiling", "the ceiling again"]
QUALIFYING = [CEILINGS[0], "batch sizes"]


def cells(a, dataset):
    """(part, name, what it shows, options), in the order in which they run."""
    last = a.precision[-1]
    ceiling = ["--data", "synthetic", "--precision", last]
    real = ["--precision", last, "--workers", str(a.workers), "--page-cache", "warm"]
    real += ["--dataset", str(dataset)] + ([] if a.dataset else MIXED)
    tensors, jpeg = [*real, "--data", "tensor"], [*real, "--data", "jpeg"]
    # What is decoded or augmented on the GPU is a batch of one size.
    of_one = {str(dataset): str(of_one_size(dataset)), MIXED[1]: ONE_SIZE[1]}
    whole = jpeg if a.dataset else [of_one.get(word, word) for word in jpeg]
    mixed, one = ("", "") if a.dataset else (" of ImageNet's sizes", f" of {ONE_SIZE[1]}")
    yield "checks", "test_cuda", "kernels, graphs, slabs, precisions", None
    yield "ceilings", f"synthetic {last}, fixed ways", "before any choice", [*ceiling, *FIXED]
    # What is found at this first use, all others use.
    chooses = "rungs" if "rungs" in a.only else "ceilings"
    yield chooses, f"synthetic {last}", CEILINGS[0], ceiling
    noise = [*ceiling, "--synthetic", "noise"]
    yield "ceilings", f"synthetic {last}, noise", "noise instead of pictures", noise
    yield "data", "tensor", "read, collate", tensors
    yield "data", f"jpeg{mixed}", "read, decode, augment", jpeg
    if not a.dataset:
        yield "data", f"jpeg{one}", "read, decode, augment", whole
    augmented = [*whole, "--augment-on", "device"]
    yield "data", f"jpeg{one}, augmented on the GPU", "read, decode", augmented
    for share in (100, 70, 0):
        options = [*whole, "--decoder", "nvjpeg", "--jpeg-engine", str(share)]
        yield "data", f"jpeg{one} by nvJPEG, --jpeg-engine {share}", "read", options
    yield "ceilings", f"synthetic {last}, again", CEILINGS[1], ceiling
    yield "copies", "tensor, cache device", "normalise", [*tensors, "--cache", "device"]
    for pinned, shows in (("on", "copy beside the step"), ("off", "copy from ordinary memory")):
        options = [*tensors, "--cache", "host", "--pin-memory", pinned]
        yield "copies", f"tensor, cache host, --pin-memory {pinned}", shows, options
    for precision in a.precision[:-1]:
        options = ["--data", "synthetic", "--precision", precision]
        yield "precisions", f"synthetic {precision}", "ceiling of its own", options
    yield "batches", f"synthetic {last}, qualified again", QUALIFYING[1], [*ceiling, "--qualify"]


def command(a, program, options):
    return [
        str(program),
        "run",
        "--device",
        a.device,
        "--model",
        a.model,
        "--batch-size",
        str(a.batch_size),
        "--input-size",
        str(a.input_size),
        "--min-seconds",
        str(a.seconds),
        "--max-seconds",
        str(max(30, a.seconds)),
        "--max-warmup-seconds",
        "60",  # cuDNN's search counts
        "--no-ceiling",
        "--json",
        "--verbose",  # each way of making a step as soon as it is known
        *options,
    ]
