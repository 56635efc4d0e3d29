"""A room sees the headers of the rooms that it links, and no others. The compiler enforces it.

test_rooms.py BUILD        the folder of compile_commands.json
"""

import json
import os
import re
import shlex
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(sys.argv.pop(1))


def commands():
    """{room: (file, words of its compile command)} of one source of each room. A file may be one
    of CMake's that includes several of the room's."""
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    found = {}
    for entry in entries:
        words = shlex.split(entry["command"])
        place = words[words.index("-o") + 1].split("/CMakeFiles/")[0].split("/")
        room = place[1] if place[0] == "src" and len(place) > 1 else place[0]
        if room not in ("tests", "benchmarks", "src") and entry["file"].endswith((".cpp", ".cxx")):
            found.setdefault(room, (entry["file"], words))
    return found


def seen(words):
    """The rooms whose headers such a command can include."""
    here = os.path.join(BUILD, "include") + os.sep
    folders = [re.sub("^-(I|isystem)", "", word) for word in words]
    return {folder[len(here) :] for folder in folders if folder.startswith(here)}


class Rooms(unittest.TestCase):
    def compiles(self, room, header):
        """Whether a source of the room could include the header, and what the compiler says."""
        file, words = commands()[room]
        words = words[
            words.index(next(w for w in words if w.endswith(("g++", "clang++", "c++")))) :
        ]
        end = words.index("-o")
        check = [*words[:end], "-fsyntax-only", "-include", header, "-x", "c++", file]
        done = subprocess.run(check, cwd=BUILD, capture_output=True, text=True, timeout=120)
        return done.returncode == 0, done.stderr

    def test_an_include_of_a_downstream_room_does_not_compile(self):
        for room, header in (
            ("codec", "run/measurement.h"),
            ("measure", "plan/axes.h"),
            ("plan", "ledger/ledger.h"),
            ("judge", "ledger/record.h"),
            ("session", "text/progress.h"),
            ("run", "cli/options.h"),
        ):
            with self.subTest(room=room):
                compiles, words = self.compiles(room, header)
                self.assertFalse(compiles)
                self.assertIn(f"{header}: No such file", words)

    def test_an_include_of_an_upstream_room_does(self):
        compiles, words = self.compiles("codec", "base/error.h")
        self.assertTrue(compiles, words)

    def test_no_two_rooms_see_each_other(self):
        sees = {room: seen(words) - {room} for room, (_, words) in commands().items()}
        self.assertIn("run", sees["ledger"])
        for room, others in sees.items():
            for other in others:
                self.assertNotIn(room, sees.get(other, set()), f"{room} and {other}")

    def test_no_include_climbs_out_of_its_folder(self):
        tracked = subprocess.run(
            ["grep", "-rnE", r'#include "\.\.', "src", "data_gen", "models", "tests", "benchmarks"],
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        self.assertEqual(tracked.stdout, "")


if __name__ == "__main__":
    unittest.main()
