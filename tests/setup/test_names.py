"""A name is one thing in a room: several of its files are compiled as one, where a name of an
unnamed namespace that another file also has does not compile, or, worse, is an overload of it.
"""

import collections
import os
import re
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def room_of(path):
    """Files that are compiled as one: a room's, or the tests of a room."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] in ("src", "tests") else parts[0]


def declared(line):
    """The names that a line at the margin declares. Templates' arguments are left out."""
    while (shorter := re.sub(r"<[^<>]*>", "", line)) != line:
        line = shorter
    if closing := re.match(r"} (\w+)", line):
        return [closing[1]]
    if re.match(r"[ #/}]|using namespace|static_assert|template|namespace|TEST|INSTANTIATE", line):
        return []
    if kind := re.match(r"(?:struct|class|enum class|enum|union) (\w+)(?= [{:]|$)", line):
        return [kind[1]]
    if constants := re.findall(r"\b(k[A-Z]\w*)(?= ?[={[])", line):
        return constants
    name = re.search(r"(?:^|[ *&])(?!operator)([A-Za-z_]\w*) ?(?:\(|\[|=|;|\{)", line)
    return [name[1]] if name else []


def public(text):
    """What a header declares at the margin, for the other files of its room."""
    return {name for line in text.splitlines() for name in declared(line)}


def unnamed(text):
    """(name, its line) of what unnamed namespaces and `static` declare at the margin."""
    inside = False
    for line in text.splitlines():
        if line.startswith("namespace {"):
            inside = True
        elif line.startswith("}  // namespace"):
            inside = False
        elif inside or line.startswith("static "):
            for name in declared(line):
                yield name, line


TOPS = ("src", "models", "data_gen", "tests")
# Aliases that say the same in each file.
ALIASES = re.compile(r"using Json = nlohmann::|namespace fs = |using ::testing::|using testing::")


def sources():
    """Of a checkout, or of an unpacked archive without git."""
    for top in TOPS:
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            for name in names:
                if name.endswith((".cpp", ".h")):
                    yield os.path.relpath(os.path.join(folder, name), ROOT)


class Names(unittest.TestCase):
    def test_a_name_of_an_unnamed_namespace_is_the_only_one_of_its_room(self):
        places = collections.defaultdict(set)
        shared = collections.defaultdict(dict)
        for path in sources():
            with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                text = file.read()
            if path.endswith(".h"):
                # Tests include the headers of other rooms' tests.
                room = "tests" if path.startswith("tests/") else room_of(path)
                shared[room].update(dict.fromkeys(public(text), path))
                continue
            for name, line in unnamed(text):
                if not ALIASES.match(line):
                    places[room_of(path), name].add(path)
        self.assertGreater(len(places), 300, "no names were found: is the pattern wrong?")
        for (room, name), files in places.items():
            # Each file of the program may include those of src/base.
            is_test = room.startswith("tests/")
            headers = shared["tests"] if is_test else {**shared["src/base"], **shared[room]}
            first, *others = sorted(files)
            with self.subTest(room=room, name=name):
                self.assertEqual(others, [], f"{first} has it too")
                self.assertIsNone(headers.get(name), f"{first} has it too")

    def test_a_line_may_declare_several(self):
        line = "constexpr codec::PixelSize kStored{150, 45}, kOutput{70, 24};"
        self.assertEqual(declared(line), ["kStored", "kOutput"])

    def test_what_a_line_declares(self):
        for line, name in (
            ("constexpr int kLeast = 3;", "kLeast"),
            ("std::map<std::string, int> counts_of(const X& x) {", "counts_of"),
            ("struct Loss {", "Loss"),
            ("class Walk : public Base {", "Walk"),
            ("} kTable[] = {{1, 2}};", "kTable"),
            ("const Words kFew[] = {1};", "kFew"),
            ("  int inner = 3;", None),
            ("// a comment (with brackets)", None),
            ("using Words = std::vector<std::string>;", "Words"),
            ("const char* name_of(int x) {", "name_of"),
        ):
            with self.subTest(line):
                self.assertEqual(declared(line), [name] if name else [])


if __name__ == "__main__":
    unittest.main()
