"""gpu-check --share: a sweep that others may see, packed for scripts/gpu-table."""

import pathlib
import shlex
import subprocess
import sys
import tarfile

from gpu_cells import PRECISIONS, command
from gpu_order import NAMES
from gpu_pictures import MIXED, make_dataset


def refuse_what_share_lacks(parser, a):
    of_the_table = {
        "--call": a.call is not None,
        "--only": a.only != NAMES,
        "--keep": a.keep is not None,
        "--precision": a.precision != PRECISIONS,
        "--budget": a.budget is not None,
        "--resume": a.resume,
        "-o": a.output is not None,
    }
    if typed := [option for option, is_typed in of_the_table.items() if is_typed]:
        parser.error(f"--share: is a sweep of its own; leave {typed[0]} out")


def without_owner(member):
    """In the archive's own words it names nobody."""
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    return member


def share(a, program, dataset, scratch):
    """Measures what others may see, and packs it: three repetitions, in pairs with ceilings, with
    the defaults of the device. The exit code."""
    folder = pathlib.Path(scratch) / "ledger"
    arguments = command(a, program, [])
    arguments[1] = "sweep"
    arguments.remove("--no-ceiling")
    arguments.remove("--json")
    arguments += ["--data", "tensor,jpeg", "--dataset", str(dataset), *([] if a.dataset else MIXED)]
    arguments += ["--workers", str(a.workers), "--page-cache", "warm", "--repetitions", "3"]
    arguments += ["--anonymize", "-o", str(folder)]
    print(f"$ {shlex.join(arguments)}", file=sys.stderr, flush=True)
    if a.dry_run:
        return 0
    if not dataset.exists():
        make_dataset(a, program, dataset)
    code = subprocess.run(arguments).returncode
    if code != 0:
        print(f"{a.share}: not written: feedrate sweep ended with {code}", file=sys.stderr)
        return 1
    with tarfile.open(a.share, "w:gz") as archive:
        for file in sorted(path for path in folder.iterdir() if path.is_file()):
            archive.add(file, file.name, filter=without_owner)
    print(f"{a.share}: written; docs/gpu.md says where it goes", file=sys.stderr)
    return 0
