"""What TraceML names as one bottleneck of a PyTorch training: one line of JSON.

  python with_traceml.py "decode 2x"

TraceML 0.5.0 (PyPI: traceml-ai, Apache 2.0), as its quickstart has it: traceml.init(mode="auto"),
`with traceml.trace_step(model)` around everything from the copy to optimizer.step(), and
`traceml run train.py`, whose summary mode (the default) has no terminal UI. At the end it writes
logs/RUN/final_summary.json; its `primary_diagnosis` is the verdict, of which `status` is the words
that the user sees. They can be (diagnostics/DIAGNOSIS.md and reporting/primary_diagnosis.py):

  INPUT-BOUND                        waiting for the DataLoader is 10 % of the step time or more
  H2D-BOUND                          so are copies to the GPU; by the GPU's clock only
  RESIDUAL-HEAVY                     so is what no phase covers
  COMPUTE-BOUND                      none of them, and forward, backward and optimizer are 90 %
  NO CLEAR PERFORMANCE BOTTLENECK    none of these
  LOW GPU UTILIZATION                the same, on a GPU that idles
  INSUFFICIENT STEP-TIME DATA        too few steps, or phases are missing
  ... STRAGGLER (input, compute, H2D, or plain)    of several ranks; not here

Of several, the most severe (20 % is critical), then the one with the largest share. WAIT-HEAVY of
older versions is gone. It never names read, decode, augment or collate.

There is no GPU: step and copy are slept in the training thread, a third of the step in the forward
pass, the rest and the all-reduce in the backward pass. TraceML says H2D-BOUND by the GPU's clock
alone, so with --clock gpu (the default) its CUDA events read the wall clock, which is what they
would read of a GPU that is as slow, and Tensor.to("cuda") sleeps; all else is TraceML's own code.
With --clock cpu nothing is replaced, and the copy is work that no phase covers: RESIDUAL-HEAVY.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

from bottlenecks import named, use_the_processors

FOLDED = {
    "INPUT_BOUND": "input",
    "H2D_BOUND": "copy",
    "COMPUTE_BOUND": "compute",
    "NO_CLEAR_PERFORMANCE_BOTTLENECK": "none",
}


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", help="of the bottleneck")
    parser.add_argument("--seconds", type=float, default=12, help="of training")
    parser.add_argument("--clock", choices=["gpu", "cpu"], default="gpu")
    parser.add_argument("--train", action="store_true", help="inside `traceml run`")
    return parser.parse_args()


def emulate_gpu(copy_ms):
    """Before traceml.init(): TraceML finds a GPU whose clock is the wall clock."""
    import types

    import torch
    import traceml_ai.instrumentation.hooks.optimizer_hooks as optimizer_hooks
    import traceml_ai.instrumentation.patches.h2d_auto_timer_patch as copies
    import traceml_ai.utils.timing as timing
    from service import sleep_ms

    class Event:
        def record(self):
            self.at = time.perf_counter()

        def query(self):
            return True

        def elapsed_time(self, end):
            return (end.at - self.at) * 1e3

    cuda = types.SimpleNamespace(is_available=lambda: True, current_device=lambda: 0)
    for module in (timing, optimizer_hooks):
        module.torch = types.SimpleNamespace(cuda=cuda)
        module.get_cuda_event = Event
    real_to = torch.Tensor.to

    def to(tensor, *words, **more):
        if words != ("cuda",):
            return real_to(tensor, *words, **more)
        sleep_ms(copy_ms)
        return tensor

    copies._ORIG_TENSOR_TO = to


def train(bottleneck, seconds, clock):
    """A user's training script, with the three lines that TraceML's quickstart adds."""
    import torch
    import traceml_ai as traceml
    from service import serve, sleep_ms

    if clock == "gpu":
        emulate_gpu(bottleneck.copy)
    traceml.init(mode="auto")
    torch.set_num_threads(1)

    class Pictures(torch.utils.data.Dataset):
        def __len__(self):
            return 1 << 20

        def __getitem__(self, index):
            serve(bottleneck, "read", index=index)
            serve(bottleneck, "decode")
            serve(bottleneck, "augment")
            return torch.zeros(3, 64, 64, dtype=torch.uint8)

    def collate(samples):
        serve(bottleneck, "collate", samples=len(samples))
        return torch.stack(samples)

    class Slow(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            sleep_ms(bottleneck.step / 3)
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            sleep_ms(bottleneck.step * 2 / 3 + bottleneck.all_reduce)
            return gradient

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(64, 1)

        def forward(self, images):
            return Slow.apply(self.linear(images[:, 0, 0].float()))

    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = torch.utils.data.DataLoader(
        Pictures(), bottleneck.batch, num_workers=bottleneck.workers, collate_fn=collate
    )
    end = time.perf_counter() + seconds
    for images in loader:
        with traceml.trace_step(model):
            if clock == "gpu":
                images = images.to("cuda")
            else:
                sleep_ms(bottleneck.copy)
            optimizer.zero_grad(set_to_none=True)
            loss = model(images).mean()
            loss.backward()
            optimizer.step()
        if time.perf_counter() > end:
            break


def verdict(bottleneck, a):
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as logs:
        command = [pathlib.Path(sys.executable).parent / "traceml", "run", pathlib.Path(__file__)]
        command += ["--logs-dir", logs, "--run-name", "run", "--args", bottleneck.name, "--train"]
        command += ["--seconds", str(a.seconds), "--clock", a.clock]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        summary = pathlib.Path(logs, "run/final_summary.json")
        if not summary.exists():
            sys.exit(f"TraceML wrote no summary:\n{done.stdout}\n{done.stderr}")
        found = json.loads(summary.read_text())["primary_diagnosis"]
    evidence = found["evidence"]
    return {
        "tool": "TraceML",
        "name": bottleneck.name,
        "label": found["status"],
        "severity": found["severity"],
        "folded": FOLDED.get(found["kind"], "unclear"),
        "seconds": round(time.perf_counter() - start, 1),
        "clock": evidence.get("diagnosis_clock"),
        "steps": evidence.get("steps_analyzed"),
        "step_time_ms": evidence.get("step_time_ms"),
        "input_wait_ms": evidence.get("input_wait_ms"),
        "h2d_ms": evidence.get("h2d_ms"),
        "compute_ms": evidence.get("compute_ms"),
        "residual_ms": evidence.get("residual_ms"),
    }


def main():
    a = arguments()
    use_the_processors()
    if a.train:
        train(named(a.name), a.seconds, a.clock)
    else:
        print(json.dumps(verdict(named(a.name), a)), flush=True)


if __name__ == "__main__":
    main()
