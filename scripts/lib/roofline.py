"""What a training step of ResNet-50 must at least move and compute, per image: the two rooflines of a GPU.

Every activation is counted each time a kernel reads or writes it, 2 bytes an element (fp16, bf16); weights, 1/batch of
a step's, and the two poolings (2 %) are left out. Convolution: forward reads its input and writes its output; the weights' gradient reads both,
the input's gradient reads the output's and writes the input's. Batch normalisation, unfused: 3 forward (two reads, a
write), 5 backward; ReLU in place 2, and 3 backward; addition 3, and 3 for the sum of two gradients. Fused with what
follows it: 3 forward and 5 backward in all, 1 more for a shortcut's read, 2 for its gradient's write and the other
reader's gradient."""

BYTES = 2
BLOCKS = ((3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2))  # number, width, stride of the first


def convolutions(size=224):
    """(in channels, in side, out channels, out side, kernel) of all 53, and after each: what follows it."""
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
    forward = sum(2 * cin * cout * k * k * side * side for (cin, _, cout, side, k), _ in convolutions(size))
    return 3 * (forward + 2 * 2048 * 1000)


def bytes_per_image(size=224, fused=False):
    passes = {"nothing": 8, "relu": 8 if fused else 13, "add": 11 if fused else 19}
    total = 0
    for (cin, side, cout, out, _), then in convolutions(size):
        total += 3 * cin * side * side + (3 + passes[then]) * cout * out * out
    return BYTES * total


def bounds(bytes_per_s, flops_per_s, size=224):
    """Images per second that memory and arithmetic allow: (unfused, fused, arithmetic)."""
    return (bytes_per_s / bytes_per_image(size), bytes_per_s / bytes_per_image(size, fused=True), flops_per_s / flops_per_image(size))
