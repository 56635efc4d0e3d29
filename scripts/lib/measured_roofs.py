"""What a GPU's memory and arithmetic give here, by torch: bytes/s of copying 1 GiB on the device,
read and write together, and FLOP/s of a product of two 8192x8192 matrices in bf16, each the best of
ten. Prints them as a JSON list. Exit code 1: no torch, or no GPU."""

import json
import sys

try:
    import torch
except ImportError:
    sys.exit(1)
if not torch.cuda.is_available():
    sys.exit(1)


def best_s(action, tries=10):
    best = float("inf")
    for _ in range(tries):
        begun, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begun.record()
        action()
        ended.record()
        ended.synchronize()
        best = min(best, begun.elapsed_time(ended) / 1e3)
    return best


source = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
target = torch.empty_like(source)
bytes_per_s = 2 * source.numel() / best_s(lambda: target.copy_(source))
side = 8192
a, b = (torch.randn(side, side, dtype=torch.bfloat16, device="cuda") for _ in range(2))
out = torch.empty_like(a)
flops_per_s = 2 * side**3 / best_s(lambda: torch.mm(a, b, out=out))
print(json.dumps([bytes_per_s, flops_per_s]))
