"""The pictures that gpu-check makes, and trains on."""

import shlex
import subprocess
import sys

MIXED, ONE_SIZE = ["--image-size", "mixed"], ["--image-size", "500x375"]


def of_one_size(dataset):
    """The folder beside a dataset that was made here whose pictures have one size."""
    return dataset.with_name("one-size")


def made_here(dataset):
    return {str(dataset), str(of_one_size(dataset))}


def make_dataset(a, program, folder, timeout_s=None):
    """Pictures of ImageNet's sizes and tensors of them; for the table as many JPEGs of one size
    beside it. All have ImageNet's bytes."""
    pictures = ["--like", "imagenet", "--input-size", str(a.input_size), "--format", "tensor,jpeg"]
    whole = ["--like", "imagenet", *ONE_SIZE, "--format", "jpeg"]
    all_made = [(folder, pictures)] + ([] if a.share else [(of_one_size(folder), whole)])
    for made, kind in all_made:
        arguments = [str(program), "gen", str(made), "--count", str(a.count), *kind]
        print(f"$ {shlex.join(arguments)}", file=sys.stderr)
        done = subprocess.run(arguments, stdout=sys.stderr, timeout=timeout_s)
        if done.returncode != 0:
            sys.exit("feedrate gen: failed; give --dataset, or TMPDIR a folder with more space")
