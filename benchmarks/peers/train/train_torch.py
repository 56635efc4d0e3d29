"""The same training step as feedrate's `cpu` and `cuda` devices, in Python PyTorch: torchvision's
network, a ring of four ready, normalised random batches on the device, SGD with momentum and weight
decay, 16 bits by autocast with (fp16) a GradScaler. For each line read, one block of steps, and its
images per second as one line. With --data the batches are JPEGs of a folder of class folders, read,
decoded, cropped, resized, flipped and normalised by NVIDIA DALI (on a GPU by nvJPEG).

  eager     step by step
  compile   torch.compile of network and loss; with --mode max-autotune its kernels are tuned and,
            on a GPU, replayed as a graph
  graph     the whole step as one CUDA graph, as PyTorch's notes on CUDA graphs show it"""

import argparse
import itertools
import sys
import time

import torch
import torchvision


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("variant", choices=["eager", "compile", "graph"])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--model", default="resnet50")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--input-size", type=int, default=224)
    parser.add_argument("--precision", choices=["fp32", "tf32", "fp16", "bf16"], default="fp32")
    parser.add_argument(
        "--memory-format", choices=["channels_last", "contiguous"], default="channels_last"
    )
    parser.add_argument(
        "--mode", default="default", help="of torch.compile: default, max-autotune ..."
    )
    parser.add_argument("--threads", type=int, default=0, help="on a CPU")
    parser.add_argument("--steps", type=int, default=10, help="in a block")
    parser.add_argument(
        "--data", help="folder of JPEGs for DALI; else random batches that lie on the device"
    )
    parser.add_argument("--workers", type=int, default=2, help="DALI's threads")
    parser.add_argument("--warmup", type=int, default=4, help="steps before the first block")
    return parser.parse_args()


class Training:
    def __init__(self, a):
        self.a, self.cuda = a, a.device.startswith("cuda")
        if a.threads:
            torch.set_num_threads(a.threads)
        torch.manual_seed(0)
        torch.backends.cudnn.benchmark = True
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = (
            a.precision == "tf32"
        )
        layout = {"channels_last": torch.channels_last, "contiguous": torch.contiguous_format}[
            a.memory_format
        ]
        self.model = (
            getattr(torchvision.models, a.model)().to(a.device, memory_format=layout).train()
        )
        self.sgd = torch.optim.SGD(
            self.model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4, fused=True
        )
        self.type = {"fp16": torch.float16, "bf16": torch.bfloat16}.get(a.precision)
        self.scaler = torch.amp.GradScaler(a.device, enabled=a.precision == "fp16")
        if a.data:
            import dali_batches

            self.batches = dali_batches.batches(a.data, a, self.type or torch.float32, layout)
        else:
            self.ring = [self.random_batch(layout) for _ in range(4)]
            self.batches = itertools.cycle(self.ring)
        self.loss_of = (
            torch.compile(self.forward, mode=a.mode) if a.variant == "compile" else self.forward
        )
        self.graphs = (
            [self.captured(batch) for batch in self.ring] if a.variant == "graph" else None
        )
        self.replays = itertools.cycle(self.graphs or [])

    def random_batch(self, layout):
        a = self.a
        shape = (a.batch_size, 3, a.input_size, a.input_size)
        return (
            torch.randn(shape, device=a.device)
            .to(self.type or torch.float32)
            .contiguous(memory_format=layout),
            torch.randint(1000, (a.batch_size,), device=a.device),
        )

    def forward(self, images, labels):
        with torch.autocast(
            self.a.device.split(":")[0],
            self.type,
            enabled=self.type is not None,
            cache_enabled=False,
        ):
            logits = self.model(images)
        return torch.nn.functional.cross_entropy(logits.float(), labels)

    def work(self, images, labels):
        self.sgd.zero_grad(set_to_none=True)
        loss = self.loss_of(images, labels)
        self.scaler.scale(loss).backward()
        self.scaler.step(self.sgd)
        self.scaler.update()
        return loss

    def captured(self, batch):
        """A graph for each batch of the ring, so that none is copied; they share one pool."""
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.work(*batch)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        self.pool = getattr(self, "pool", None) or torch.cuda.graph_pool_handle()
        with torch.cuda.graph(graph, pool=self.pool):
            self.work(*batch)
        return graph

    def step(self):
        if self.graphs:
            return next(self.replays).replay()
        loss = self.work(*next(self.batches))
        # feedrate's cpu device reads each loss; on a GPU neither waits for it.
        return loss if self.cuda else loss.item()

    def block(self):
        start = time.perf_counter()
        for _ in range(self.a.steps):
            self.step()
        if self.cuda:
            torch.cuda.synchronize()
        return self.a.steps * self.a.batch_size / (time.perf_counter() - start)


def main():
    a = parse()
    training = Training(a)
    for _ in range(a.warmup):
        training.step()
    if training.cuda:
        torch.cuda.synchronize()
    print("ready", flush=True)
    for _ in sys.stdin:
        print(f"{training.block():.6f}", flush=True)


if __name__ == "__main__":
    main()
