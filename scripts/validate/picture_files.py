"""Bytes of pictures that `feedrate gen` does not write: made by hand, or by edits of its files."""

import io
import random
import struct
import tarfile
import zipfile

GIF = b"GIF89a\1\0\1\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\1\0\1\0\0\2\2D\1\0;"
# As much of them as tells what they are.
TIFF = b"II*\0\x08\0\0\0\0\0\0\0\0\0"
HEIC = b"\0\0\0\x18ftypheic\0\0\0\0heicmif1"

CMYK, YCCK = 0, 2  # what Adobe's marker says of four components


def flat_jpeg(width, height, components, adobe=None, seed=0):
    """A baseline JPEG whose blocks of 8x8 pixels each have one colour: gray, or of four components,
    with Adobe's marker. Its codes are a table of the 12 lengths of a difference, 4 bits each, and
    one bit for "nothing else in this block"."""

    def segment(kind, *parts):
        body = b"".join(parts)
        return struct.pack(">BBH", 0xFF, kind, len(body) + 2) + body

    ids = range(1, components + 1)
    parts = [b"\xff\xd8"]
    if adobe is not None:
        parts.append(segment(0xEE, b"Adobe", struct.pack(">HHHB", 100, 0, 0, adobe)))
    parts += [
        segment(0xDB, b"\0", bytes([8] * 64)),
        segment(
            0xC0,
            struct.pack(">BHHB", 8, height, width, components),
            *(bytes([i, 0x11, 0]) for i in ids),
        ),
        segment(0xC4, b"\x00", bytes([0, 0, 0, 12, *[0] * 12]), bytes(range(12))),
        segment(0xC4, b"\x10", bytes([1, *[0] * 15]), b"\0"),
        segment(0xDA, bytes([components]), *(bytes([i, 0]) for i in ids), b"\0\x3f\0"),
        _scan(-(-width // 8) * -(-height // 8), components, random.Random(seed)),
        b"\xff\xd9",
    ]
    return b"".join(parts)


def _scan(blocks, components, chance):
    bits, before = [], [0] * components
    for _ in range(blocks):
        for c in range(components):
            level = chance.randint(-100, 100)
            difference, before[c] = level - before[c], level
            length = abs(difference).bit_length()
            bits.append(f"{length:04b}")
            if length:
                value = difference if difference > 0 else difference + (1 << length) - 1
                bits.append(f"{value:0{length}b}")
            bits.append("0")
    text = "".join(bits)
    text += "1" * (-len(text) % 8)
    return int(text, 2).to_bytes(len(text) // 8, "big").replace(b"\xff", b"\xff\0")


def with_stray_bytes(jpeg):
    """Before the marker of its first table."""
    at = jpeg.index(b"\xff\xdb")
    return jpeg[:at] + b"\x12\x34\x56" + jpeg[at:]


def of_another_table(jpeg):
    """Another picture of the same length: one step of its quantisation is larger."""
    at = jpeg.index(b"\xff\xdb") + 5
    return jpeg[:at] + bytes([jpeg[at] + 1]) + jpeg[at + 1 :]


def npy(shape, fill=7):
    """An array of bytes, as NumPy 1.0 writes it."""
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    size = 1
    for length in shape:
        size *= length
    return (
        b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + bytes([fill]) * size
    )


def zipped(members):
    """A zip file of {name: bytes}, stored."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def tarred(members):
    """A tar file of {name: bytes}."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return file.getvalue()
