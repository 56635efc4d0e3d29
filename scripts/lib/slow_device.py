"""Block devices with planted properties under a real ext4: reads that take a while, one at a time,
at a rate, that fail, or that never return. For tests, and for benchmarks/slow-device.

    nbdkit: memory, and filters  --socket-->  nbdfuse: a file  -->  loop device  -->  ext4

For Linux and root. What is made is a context manager that takes it down again, in the opposite
order, whatever happened in between. It goes with a process that is killed, too, as far as it can:
nbdkit and nbdfuse, and the loop device once nothing is mounted any more; mounts after own_mounts().
"""

import contextlib
import ctypes
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

PACKAGES = {
    "nbdkit": "nbdkit",
    "nbdfuse": "libnbd-bin",
    "losetup": "mount",
    "mkfs.ext4": "e2fsprogs",
}
PATIENCE = 10  # seconds until a helper has come up, or what is in use has been let go
CONNECTIONS = 16  # of nbdfuse to nbdkit: with fewer it holds requests back
LARGEST_REQUEST = 1 << 20  # that nbdfuse is sent
CLONE_NEWNS, MS_REC_PRIVATE, PR_SET_PDEATHSIG = 0x20000, 0x44000, 1

libc = ctypes.CDLL(None, use_errno=True)


class DeviceError(Exception):
    """What cannot be made, why, and what to do, in one line."""


def lacking():
    """Why such devices cannot be made here, and what to do; empty where they can."""
    if os.geteuid() != 0:
        return "slow devices: need root; run it as root"
    for tool, package in PACKAGES.items():
        if not shutil.which(tool):
            return f"{tool}: is missing; scripts/bootstrap --tests installs it ({package})"
    for node in ("/dev/fuse", "/dev/loop-control"):
        if not os.access(node, os.R_OK | os.W_OK):
            return f"{node}: is not there; a container needs --privileged"
    return ""


def own_mounts():
    """From now on only this process and its children see what they mount."""
    if libc.unshare(CLONE_NEWNS) != 0 or libc.mount(None, b"/", None, MS_REC_PRIVATE, None) != 0:
        reason = os.strerror(ctypes.get_errno())
        raise DeviceError(f"mounts: {reason}; a container needs --privileged")


def command(*words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise DeviceError(f"{' '.join(words)}: {done.stderr.strip() or done.returncode}")
    return done.stdout.strip()


def wait_until(ready, what):
    deadline = time.monotonic() + PATIENCE
    while not ready():
        if time.monotonic() > deadline:
            raise DeviceError(f"{what}: not within {PATIENCE} s; look at the kernel's log")
        time.sleep(0.02)


# The pieces.


def begin_helper():
    """In the new process: it dies with the one that made it. In a group of its own a terminal's
    Ctrl-C does not reach it; in the same session the kernel wakes it up to die if it is stopped."""
    os.setpgrp()
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


@contextlib.contextmanager
def helper(*words, ready):
    """A process that is there until the end."""
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            preexec_fn=begin_helper,
        )

        def is_ready():
            if process.poll() is not None:
                said.seek(0)
                raise DeviceError(f"{words[0]}: {said.read().strip() or process.returncode}")
            return ready()

        try:
            wait_until(is_ready, words[0])
            yield process
        finally:
            process.send_signal(signal.SIGCONT)
            process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def is_unmounted(at):
    """Tries to: not while it is in use."""
    with contextlib.suppress(DeviceError):
        if os.path.ismount(at):
            command("umount", at)
    return not os.path.ismount(at)


def unmount(at):
    """Waits while it is in use; in the end its name goes at once, and the rest with its users."""
    try:
        wait_until(lambda: is_unmounted(at), at)
    except DeviceError:
        command("umount", "--lazy", at)


@contextlib.contextmanager
def loop_device(file, direct_io):
    mode = "on" if direct_io else "off"
    device = command("losetup", "--find", "--show", f"--direct-io={mode}", file)
    handle = os.open(device, os.O_RDONLY)
    try:
        command("losetup", "--detach", device)  # goes with its last user, which is this process
        yield device
    finally:
        os.close(handle)


class Disk:
    """A mounted device. `fails`: while this file is there, reads give EIO."""

    def __init__(self, device, at, fails="", server=None):
        self.device, self.at = device, at
        self._fails, self._server = fails, server

    def mount(self):
        command("mount", "-o", "noatime", self.device, self.at)

    def forget(self):
        """Takes all of it out of this machine's caches, names and all."""
        wait_until(lambda: is_unmounted(self.at), self.at)
        self.mount()

    def fail_reads(self):
        with open(self._fails, "w", encoding="ascii"):
            pass

    def hang(self):
        """No request returns until go_on(). Who waits for one may not even be killed."""
        self._server.send_signal(signal.SIGSTOP)

    def go_on(self):
        """Ends fail_reads() and hang()."""
        with contextlib.suppress(FileNotFoundError):
            os.remove(self._fails)
        if self._server:
            self._server.send_signal(signal.SIGCONT)


@contextlib.contextmanager
def formatted(disk):
    command("mkfs.ext4", "-q", "-b", "4096", "-E", "lazy_itable_init=0,nodiscard", disk.device)
    disk.mount()
    try:
        yield disk
    finally:
        disk.go_on()
        unmount(disk.at)


# The devices.


def is_exact():
    """Whether this nbdkit knows fractions of a millisecond."""
    found = re.search(r"(\d+)\.(\d+)", command("nbdkit", "--version"))
    return tuple(int(number) for number in found.groups()) >= (1, 40)


def planted_delay(milliseconds):
    """What a device makes of it."""
    return milliseconds if is_exact() or not milliseconds else max(1, round(milliseconds))


def filters(delay_ms, bytes_per_second, one_at_a_time, fails):
    """nbdkit's words. The filter that is named first sees a request first."""
    names, values = ["error"], ["error-pread=EIO", "error-pread-rate=100%"]
    values.append(f"error-pread-file={fails}")
    if one_at_a_time:
        names.append("noparallel")
        values.append("serialize=all-requests")
    if bytes_per_second:
        names.append("rate")
        burst_s = max(0.05, 2 * LARGEST_REQUEST / bytes_per_second)
        values += [f"rate={round(bytes_per_second * 8)}", f"burstiness={burst_s:.6f}"]
    if delay_ms:
        names.append("delay")
        values.append(f"rdelay={planted_delay(delay_ms):g}ms")
    return [f"--filter={name}" for name in names], values


@contextlib.contextmanager
def planted(at, size="256M", delay_ms=0, bytes_per_second=0, one_at_a_time=False):
    """A Disk in memory, mounted at the folder `at`. The delay is that of each read; the device is
    read in requests of 1 MiB at most, up to ten at once."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="slow-device-"))
        socket, file, fails = (os.path.join(folder, n) for n in ("socket", "disk", "fails"))
        names, values = filters(delay_ms, bytes_per_second, one_at_a_time, fails)
        server = stack.enter_context(
            helper(
                *("nbdkit", "--foreground", "--unix", socket, *names),
                *("memory", f"size={size}", *values),
                ready=lambda: os.path.exists(socket),
            )
        )
        with open(file, "w", encoding="ascii"):
            pass
        stack.enter_context(
            helper(
                *("nbdfuse", "--connections", str(CONNECTIONS), file, "--unix", socket),
                ready=lambda: os.path.getsize(file) > 0,
            )
        )
        stack.callback(unmount, file)
        device = stack.enter_context(loop_device(file, direct_io=True))
        yield stack.enter_context(formatted(Disk(device, at, fails, server)))


@contextlib.contextmanager
def plain(at, size="256M"):
    """A Disk that is a file: nothing planted."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="slow-device-"))
        file = os.path.join(folder, "disk")
        command("truncate", "--size", size, file)
        device = stack.enter_context(loop_device(file, direct_io=False))
        yield stack.enter_context(formatted(Disk(device, at)))


def control_groups():
    """Where groups that limit storage are made, and whether they are of version 2."""
    v1, v2 = "/sys/fs/cgroup/blkio", "/sys/fs/cgroup"
    if os.path.exists(os.path.join(v1, "cgroup.procs")):
        return v1, False
    with contextlib.suppress(OSError):
        with open(os.path.join(v2, "cgroup.subtree_control"), encoding="ascii") as file:
            if "io" in file.read().split():
                return v2, True
    raise DeviceError("control groups: none here limits storage; enable the controller io or blkio")


@contextlib.contextmanager
def rate_limited(device, bytes_per_second):
    """Yields what a child calls before it starts (preexec_fn): it and its children then read from
    the device at this rate at most. They have ended before this does."""
    root, is_v2 = control_groups()
    group = tempfile.mkdtemp(prefix="slow-device-", dir=root)
    number = os.stat(device).st_rdev
    name = f"{os.major(number)}:{os.minor(number)}"

    def write(file, text):
        with open(os.path.join(group, file), "w", encoding="ascii") as out:
            out.write(text)

    def is_removed():
        with contextlib.suppress(OSError):
            os.rmdir(group)
        return not os.path.exists(group)

    try:
        if is_v2:
            write("io.max", f"{name} rbps={bytes_per_second}")
        else:
            write("blkio.throttle.read_bps_device", f"{name} {bytes_per_second}")
        yield lambda: write("cgroup.procs", str(os.getpid()))
    finally:
        wait_until(is_removed, group)
