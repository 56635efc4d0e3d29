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

BYTES = 2
BLOCKS = ((3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2))  # number, width, stride of the first


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
