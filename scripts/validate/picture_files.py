"""Bytes of pictures that `feedrate gen` does not write: made by hand, or by edits of its files."""

import io
import random
import struct
import tarfile
import zipfile
import zlib

GIF = b"GIF89a\1\0\1\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\1\0\1\0\0\2\2D\1\0;"
# As much of them as tells what they are.
TIFF = b"II*\0\x08\0\0\0\0\0\0\0\0\0"
HEIC = b"\0\0\0\x18ftypheic\0\0\0\0heicmif1"

CMYK, YCCK = 0, 2  # what Adobe's marker says of four components


def flat_jpeg(width, height, components, adobe=None, seed=0):
    """A baseline JPEG whose blocks of 8x8 pixels each have one colour: gray, or of four components,
    with Adobe's marker. Its codes are a table of the 12 lengths of a difference, 4 bits each, and
    one bit for "nothing else in this block"."""

    ids = range(1, components + 1)
    parts = [b"\xff\xd8"]
    if adobe is not None:
        parts.append(_segment(0xEE, b"Adobe", struct.pack(">HHHB", 100, 0, 0, adobe)))
    parts += [
        *_tables(0xC0, 8, width, height, components),
        _segment(0xDA, bytes([components]), *(bytes([i, 0]) for i in ids), b"\0\x3f\0"),
        _scan(_blocks(width, height), components, random.Random(seed)),
        b"\xff\xd9",
    ]
    return b"".join(parts)


def progressive_jpeg(width, height, components):
    """Such blocks in several scans: the colours of all, then "nothing else" of each component."""
    ids, blocks = range(1, components + 1), _blocks(width, height)
    parts = [
        b"\xff\xd8",
        *_tables(0xC2, 8, width, height, components),
        _segment(0xDA, bytes([components]), *(bytes([i, 0]) for i in ids), b"\0\0\0"),
        _scan(blocks, components, random.Random(0), ""),
    ]
    for i in ids:
        parts += [_segment(0xDA, bytes([1, i, 0]), b"\1\x3f\0"), _bytes_of("0" * blocks)]
    return b"".join([*parts, b"\xff\xd9"])


def jpeg_of_12_bits(width, height):
    """Gray, of 12 bits a sample, as medical pictures are: the frame is an extended one."""
    return b"".join(
        [
            b"\xff\xd8",
            *_tables(0xC1, 12, width, height, 1),
            _segment(0xDA, b"\1", b"\1\0", b"\0\x3f\0"),
            _scan(_blocks(width, height), 1, random.Random(0)),
            b"\xff\xd9",
        ]
    )


def _segment(kind, *parts):
    body = b"".join(parts)
    return struct.pack(">BBH", 0xFF, kind, len(body) + 2) + body


def _tables(frame, precision, width, height, components):
    return (
        _segment(0xDB, b"\0", bytes([8] * 64)),
        _segment(
            frame,
            struct.pack(">BHHB", precision, height, width, components),
            *(bytes([i, 0x11, 0]) for i in range(1, components + 1)),
        ),
        _segment(0xC4, b"\x00", bytes([0, 0, 0, 12, *[0] * 12]), bytes(range(12))),
        _segment(0xC4, b"\x10", bytes([1, *[0] * 15]), b"\0"),
    )


def _blocks(width, height):
    return -(-width // 8) * -(-height // 8)


def _scan(blocks, components, chance, rest="0"):
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
            bits.append(rest)
    return _bytes_of("".join(bits))


def _bytes_of(bits):
    bits += "1" * (-len(bits) % 8)
    return int(bits, 2).to_bytes(len(bits) // 8, "big").replace(b"\xff", b"\xff\0")


def with_stray_bytes(jpeg):
    """Before the marker of its first table."""
    at = jpeg.index(b"\xff\xdb")
    return jpeg[:at] + b"\x12\x34\x56" + jpeg[at:]


def of_another_table(jpeg):
    """Another picture of the same length: one step of its quantisation is larger."""
    at = jpeg.index(b"\xff\xdb") + 5
    return jpeg[:at] + bytes([jpeg[at] + 1]) + jpeg[at + 1 :]


GRAY, RGB, PALETTE, RGBA = 0, 2, 3, 6  # kinds of PNG
ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2))
ADAM7 += ((0, 1, 1, 2),)  # its passes: first column and row, steps to the next ones


def png_of_16_colours(width, height, kind=RGB, depth=8, interlaced=False, see_through=False):
    """One and the same picture of squares, whichever way it is written. `see_through` gives it an
    alpha (PALETTE: a chunk of them; RGBA has one anyway) that leaves the colours as they are."""
    colours = [bytes([i * 17, 255 - i * 17, i * 37 % 256]) for i in range(16)]

    def bits_of(x, y):
        index = (x // 10 + 3 * (y // 10)) % 16
        if kind == PALETTE:
            return f"{index:0{depth}b}"
        values = [*colours[index], *([128 if see_through else 255] if kind == RGBA else [])]
        return "".join(f"{v * (257 if depth == 16 else 1):0{depth}b}" for v in values)

    rows = []
    for x0, y0, dx, dy in ADAM7 if interlaced else ((0, 0, 1, 1),):
        for y in range(y0, height, dy) if x0 < width else ():
            bits = "".join(bits_of(x, y) for x in range(x0, width, dx))
            bits += "0" * (-len(bits) % 8)
            rows.append(b"\0" + int(bits, 2).to_bytes(len(bits) // 8, "big"))
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, interlaced))]
    if kind == PALETTE:
        chunks.append((b"PLTE", b"".join(colours)))
        chunks += [(b"tRNS", bytes([0, 128]))] * see_through
    chunks += [(b"IDAT", zlib.compress(b"".join(rows))), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in chunks
    )


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
    """A tar file of {name: bytes}; a name that ends with a slash is a folder."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            if name.endswith("/"):
                info.type = tarfile.DIRTYPE
            archive.addfile(info, io.BytesIO(content))
    return file.getvalue()
