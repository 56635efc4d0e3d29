"""The same training step as feedrate's `cpu` device, in eager PyTorch: torchvision's network, a ring of
four ready, normalised random batches, channels_last, SGD with momentum and weight decay, the loss read
every step. For each line read, one block of steps, and its images per second as one line."""
import argparse
import sys
import time

import torch
import torchvision


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("batch_size", type=int)
    parser.add_argument("input_size", type=int)
    parser.add_argument("threads", type=int)
    parser.add_argument("steps", type=int)
    parser.add_argument("precision", choices=["fp32", "bf16"])
    parser.add_argument("--sgd", choices=["fused", "foreach", "default"], default="fused",
                        help="torch.optim.SGD's implementation; fused is the fastest on a CPU")
    a = parser.parse_args()

    torch.set_num_threads(a.threads)
    torch.manual_seed(0)
    model = getattr(torchvision.models, a.model)().to(memory_format=torch.channels_last).train()
    chosen = {} if a.sgd == "default" else {a.sgd: True}
    sgd = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4, **chosen)
    lossf = torch.nn.CrossEntropyLoss()
    shape = (a.batch_size, 3, a.input_size, a.input_size)
    dtype = torch.bfloat16 if a.precision == "bf16" else torch.float32
    ring = [(torch.randn(shape).to(dtype).contiguous(memory_format=torch.channels_last),
             torch.randint(1000, (a.batch_size,))) for _ in range(4)]
    done = 0

    def step():
        nonlocal done
        images, labels = ring[done % len(ring)]
        done += 1
        sgd.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16, enabled=a.precision == "bf16", cache_enabled=False):
            logits = model(images)
        loss = lossf(logits.float(), labels)
        loss.backward()
        sgd.step()
        return loss.item()

    for _ in range(2):
        step()
    print("ready", flush=True)
    for _ in sys.stdin:
        start = time.perf_counter()
        for _ in range(a.steps):
            step()
        print(f"{a.steps * a.batch_size / (time.perf_counter() - start):.6f}", flush=True)


if __name__ == "__main__":
    main()
