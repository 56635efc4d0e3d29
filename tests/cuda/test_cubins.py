"""The GPU kernels as they lie in the built library: for each architecture that was asked for,
all of them, without spills, and with no more registers than their launch leaves each thread.

Usage: test_cubins.py LIBRARY ARCHITECTURES FOLDER...: TORCH_CUDA_ARCH_LIST, and where cuobjdump may
lie. Skipped (77) where there is none: scripts/bootstrap --tests brings it."""

import os
import re
import shutil
import subprocess
import sys
import unittest

# Compute capabilities 7.5 to 12.0 (CUDA C++ Programming Guide, "Technical Specifications per
# Compute Capability").
REGISTERS_OF_A_PROCESSOR = 65536


def resident(name):
    """Threads of a kernel at once on a processor, its kResident: fewer where each has more loads on
    their way."""
    if "NormaliseAndPool" in name:
        return 768
    adds, joins = "ThenE2" in name, "ThenE3" in name
    few = joins or ("SumGradients" in name and not adds) or "PooledInputGradient" in name
    return 512 if few else 1024


TYPES = ("float", "Half", "BFloat16")
TYPED = ("SumDeviations", "FinishStatistics", "Normalise", "NormaliseAndPool", "SumGradients")
TYPED += ("InputGradient", "PooledInputGradient")
KERNELS = {
    (name, type) for name in (*TYPED, "NormaliseBytes", "NormaliseSpaceToDepth") for type in TYPES
} | {(name, "") for name in ("FinishGradients", "ResizeBytes", "JitterBytes", "FillRows")}

library, wanted, cuobjdump = "", set(), ""


def architectures(listed):
    """What TORCH_CUDA_ARCH_LIST asks for: {"sm_75", "compute_120"}."""
    found = set()
    for one in re.split(r"[;\s]+", listed.strip()):
        number = one.removesuffix("+PTX").replace(".", "")
        found.add(f"sm_{number}")
        if one.endswith("+PTX"):
            found.add(f"compute_{number}")
    return found


def kernel_of(name):
    """(struct, type) of a mangled name: each length stands before its word."""
    known = next((k for k, _ in sorted(KERNELS) if f"{len(k)}{k}" in name), name)
    type = next((t for t in ("BFloat16", "Half") if f"{len(t)}{t}" in name), "float")
    return known, "" if (known, "") in KERNELS else type


def usages(text):
    """[(architecture, mangled name, {"REG": 40, ...})] of `cuobjdump -res-usage`."""
    architecture, name, found = "", "", []
    for line in text.splitlines():
        if match := re.match(r"arch = (\w+)", line):
            architecture = match[1]
        elif match := re.match(r"\s*Function (\w+):", line):
            name = match[1]
        elif "REG:" in line:
            figures = {key: int(value) for key, value in re.findall(r"(\w+):(\d+)", line)}
            found.append((architecture, name, figures))
    return found


def troubles(name, figures):
    """What keeps a kernel from running as fast as it is meant to."""
    threads = resident(name)
    if figures["STACK"] or figures["LOCAL"]:
        yield f"spills: {figures['STACK']} bytes of stack, {figures['LOCAL']} of local memory"
    if figures["REG"] * threads > REGISTERS_OF_A_PROCESSOR:
        yield f"{figures['REG']} registers: fewer than {threads} threads fit"
    if figures["SHARED"] > 48 * 1024:
        yield f"{figures['SHARED']} bytes of shared memory"


def said(*options):
    done = subprocess.run(
        [cuobjdump, *options, library], stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout


class Cubins(unittest.TestCase):
    def test_the_architectures_are_those_that_were_asked_for(self):
        found = {f"sm_{n}" for n in re.findall(r"\.sm_(\d+)\w*\.cubin", said("-lelf"))}
        found |= {f"compute_{n}" for n in re.findall(r"\.sm_(\d+)\w*\.ptx", said("-lptx"))}
        self.assertEqual(found, wanted)

    def test_each_architecture_has_all_kernels_without_spills(self):
        found = {}
        for architecture, name, figures in usages(said("-res-usage")):
            with self.subTest(architecture, kernel=name):
                self.assertEqual(list(troubles(name, figures)), [])
            found.setdefault(architecture, set()).add(kernel_of(name))
        self.assertEqual({a for a in wanted if a.startswith("sm_")}, set(found))
        for architecture, kernels in found.items():
            self.assertEqual(kernels, KERNELS, architecture)


class Reading(unittest.TestCase):
    SPILLS = """
arch = sm_90
 Function _ZN8feedrate6models13blocks_detail3runINS0_10batch_norm9NormaliseIfLNS3_4ThenE2EEEEEvT_:
  REG:72 STACK:8 SHARED:0 LOCAL:16 CONSTANT[0]:392 TEXTURE:0 SURFACE:0 SAMPLER:0
"""

    def test_a_kernel_that_spills_is_found(self):
        ((architecture, name, figures),) = usages(self.SPILLS)
        self.assertEqual((architecture, *kernel_of(name)), ("sm_90", "Normalise", "float"))
        self.assertEqual(
            list(troubles(name, figures)),
            [
                "spills: 8 bytes of stack, 16 of local memory",
                "72 registers: fewer than 1024 threads fit",
            ],
        )

    def test_architectures_are_read_as_torch_writes_them(self):
        self.assertEqual(
            architectures("7.5;9.0 12.0+PTX"), {"sm_75", "sm_90", "sm_120", "compute_120"}
        )


if __name__ == "__main__":
    library, listed, *folders = sys.argv[1:]
    wanted = architectures(listed)
    places = [*folders, os.path.dirname(shutil.which("cuobjdump") or "")]
    cuobjdump = next(
        (p for f in places if f and os.access(p := os.path.join(f, "cuobjdump"), os.X_OK)), ""
    )
    if not cuobjdump:
        print("no cuobjdump: scripts/bootstrap --tests")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
