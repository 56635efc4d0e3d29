"""Changes every number of real records by a tenth, makes all checksums afresh as somebody who edits
on purpose would, and runs `feedrate validate`: it must find every change of a derived number. It
must also find a record that was removed, moved or repeated, and a changed verdict or severity.

    test_derived.py FEEDRATE FEEDRATE_VALIDATION
"""

import concurrent.futures
import copy
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, TOOL = "", ""
# Numbers that a run measures, and options: nothing else in the record says what they should be. A
# change of any other number must be found. A change of an option is found too if other records of
# the ledger hold the same option.
MEASURED = [
    re.compile(pattern)
    for pattern in (
        r"warmup_steps|warmup_s|first_batch_s|resident_bytes|loss_last",
        r"(step|data_wait|device_idle)_ms/raw/.*",
        r"stages/\d/(bytes)",
        r"stages/3/items",  # of uint8, which need no collating: no time is derived from them
        r"queue/(capacity_samples|drawn_fraction|drawn_mean|rank)",
        r"cpu_wait_s",
        r"io/(latency|open)_us/.*",
        r"threads/(opencv_each|process)",
        r"arrivals/decoded/.*",
        r"monitors/(?!series/at_s).*",
        r"monitors/series/at_s/.*",
        r"ranks/\d/(pid|sync_ms_mean)",
        r"ranks/[1-9]/data_wait_ms_mean",
        r"dataset/page_cache_(before|after|first|backing_(before|after))",
        r"dataset/(page_cache_look/(files|unwritten_pages)|memory_bytes|listing_seconds|made/.*)",
        r"limits/.*",
        r"environment/.*",
    )
]

MEASURED_IN_PAIRS = [re.compile(r"pairs/took_s|ceiling_device_rate/.*")]


def leaves(value, path=()):
    """Every number: the whole of short lists, the first and the last of long ones."""
    if isinstance(value, dict):
        for key, child in value.items():
            yield from leaves(child, (*path, key))
    elif isinstance(value, list):
        for i in range(len(value)) if len(value) <= 3 else (0, len(value) - 1):
            yield from leaves(value[i], (*path, i))
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, value


def at(record, path):
    for key in path[:-1]:
        record = record[key]
    return record


class Derived(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="feedrate-derived-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        data = os.path.join(cls.folder, "data")
        cls.run_program("gen", data, "--count", "256", "--format", "jpeg", "--image-size", "48")
        cls.results = os.path.join(cls.folder, "results")
        cls.run_program(
            "sweep",
            "--data",
            "synthetic,jpeg",
            "--page-cache",
            "warm,cold",  # in pairs with its ceiling, and between two runs of it
            "--dataset",
            data,
            "--image-size",
            "48",
            "--input-size",
            "48",
            "--device",
            "emulated:1500",
            "--batch-size",
            "8",
            "--gpus",
            "1,2",
            "--workers",
            "2",
            "--min-seconds",
            "0.2",
            "--warmup-seconds",
            "0.05",
            "--repetitions",
            "2",
            "-o",
            cls.results,
        )
        with open(os.path.join(cls.results, "ledger.jsonl"), encoding="utf-8") as file:
            cls.lines = file.read().splitlines()
        cls.records = [json.loads(line) for line in cls.lines]

    @classmethod
    def run_program(cls, *words):
        subprocess.run(
            [PROGRAM, *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def validate(self, records):
        """(exit code, stdout) of the command on a ledger of these records, with checksums made
        afresh."""
        lines = [json.dumps(r, separators=(",", ":"), ensure_ascii=False) for r in records]
        return self.validate_lines(lines, [TOOL, "seal"])

    def validate_lines(self, lines, seal=()):
        """(exit code, stdout) of the command on a ledger of these lines. Python writes some numbers
        with other digits than the program, so what must stay as written comes as lines."""
        folder = tempfile.mkdtemp(dir=self.folder)
        with open(os.path.join(folder, "ledger.jsonl"), "w", encoding="utf-8") as file:
            file.write("".join(line + "\n" for line in lines))
        shutil.copy(os.path.join(self.results, "plan.json"), folder)
        if seal:
            subprocess.run([*seal, folder], check=True)
        answer = subprocess.run(
            [PROGRAM, "validate", folder],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        shutil.rmtree(folder)
        return answer.returncode, answer.stdout

    def changed(self, line, path, value):
        records = copy.deepcopy(self.records)
        at(records[line], path)[path[-1]] = value
        return self.validate(records)

    def line_of(self, page_cache, gpus):
        """In the second repetition, where records of the same cell came before."""
        return next(
            i
            for i, r in enumerate(self.records)
            if (r["cell"]["page-cache"], r["cell"]["gpus"], r["repetition"])
            == (page_cache, gpus, 1)
        )

    def test_nothing_is_found_in_it_as_it_is(self):
        self.assertEqual(self.validate(self.records), (0, ""))
        self.assertEqual(self.validate_lines(self.lines), (0, ""))

    def test_nothing_is_found_in_the_reference_whose_program_had_other_axes(self):
        root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        folder = tempfile.mkdtemp(dir=self.folder)
        for name in ("ledger.jsonl", "plan.json", "axes.json"):
            shutil.copy(os.path.join(root, "results/reference/epyc-2-cores", name), folder)
        answer = subprocess.run(
            [PROGRAM, "validate", folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.assertEqual((answer.returncode, answer.stdout), (0, b""))

    def test_each_derived_number_changed_by_a_tenth_is_found_with_checksums_made_afresh(self):
        cases = [
            (line, path, value)
            for line in (
                self.line_of("warm", 2),
                self.line_of("warm", 1),
                self.line_of("cold", 1),
                self.line_of(None, 2),
            )
            for path, value in leaves(self.records[line])
        ]
        derived = [
            c
            for c in cases
            if not any(p.fullmatch("/".join(map(str, c[1]))) for p in self.measured(c[0]))
            and not self.is_rounding(*c[1:])
        ]
        self.assertGreater(len(derived), 120)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            answers = list(
                pool.map(lambda c: self.changed(c[0], c[1], self.by_a_tenth(c[2])), derived)
            )
        missed = [
            "/".join(map(str, path)) + f" = {value} of line {line + 1}"
            for (line, path, value), (code, _) in zip(derived, answers)
            if code != 1
        ]
        print(
            f"{len(derived)} derived numbers of {len(cases)} changed by a tenth:"
            f" {len(derived) - len(missed)} found"
        )
        self.assertEqual(missed, [])

    def measured(self, line):
        """The numbers that a run measures. One in pairs has no record of its ceiling's."""
        return MEASURED + (MEASURED_IN_PAIRS if "pairs" in self.records[line] else [])

    @staticmethod
    def is_rounding(path, value):
        """Milliseconds are written to three decimals, and so are those that they are made from: two
        microseconds are no change."""
        return any("_ms" in str(key) for key in path) and 1e-6 < abs(value) <= 0.025

    @staticmethod
    def by_a_tenth(value):
        if isinstance(value, int):
            return value + max(1, round(0.1 * value))
        return 1.1 * value if abs(value) > 1e-6 else 0.1

    def test_a_record_taken_out_moved_or_repeated_is_found_with_checksums_made_afresh(self):
        records, count = self.records, len(self.records)
        for i in range(count):
            self.assertEqual(
                self.validate(records[:i] + records[i + 1 :])[0], 1, f"line {i + 1} taken out"
            )
            self.assertEqual(
                self.validate(records[: i + 1] + records[i:])[0], 1, f"line {i + 1} repeated"
            )
            j = (i + 3) % count
            moved = records[:i] + records[i + 1 :]
            self.assertEqual(
                self.validate(moved[:j] + [records[i]] + moved[j:])[0], 1, f"line {i + 1} moved"
            )
        code, out = self.validate_lines(self.lines[:-1])
        self.assertEqual(
            code, 1, "plan.json keeps the end of the sweep: it shows that the last record is gone"
        )
        self.assertIn(f"the last sweep ended with {count} records: 1 are gone", out)

    def test_words_that_are_others_are_found_with_checksums_made_afresh(self):
        line = self.line_of("warm", 1)
        for path, value, words in (
            (("verdict",), "highly input-bound: the device waits 77 % of the time", "verdict is"),
            (("flags", 0, "severity"), "warning", "the flag emulated is warning"),
            (("capacities", 0, "resource"), "storage", "capacities do not follow"),
            (("status",), "failed", "status is failed"),
            (("role",), "ceiling", "role is ceiling"),
            (("cell", "loader"), "batch", "is not that of its axes"),
            (("stages", 1, "name"), "read", "capacities do not follow"),
            (("device", "name"), "NVIDIA H100", "device.name is"),
            (("environment", "host"), "other", "host is"),
            (("dataset", "variant"), "png/48x48", "dataset.variant is"),
            (("dataset", "page_cache_method"), "drop_caches", "dataset.page_cache_method is"),
            (("flags", 0, "name"), "certified", "none that there is"),
        ):
            code, out = self.changed(line, path, value)
            self.assertEqual(code, 1, path)
            self.assertIn(words, out)

    def test_an_edit_by_accident_shows_by_the_checksum(self):
        lines = list(self.lines)
        # Nothing else knows what it should be.
        lines[3] = lines[3].replace('"resident_bytes":', '"resident_bytes":1')
        self.assertNotEqual(lines[3], self.lines[3])
        code, out = self.validate_lines(lines)
        self.assertEqual(code, 1)
        self.assertIn("line 4: its checksum is not that of its text", out)
        self.assertIn("line 5: the line before it is not the one that it was written after", out)

    def test_severities_of_an_invalid_record_cannot_be_played_down(self):
        records = copy.deepcopy(self.records)
        record = records[self.line_of("warm", 1)]
        record["bad_samples"] = 3
        record["flags"].append(
            {"name": "bad_samples", "severity": "serious", "reason": "x", "remedy": "y"}
        )
        record["valid"] = False
        self.assertEqual(self.validate(records)[0], 0)
        record["flags"][-1]["severity"] = "note"
        record["valid"] = True
        code, out = self.validate(records)
        self.assertEqual(code, 1)
        self.assertIn("the flag bad_samples is note, the record's own numbers make it serious", out)


if __name__ == "__main__":
    PROGRAM, TOOL = map(os.path.abspath, sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
