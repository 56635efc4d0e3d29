"""What `run`, `verify` and `gen` say of folders of pictures as people have them: each case makes a
folder, types a command, and knows beforehand what counts as right."""

import contextlib
import ctypes
import dataclasses
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable

from . import picture_files as files
from .answers import Answer

QUICK = ("--min-seconds", "1", "--warmup-seconds", "0.2", "--max-warmup-seconds", "2")
SIZE = "160x120"  # of the pictures that are made
PATIENCE = 600  # seconds until a command that does not end is wrong
LONG_AGO = (1_600_000_000, 1_600_000_000)  # a folder that has just changed is listed again
# What the machine does, and not the pictures: then a case is measured again, once.
OF_THE_MACHINE = {"noisy_neighbour", "cpu_steal", "storage_shared", "memory_pressure"}
OF_THE_MACHINE |= {"clock_changed", "unsteady", "stopped", "page_cache"}


class Skip(Exception):
    """Why a case cannot be made here."""


@dataclasses.dataclass
class Right:
    """What counts as right. Of a `run` that ends with 0 also: a rate, and that nothing else was
    left out, laid out in another way or bad."""

    code: int = 0
    says: tuple = ()  # on stdout or stderr, the folder being DIR
    samples: int | None = None
    made: dict = dataclasses.field(
        default_factory=dict
    )  # of dataset.made: text, or a pattern of it
    bad: int = 0  # pictures that `run` skips
    flags: set | None = None  # exactly these; None: bad_samples is judged alone
    also: Callable | None = None  # (answer, folder) → what is wrong, or ""
    more: str = ""  # what `also` wants, in words

    def text(self):
        parts = [f"exit {self.code}", *(f"“{words}”" for words in self.says)]
        parts += [f"{self.samples} pictures"] * (self.samples is not None)
        parts += [f"{key.replace('_', ' ')}: {_worded(value)}" for key, value in self.made.items()]
        parts += [f"{self.bad} bad, flag `bad_samples`"] * (self.bad > 0)
        parts += ["no flag but " + ", ".join(sorted(self.flags or []))] * (self.flags is not None)
        return "; ".join(parts + [self.more] * bool(self.more))


def _worded(value):
    return f"like `{value.pattern}`" if isinstance(value, re.Pattern) else value


@dataclasses.dataclass
class Case:
    name: str
    make: Callable  # of a Folder
    words: tuple
    right: Right


class Folder:
    """One that a case fills: `at`, DIR in a command. What else it needs lies beside it."""

    def __init__(self, program, stock, beside):
        self.program, self.stock, self.beside = program, stock, beside
        self.at = os.path.join(beside, "mine")
        self.notes, self.locked, self.preexec = {}, [], None
        os.mkdir(self.at)

    def picture(self, number=0, kind="jpeg"):
        return self.stock[kind][number % len(self.stock[kind])]

    def path(self, name):
        return os.path.join(self.at, name)

    def put(self, name, content):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as file:
            file.write(content)

    def fill(self, *names):
        """With JPEGs."""
        for number, name in enumerate(names):
            self.put(name, self.picture(number))

    def typed(self, words):
        return [self.program, *(re.sub(r"\bDIR\b", lambda _: self.at, word) for word in words)]

    def ask(self, *words):
        limits = () if "--min-steps" in words else QUICK
        words = self.typed(words) + ["--json", *limits] * (words[0] == "run")
        began = time.monotonic()
        try:
            done = subprocess.run(
                words,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                env={**os.environ, "XDG_CACHE_HOME": os.path.join(self.beside, "cache")},
                cwd=self.beside,
                preexec_fn=self.preexec,
                timeout=PATIENCE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Answer("", "it did not end", -1, PATIENCE)
        out, err = (
            text.decode(errors="replace").replace(self.at, "DIR")
            for text in (done.stdout, done.stderr)
        )
        return Answer(out, err, done.returncode, time.monotonic() - began)


# --- Folders.

CLASSES = tuple(f"{name}/{i}.jpg" for name in ("cat", "dog") for i in range(6))


def classes(folder):
    """12 JPEGs in two class folders."""
    folder.fill(*CLASSES)


def beside_classes(make):
    """Makes those, and what `make` adds or changes."""

    def both(folder):
        classes(folder)
        make(folder)

    return both


def putting(what):
    """Class folders, and of each name in `what` the bytes, or what makes them of a folder."""

    def make(folder):
        for name, content in what.items():
            folder.put(name, content(folder) if callable(content) else content)

    return beside_classes(make)


def png(folder):
    return folder.picture(0, "png")


def changed(change):
    """cat/3.jpg, after `change` of its bytes."""
    return putting({"cat/3.jpg": lambda folder: change(folder.picture(3))})


def names_of(*names):
    return lambda folder: folder.fill(*names)


@beside_classes
def png_among(folder):
    for name in CLASSES:
        os.rename(folder.path(name), folder.path(name[: -len("jpg")] + "JPEG"))
    folder.put("cat/0.JPEG", png(folder))


@beside_classes
def jpeg_as_png(folder):
    os.rename(folder.path("cat/0.jpg"), folder.path("cat/0.png"))


@beside_classes
def webp_among(folder):
    for i in range(3):
        folder.put(f"dog/{i}.webp", folder.picture(i, "webp"))


@beside_classes
def all_bad(folder):
    for name in CLASSES:
        folder.put(name, folder.picture()[:300])


@beside_classes
def links(folder):
    """To a picture beside the folder, and to a folder there, whose name is a class's."""
    elsewhere = os.path.join(folder.beside, "elsewhere")
    os.mkdir(elsewhere)
    shutil.copy(folder.path(CLASSES[0]), os.path.join(elsewhere, "a.jpg"))
    os.symlink(os.path.join(elsewhere, "a.jpg"), folder.path("cat/link.jpg"))
    os.symlink(elsewhere, folder.path("bird"))


def linking(name, to):
    return beside_classes(lambda folder: os.symlink(to, folder.path(name)))


def zip_file(folder):
    with open(folder.at + ".zip", "wb") as file:
        file.write(files.zipped({name: folder.picture() for name in CLASSES}))


def shards(folder):
    for number in range(2):
        members = {}
        for i in range(6):
            members[f"{number}{i}.cls"] = b"%d" % i
            members[f"{number}{i}.jpg"] = folder.picture(i)
        folder.put(f"shard-{number:06}.tar", files.tarred(members))
    folder.put("shard-000002.tar", files.tarred({"notes.txt": b"no picture"}))


def arrays(folder):
    members = {"mask.npy": files.npy((48, 64)), "before.npy": files.npy((48, 64, 3))}
    members["image.npy"] = files.npy((48, 64, 3), 9)
    for i in range(4):
        folder.put(f"cat/{i}.npz", files.zipped(members))


@beside_classes
def rewritten(folder):
    """In place, to the same length, between two runs: the folder's time stays as it was."""
    for at, _, _ in os.walk(folder.at):
        os.utime(at, LONG_AGO)
    folder.ask(*RUN)
    with open(folder.path(CLASSES[3]), "r+b") as file:
        file.write(files.of_another_table(folder.picture(3)))


def without_overrides():
    """In the child: root's right to read what its mode forbids goes with the exec."""
    PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2
    prctl = ctypes.CDLL(None).prctl
    prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)
    prctl(PR_CAPBSET_DROP, CAP_DAC_READ_SEARCH, 0, 0, 0)


@beside_classes
def unreadable(folder):
    dog = folder.path("dog")
    os.chmod(dog, 0)
    folder.locked.append(dog)
    folder.preexec = without_overrides if os.geteuid() == 0 else None
    look = ["ls", dog]
    if not subprocess.run(look, capture_output=True, preexec_fn=folder.preexec).returncode:
        raise Skip("this user reads every folder, and cannot lay that right down")


HIDDEN = {"__MACOSX/._a.jpg": b"", "cat/.ipynb_checkpoints/0-checkpoint.jpg": b""}
HIDDEN |= {"dog/Thumbs.db": b"", "dog/.0.jpg": b""}


@beside_classes
def verified_before(folder):
    """With a little of everything that is left out or followed."""
    for name, content in {**HIDDEN, "cat/notes.txt": b"", "a.jpg": b"", "dog/a.gif": b""}.items():
        folder.put(name, content)
    folder.put("dog/deep/er/b.JPG", folder.picture(1))
    os.symlink("0.jpg", folder.path("cat/link.jpg"))
    folder.notes["verify"] = folder.ask("verify", "DIR").out


def counts_as_verify(answer, folder):
    said = re.search(r"(?m)^(\d+) samples, ", folder.notes["verify"])
    return "" if said and int(said[1]) == 14 else "verify: " + folder.notes["verify"].strip()


def made_imagenet(folder):
    """13,000 names in 1,000 class folders, of 1,300 pictures as ImageNet's; in place of some, what
    is odd in ImageNet."""
    like = generated(folder.program, folder.beside, "--like", "imagenet", "--count", "1300")
    pngs = generated(
        folder.program, folder.beside, "--format", "png", "--image-size", "500x375", "--count", "10"
    )
    odd = {i: _content(path) for i, path in enumerate(pngs)}
    odd |= {10 + i: files.flat_jpeg(500, 375, 4, files.CMYK, i) for i in range(3)}
    odd |= {13 + i: files.flat_jpeg(500, 375, 1, None, i) for i in range(130)}
    for i in range(13_000):
        label = i % 1000
        name = f"n{label:08}/n{label:08}_{i}.JPEG"
        if i // 13 in odd and i % 13 == 0:  # spread over the classes
            folder.put(name, odd[i // 13])
            continue
        os.makedirs(os.path.dirname(folder.path(name)), exist_ok=True)
        os.link(like[i % len(like)], folder.path(name))


def draws_all(answer, _):
    images = answer.json["images"]
    return "" if images >= 13_000 else f"{images} images were drawn"


# --- The ten folders that were made without the code (see TEN).

JSON = b'{"title": "IMG_0001.jpg", "photoTakenTime": {"timestamp": "1500000000"}}'
XMP = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"></x:xmpmeta>'
PAGE = b"<!DOCTYPE html>\n<html><head><title>403 Forbidden</title></head></html>\n"
APPLE_DOUBLE = b"\0\5\x16\7\0\2\0\0Mac OS X        \0\2"

SIDECARS = {
    "cat/0.jpg:Zone.Identifier": b"[ZoneTransfer]\r\nZoneId=3\r\n",
    "cat/1.jpg.json": JSON,
    "cat/2.jpg.supplemental-metadata.json": JSON,
    "dog/1.xmp": XMP,
    "dog/2.jpg.xmp": XMP,
    "Lightroom Catalog.lrcat": b"SQLite format 3\0",
    "Lightroom Catalog Previews.lrdata/A/A1B2.lrprev": b"AgHg",
    "cat/@eaDir/0.jpg/SYNOPHOTO_THUMB_M.jpg": lambda folder: folder.picture(),
    "cat/@eaDir/0.jpg/SYNOINDEX_MEDIA_INFO": b"{}",
}


@beside_classes
def downloads(folder):
    """Two under way, a page in place of a picture, and room that was set aside for one."""
    folder.put("cat/6.jpg.crdownload", folder.picture()[:900])
    folder.put("dog/6.jpg.part", folder.picture()[:900])
    folder.put("cat/3.jpg", PAGE)
    folder.put("dog/3.jpg", b"")
    os.truncate(folder.path("dog/3.jpg"), 1 << 20)


def says_a_page_is_none(answer, _):
    """By its contents, not by a code that is damaged."""
    line = re.search(r"(?m)^bad: cat/3\.jpg: (.*)$", answer.out)[1]
    known = re.search(r"(?i)html|no picture|not a picture|none of|no jpeg|not a jpeg|unknown", line)
    return "" if known else f"does not say that a page of HTML is no picture: {line}"


ODD_JPEGS = putting(
    {
        "cat/3.jpg": files.jpeg_of_12_bits(160, 120),
        "cat/4.jpg": files.progressive_jpeg(160, 120, 3),
        "cat/5.jpg": files.progressive_jpeg(160, 120, 1),
        "dog/0.jpg": files.flat_jpeg(160, 120, 4),
    }
)


def says_12_bits(answer, _):
    line = re.search(r"(?m)^bad: cat/3\.jpg: (.*)$", answer.out)[1]
    return "" if re.search(r"12|precision", line) else f"does not say what is odd: {line}"


def one_picture_as_pngs(folder):
    kinds = [
        {},
        {"interlaced": True},
        {"depth": 16},
        {"kind": files.RGBA, "see_through": True},
        {"kind": files.PALETTE},
        {"kind": files.PALETTE, "depth": 4},
        {"kind": files.PALETTE, "depth": 4, "interlaced": True},
        {"kind": files.PALETTE, "see_through": True},
    ]
    for i, kind in enumerate(kinds):
        folder.put(f"cat/{i}.png", files.png_of_16_colours(163, 117, **kind))


def makes_one_picture(_, folder):
    made = [
        _content(os.path.join(at, name))
        for at, _, names in os.walk(folder.at + "-made")
        for name in names
        if name.endswith(".jpg")
    ]
    return (
        ""
        if len(made) == 8 and len(set(made)) == 1
        else (f"{len(set(made))} different ones among {len(made)} made")
    )


TINY = putting(
    {
        "cat/6.jpg": files.flat_jpeg(1, 1, 3),
        "cat/7.jpg": files.flat_jpeg(300, 1, 3),
        "dog/6.jpg": files.flat_jpeg(1, 300, 3),
        "dog/7.png": files.png_of_16_colours(1, 1, files.RGBA, see_through=True),
        "dog/8.png": files.png_of_16_colours(300, 1),
    }
)

TRYING_NAMES = (
    f"cat/{'a' * 251}.jpg",
    "/".join(["cat", *["d" * 200] * 15, "0.jpg"]),
    "cat/0.jpg.jpg",
    "cat/album.jpg/0.jpg",
    "cat/tab\there.jpg",
    "cat/ IMG_0001 (1) .JPG",
    'cat/"it\'s" $HOME; `ls` & 100%.jpg',
    "cat/back\\slash,comma.jpg",
    "-rf/--help.jpg",
    "-rf/-.jpg",
    "\N{CAT FACE}/\N{DOG FACE}\N{ZERO WIDTH JOINER}.jpg",
    "\N{CAT FACE}/e\N{COMBINING ACUTE ACCENT}.jpg",
)


def splits(folder):
    """One of them made by hard links, as `cp -al` makes it; one without classes."""
    folder.fill(*(f"train/{name}" for name in CLASSES), *(f"test/{i}.jpg" for i in range(2)))
    for name in ("cat", "dog"):
        os.makedirs(folder.path(f"val/{name}"))
        for i in range(2):
            os.link(folder.path(f"train/{name}/{i}.jpg"), folder.path(f"val/{name}/{i}.jpg"))
    folder.put("annotations/instances_train.json", b"{}")
    folder.put("annotations/instances_val.json", b"{}")
    folder.put("train.csv", b"name,class\n")


def unpacked_beside_its_tar(folder):
    names = [f"ILSVRC2012_val_{i:08}.JPEG" for i in range(1, 13)]
    folder.fill(*names)
    members = {name: folder.picture(i) for i, name in enumerate(names)}
    folder.put("ILSVRC2012_img_val.tar", files.tarred(members))
    folder.put("LOC_val_solution.csv", b"ImageId,PredictionString\n")


def tar_of_tars(folder):
    members = {}
    for wnid in ("n01440764", "n01443537"):
        inner = {f"{wnid}_{i}.JPEG": folder.picture(i) for i in range(6)}
        members[f"{wnid}.tar"] = files.tarred(inner)
    folder.put("ILSVRC2012_img_train.tar", files.tarred(members))


def says_to_unpack(answer, _):
    return "" if re.search(r"(?i)unpack|tar -xf?", answer.err) else "does not say to unpack it"


def tar_of_a_mac(folder):
    """What `tar -cf mac.tar .` packs there, with two pictures of the screen among them."""
    members = {"./": b"", "./._cat": APPLE_DOUBLE}
    for i, name in enumerate(CLASSES):
        at, last = os.path.split(name)
        members.setdefault(f"./{at}/", b"")
        members[f"./{at}/._{last}"] = APPLE_DOUBLE
        members[f"./{name}"] = folder.picture(i)
    for i in range(2):
        members[f"./dog/Screen Shot 2023-01-05 at 10.22.0{i}.png"] = folder.picture(i, "png")
    folder.put("mac.tar", files.tarred(members))


# --- The cases.

DEVICE = ("--device", "emulated:2000")
RUN = ("run", "--dataset", "DIR", *DEVICE)
SKIP = (*RUN, "--on-bad", "skip")
VERIFY = ("verify", "DIR")
ODD_NAME = os.fsdecode(b"a\nb\xff")

ALL = {"formats": "jpeg 12"}


def whole(**made):
    """12 JPEGs are read."""
    return Right(samples=12, made={**ALL, **made})


def sound(decoded, *says):
    return Right(says=(" 0 damaged, 0 unreadable, 0 bad", f"decoded: {decoded}\n", *says))


def one_bad(*says):
    return Right(1, ("bad: cat/3.jpg: ", " 0 unreadable, 1 bad\n", *says))


def fails(*says):
    return Right(1, ("DIR/cat/3.jpg: ", "--on-bad skip", *says))


SKIPPED = Right(samples=12, made=ALL, bad=1)


def half(jpeg):
    return jpeg[: len(jpeg) // 2]


def gif_as_jpeg(_):
    return files.GIF


def behind(jpeg):
    return jpeg + jpeg + b"trailing"


def flat(components, adobe=None):
    return lambda _: files.flat_jpeg(160, 120, components, adobe)


ALL_COLOURS = putting(
    {
        "cat/3.jpg": files.flat_jpeg(160, 120, 4, files.CMYK),
        "cat/4.jpg": files.flat_jpeg(160, 120, 4, files.YCCK),
        "cat/5.jpg": files.flat_jpeg(160, 120, 1),
    }
)
OTHERS = putting({"cat/a.gif": files.GIF, "dog/b.tiff": files.TIFF, "dog/c.HEIC": files.HEIC})

CASES = [
    Case("a PNG named .JPEG among JPEGs, as in ImageNet", png_among, RUN, whole()),
    Case(
        "a PNG named .JPEG among JPEGs, as in ImageNet", png_among, VERIFY, sound("11 jpeg, 1 png")
    ),
    Case("a CMYK JPEG among others", changed(flat(4, files.CMYK)), RUN, whole()),
    Case("a YCCK JPEG", changed(flat(4, files.YCCK)), RUN, whole()),
    Case("a gray JPEG", changed(flat(1)), RUN, whole()),
    Case("CMYK, YCCK and gray", ALL_COLOURS, VERIFY, sound("12 jpeg")),
    Case(
        "a JPEG named .png",
        jpeg_as_png,
        RUN,
        Right(samples=12, made={"formats": "jpeg 11, png 1"}),
    ),
    Case("a JPEG named .png", jpeg_as_png, VERIFY, sound("12 jpeg")),
    Case(
        "WebP beside JPEG",
        webp_among,
        RUN,
        Right(samples=15, made={"formats": "jpeg 12, webp 3"}),
    ),
    Case(
        "GIF, TIFF and HEIC among JPEGs",
        OTHERS,
        RUN,
        whole(left_out="3 (1 gif, 1 heic, 1 tiff)"),
    ),
    Case(
        "GIF, TIFF and HEIC among JPEGs",
        OTHERS,
        ("gen", "DIR-made", "--from", "DIR", "--format", "jpeg", "--count", "0"),
        Right(says=("12 samples", "a *.gif", "a *.tiff", "a *.heic", "3 left out")),
    ),
    Case(
        "a GIF named .jpg",
        changed(gif_as_jpeg),
        RUN,
        fails("is a GIF, which feedrate does not decode"),
    ),
    Case("a GIF named .jpg", changed(gif_as_jpeg), SKIP, SKIPPED),
    Case("a GIF named .jpg", changed(gif_as_jpeg), VERIFY, one_bad("is a GIF")),
    Case(
        "a HEIC named .jpg",
        changed(lambda _: files.HEIC),
        RUN,
        fails("is a HEIC or HEIF picture, which feedrate does not decode"),
    ),
    Case(
        "no class folders",
        names_of(*(f"{i}.jpg" for i in range(12))),
        RUN,
        whole(layout="no class folders: one class", classes="1"),
    ),
    Case("one class", names_of(*(f"cat/{i}.jpg" for i in range(12))), RUN, whole(classes="1")),
    Case(
        "1,001 classes",
        names_of(*(f"{i:04}/a.jpg" for i in range(1001))),
        RUN,
        Right(samples=1001, made={"classes": "1001"}),
    ),
    Case(
        "pictures at the top, and in classes",
        names_of(*CLASSES, "a.jpg", "b.jpg"),
        RUN,
        whole(classes="2", left_out="2 (2 in no class folder)"),
    ),
    Case(
        "hidden files and those of systems",
        putting(HIDDEN),
        RUN,
        whole(classes="2", left_out="4 (4 hidden)"),
    ),
    Case(
        "an empty class folder",
        beside_classes(lambda folder: os.mkdir(folder.path("bird"))),
        RUN,
        whole(classes="2", left_out="1 (1 class folder without pictures)"),
    ),
    Case(
        "newlines and bytes that are no UTF-8 in names",
        names_of(*(f"{ODD_NAME}/{ODD_NAME}{i}.jpg" for i in range(12))),
        RUN,
        whole(classes="1"),
    ),
    Case(
        "links to a picture and to a class folder",
        links,
        RUN,
        Right(samples=14, made={"classes": "3"}),
    ),
    Case(
        "a loop of links",
        linking("cat/loop", ".."),
        RUN,
        Right(1, ("DIR/cat/loop", "is a link to a folder that it lies in")),
    ),
    Case(
        "a link that leads nowhere",
        linking("cat/gone.jpg", "/nowhere.jpg"),
        RUN,
        Right(1, ("DIR/cat/gone.jpg: is a link that leads nowhere", "find DIR -xtype l")),
    ),
    Case("an empty folder", names_of(), RUN, Right(1, ("DIR: holds no files", "feedrate gen"))),
    Case("an empty folder", names_of(), VERIFY, Right(1, ("DIR: holds no files",))),
    Case(
        "a folder of .txt",
        lambda folder: [folder.put(f"{i}.txt", b"no picture") for i in range(3)],
        RUN,
        Right(1, ("DIR: holds no .jpg", "3 (3 .txt)")),
    ),
    Case("a zip file", zip_file, (*RUN[:2], "DIR.zip", *DEVICE), Right(1, ("unpack first",))),
    Case("a zip file", zip_file, ("verify", "DIR.zip"), Right(1, ("unpack first",))),
    Case(
        "a URL",
        names_of(),
        (*RUN[:2], "s3://bucket/photos", *DEVICE),
        Right(1, ("s3://bucket/photos: is a URL", "mount it")),
    ),
    Case(
        "a URL to write to",
        names_of(),
        ("gen", "s3://x"),
        Right(2, ("s3://x: is a URL", "feedrate writes folders")),
    ),
    Case("a JPEG that is cut off", changed(half), VERIFY, one_bad()),
    Case("a JPEG that is cut off", changed(half), RUN, fails()),
    Case("a JPEG that is cut off", changed(half), SKIP, SKIPPED),
    Case("an empty file", changed(lambda _: b""), RUN, fails("is empty")),
    Case("an empty file", changed(lambda _: b""), VERIFY, one_bad("is empty")),
    Case("all pictures bad", all_bad, SKIP, Right(1, ("all 12 samples are bad; the first: ",))),
    Case("all pictures bad", all_bad, VERIFY, Right(1, (" 12 bad\n", "decoded: none"))),
    Case("another picture and more behind a JPEG's end", changed(behind), RUN, whole()),
    Case(
        "another picture and more behind a JPEG's end",
        changed(behind),
        VERIFY,
        sound("12 jpeg", "note: 1 picture holds stray bytes behind the end; it decodes as in"),
    ),
    Case("stray bytes before a marker", changed(files.with_stray_bytes), RUN, whole()),
    Case(
        "stray bytes before a marker",
        changed(files.with_stray_bytes),
        VERIFY,
        sound("12 jpeg", "note: 1 picture holds stray bytes before a marker; it decodes as in"),
    ),
    Case(
        "tar shards, one without pictures",
        shards,
        RUN,
        whole(classes="6", left_out="1 (1 shard without pictures)"),
    ),
    Case("tar shards, one without pictures", shards, VERIFY, sound("12 jpeg", "12 samples")),
    Case(
        "npz files: image among several arrays",
        arrays,
        (*RUN, "--data", "npz"),
        Right(samples=4, made={"formats": "npz 4"}),
    ),
    Case(
        "a picture written again between two runs, as long as before",
        rewritten,
        RUN,
        Right(1, ("DIR/cat/3.jpg: ", "has changed since it was listed", "--relist")),
    ),
    Case(
        "a picture written again between two runs, as long as before",
        rewritten,
        (*RUN, "--relist"),
        whole(),
    ),
    Case(
        "a class folder that cannot be read",
        unreadable,
        RUN,
        Right(1, ("DIR/dog: Permission denied", "make it readable")),
    ),
    Case(
        "endings in capitals",
        names_of(*(f"cat/{i}.JPG" for i in range(6)), *(f"dog/{i}.JPEG" for i in range(6))),
        RUN,
        whole(),
    ),
    Case(
        "a little of all of this",
        verified_before,
        RUN,
        Right(
            samples=14,
            made={"left_out": "7 (4 hidden, 1 gif, 1 in no class folder, 1 other)"},
            also=counts_as_verify,
            more="verify counts as many",
        ),
    ),
]

# Ten that were made without the code: by one who had read README, formats.md, storage.md and the
# cases above, no line of src/, and had run nothing of feedrate. What counts as right was fixed, and
# committed, before the first run.
TEN = [
    Case(
        # From Samba or WSL, Google Takeout, Lightroom and a Synology, whose thumbnails are not a
        # class's pictures; nor is its folder 0.jpg one.
        "sidecars of Windows, Takeout, Lightroom and a Synology",
        putting(SIDECARS),
        RUN,
        whole(
            classes="2",
            left_out=re.compile(
                r"\d+ \((?=.*\b[67] other)(?=.*\d hidden)"
                r"(?=.*\b1 class folder without pictures).*\)"
            ),
        ),
    ),
    Case(
        # What is under way has another ending; a page under a picture's name, and zeros, are bad.
        "a scraper's downloads: two under way, a page named .jpg, 1 MiB of zeros named .jpg",
        downloads,
        VERIFY,
        Right(
            1,
            (
                "bad: cat/3.jpg: ",
                "bad: dog/3.jpg: ",
                " 0 unreadable, 2 bad\n",
                "decoded: 10 jpeg\n",
                "2 (2 other)",
            ),
            also=says_a_page_is_none,
            more="the reason tells a page from a damaged picture",
        ),
    ),
    Case(
        # torchvision and Pillow read the others, and neither reads 12 bits.
        "progressive JPEGs, CMYK without Adobe's marker, and one of 12 bits",
        ODD_JPEGS,
        VERIFY,
        dataclasses.replace(
            one_bad("decoded: 11 jpeg\n"), also=says_12_bits, more="the reason names the 12 bits"
        ),
    ),
    Case(
        # As Pillow's convert("RGB"): 16 bits become their upper 8, alpha is dropped.
        "one picture as eight kinds of PNG: 16 bits, alpha, palettes, interlaced",
        one_picture_as_pngs,
        (
            "gen",
            "DIR-made",
            "--from",
            "DIR",
            "--format",
            "jpeg",
            "--image-size",
            "mixed",
            "--count",
            "0",
        ),
        Right(says=("8 samples",), also=makes_one_picture, more="eight times the same picture"),
    ),
    Case(
        # RandomResizedCrop takes them.
        "placeholders of 1x1, lines of 300x1 and 1x300",
        TINY,
        RUN,
        Right(samples=17, made={"formats": "jpeg 15, png 2"}),
    ),
    Case(
        # A name is a name: of 255 bytes, 15 folders deep, with a dash first, a tab, an emoji, what
        # a shell takes for its own; a folder that is called as a picture is a folder.
        "trying names: long, deep, .jpg.jpg, a folder named .jpg, a dash, a tab, an emoji",
        names_of(*TRYING_NAMES),
        RUN,
        whole(classes="3"),
    ),
    Case(
        # As ImageFolder: what lies at the top are the classes, whatever they are called. A hard
        # link is a picture like any other.
        "train, val (hard links), test without classes, annotations",
        splits,
        RUN,
        Right(
            samples=18,
            made={
                "formats": "jpeg 18",
                "classes": "3",
                "left_out": re.compile(
                    r"\d+ \((?=.*\d other)(?=.*\b1 class folder without pictures).*\)"
                ),
            },
        ),
    ),
    Case(
        # Who unpacked it means the pictures, and the line says that the tar was left out.
        "ImageNet's validation pictures, flat, beside the tar that they came from",
        unpacked_beside_its_tar,
        RUN,
        whole(layout="no class folders: one class", classes="1", left_out=re.compile(r"2 \(.+\)")),
    ),
    Case(
        "ImageNet's training tar: a tar of each class's tar",
        tar_of_tars,
        RUN,
        Right(
            1,
            ("DIR/ILSVRC2012_img_train.tar",),
            also=says_to_unpack,
            more="it says to unpack it",
        ),
    ),
    Case(
        # "./" hides nothing. Two names have dots, so that by webdataset's rule their kind is no
        # picture's: whoever packed them has to learn that two are missing.
        "a Mac's tar of a folder: ./ before names, ._ files, and two with more dots in their names",
        tar_of_a_mac,
        RUN,
        whole(classes="2", left_out=re.compile(r"\d+ \(.*\b2 (?!hidden).*\)")),
    ),
]
CASES += TEN

IMAGENET = Case(
    "ImageNet's 1,000 classes, 13,000 names: 10 PNGs named .JPEG, 3 in CMYK, 130 in gray",
    made_imagenet,
    (*RUN, "--no-ceiling", "--min-steps", "204", "--max-seconds", "400"),
    Right(
        samples=13_000,
        made={"classes": "1000", "formats": "jpeg 13000"},
        flags={"emulated"},
        also=draws_all,
        more="each is drawn",
    ),
)


# --- Asking.


def misses(right, command, answer, folder):
    """What is not as it has to be, in words; nothing: it is right."""
    wrong = [f"“{words}” is missing" for words in right.says if words not in _text(answer)]
    if answer.code != right.code:
        wrong.append(f"exit {answer.code}")
    if "Traceback" in answer.err or "terminate called" in answer.err:
        wrong.append("it crashed")
    if command == "run" and right.code == 0 and answer.code == 0:
        wrong += _misses_of_record(right, answer.json or {})
    if not wrong and right.also:
        wrong += filter(None, [right.also(answer, folder)])
    return wrong


def _text(answer):
    return answer.out + "\n" + answer.err


def _misses_of_record(right, record):
    dataset, wrong = record.get("dataset") or {}, []

    def compare(what, found, wanted):
        like = isinstance(wanted, re.Pattern)
        if not wanted.fullmatch(found or "") if like else found != wanted:
            wrong.append(f"{what} is {found}, not {_worded(wanted)}")

    if not record.get("imgs_per_s", 0) > 0:
        wrong.append("no rate")
    compare("samples", dataset.get("samples"), right.samples)
    for key in sorted({"left_out", "layout", *right.made}):
        compare(key, dataset.get("made", {}).get(key), right.made.get(key))
    compare("bad_pictures", record.get("bad_pictures", {}).get("found", 0), right.bad)
    found = _flags(record)
    compare("the flag bad_samples", "bad_samples" in found, right.bad > 0)
    if right.flags is not None:
        compare("flags", sorted(found), sorted(right.flags))
    return wrong


def _flags(record):
    return {flag["name"] for flag in record.get("flags", [])}


def said_by(command, answer):
    """In a few words, what was answered."""
    record = answer.json if command == "run" and answer.code == 0 else None
    if not record:
        lines = (answer.err if answer.code else answer.out).strip().split("\n")
        if command == "verify" and answer.out:
            lines = [line for line in answer.out.split("\n") if " samples, " in line] or lines
        return f"exit {answer.code}: {lines[-1][:160]}"
    made, bad = record["dataset"]["made"], record.get("bad_pictures", {}).get("found", 0)
    parts = [f"{record['imgs_per_s']:.0f} img/s", made.get("formats", "")]
    parts.append("left_out" in made and f"left out: {made['left_out']}")
    parts += [made.get("layout", ""), f"{bad} bad" * (bad > 0)]
    parts.append("flags " + ", ".join(sorted(_flags(record))))
    return "; ".join(filter(None, parts))


def _content(path):
    with open(path, "rb") as file:
        return file.read()


def generated(program, beside, *words):
    """Paths of the pictures of one format and size that `gen` makes."""
    at = tempfile.mkdtemp(prefix="made-", dir=beside)
    words = words if "--format" in words else (*words, "--format", "jpeg")
    subprocess.run([program, "gen", at, *words], check=True, capture_output=True)
    return sorted(
        os.path.join(folder, name)
        for folder, _, names in os.walk(at)
        for name in names
        if os.path.basename(folder).startswith("class_")
    )


@contextlib.contextmanager
def stock_of(program):
    """{format: bytes of a few pictures}"""
    with tempfile.TemporaryDirectory(prefix="feedrate-pictures-") as beside:
        some = ("--image-size", SIZE, "--count", "12")
        yield {
            kind: [_content(p) for p in generated(program, beside, "--format", kind, *some)]
            for kind in ("jpeg", "png", "webp")
        }


@contextlib.contextmanager
def _folder(program, stock):
    beside = tempfile.mkdtemp(prefix="feedrate-pictures-")
    folder = Folder(program, stock, beside)
    try:
        yield folder
    finally:
        for path in folder.locked:
            os.chmod(path, 0o700)
        shutil.rmtree(beside, True)


def ask(program, stock, case):
    """The row of a case; `right` is None where it cannot be made here."""
    command = case.words[0]
    row = {
        "case": case.name,
        "command": "feedrate " + " ".join(case.words),
        "expected": case.right.text().replace("\n", ""),
    }
    with _folder(program, stock) as folder:
        try:
            case.make(folder)
        except Skip as reason:
            return {**row, "right": None, "said": f"skipped: {reason}", "wrong": []}
        answer = folder.ask(*case.words)
        if case.right.flags is not None and _flags(answer.json or {}) & OF_THE_MACHINE:
            answer = folder.ask(*case.words)
        wrong = misses(case.right, command, answer, folder)
    return {**row, "right": not wrong, "said": said_by(command, answer), "wrong": wrong}
