"""System calls that a container's filter forbids."""

import ctypes
import struct


def forbid(call, answer):
    """For the process that is about to start and its children (preexec_fn): the system call of this
    number gives this errno."""

    def filter_calls():
        ret, load, equal = 0x06, 0x20, 0x15  # BPF: return, load a word, jump if equal
        program = b"".join(
            struct.pack("HBBI", *line)
            for line in (
                (load, 0, 0, 0),  # the call's number
                (equal, 0, 1, call),
                (ret, 0, 0, 0x00050000 | answer),  # SECCOMP_RET_ERRNO
                (ret, 0, 0, 0x7FFF0000),  # SECCOMP_RET_ALLOW
            )
        )
        lines = ctypes.create_string_buffer(program)
        header = struct.pack("HxxxxxxP", 4, ctypes.addressof(lines))
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
        if libc.prctl(22, 2, ctypes.create_string_buffer(header), 0, 0) != 0:  # PR_SET_SECCOMP
            raise OSError(ctypes.get_errno(), "prctl")

    return filter_calls
