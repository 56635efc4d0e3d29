"""Files and the kernel's page cache, seen and disturbed from outside the program: what a run says
of itself must hold against what others did meanwhile."""

import contextlib
import ctypes
import mmap
import os
import threading
import time

PATIENCE = 60  # seconds until whoever waits gives up
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
LIBC.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]


def samples_of(folder):
    """The files of a dataset's samples."""
    return [
        os.path.join(at, name)
        for at, _, names in os.walk(folder)
        for name in sorted(names)
        if not name.endswith((".tsv", ".json"))
    ]


def share(paths):
    """How much of the files lies in the page cache, 0 to 1."""
    resident = pages = 0
    for path in paths:
        size = os.path.getsize(path)
        if not size:
            continue
        with open(path, "rb") as file:
            at = LIBC.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(), 0)
        found = ctypes.create_string_buffer(-(-size // mmap.PAGESIZE))
        if LIBC.mincore(at, size, found) != 0:
            raise OSError(ctypes.get_errno(), "mincore", path)
        LIBC.munmap(at, size)
        resident += sum(byte & 1 for byte in found.raw)
        pages += len(found.raw)
    return resident / max(pages, 1)


def read(path):
    with open(path, "rb") as file:
        while file.read(1 << 20):
            pass


def drop(path):
    with open(path, "rb") as file:
        os.fdatasync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def can_be_dropped(paths):
    """Whether their file system lets go of them (tmpfs does not), and this user may see it."""
    for path in paths:
        drop(path)
    return share(paths) == 0


@contextlib.contextmanager
def meanwhile(action):
    """Calls action(over) beside what happens within; over() says that this has ended. Fails where
    the action does."""
    ended, failed = threading.Event(), []

    def act():
        try:
            action(ended.is_set)
        except Exception as error:  # shown by whoever waits
            failed.append(error)

    thread = threading.Thread(target=act)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    if failed:
        raise failed[0]


def warm_all_the_time(paths):
    def action(over):
        while not over():
            for path in paths:
                read(path)

    return action


def read_past_it_all_the_time(path, piece=1 << 20):
    """As by `dd iflag=direct`, of a file that is made there."""

    def action(over):
        with open(path, "wb") as file:
            file.write(os.urandom(16 * piece))
            os.fsync(file.fileno())
        handle = os.open(path, os.O_RDONLY | os.O_DIRECT)
        with mmap.mmap(-1, piece) as page_aligned:
            while not over():
                for at in range(16):
                    os.preadv(handle, [page_aligned], at * piece)
                    time.sleep(0.01)
        os.close(handle)

    return action


def drop_all_the_time(paths):
    def action(over):
        while not over():
            for path in paths:
                drop(path)
            time.sleep(0.02)

    return action


def warm_in_the_middle(paths, read_already=0.5):
    """Waits until a run has dropped the files and has read more than this share of them again, and
    reads them all."""

    def action(over):
        looked_at = paths[:: max(1, len(paths) // 64)]
        for wanted in (lambda found: found == 0, lambda found: found > read_already):
            deadline = time.monotonic() + PATIENCE
            while not wanted(share(looked_at)):
                if over() or time.monotonic() > deadline:
                    raise AssertionError("the files were never dropped, or never read after that")
                time.sleep(0.005)
        for path in paths:
            read(path)

    return action


def warm_once_prepared(paths):
    """The same, as soon as the run reads the first ones."""
    return warm_in_the_middle(paths, 0)
