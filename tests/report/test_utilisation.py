"""With how many emulated GPUs the utilisation holds: the numbers, what is said of them, the
figure."""

import os
import statistics
import unittest

import ledgers
import sound
from report import claims, figures, findings, settings, utilisation
from test_figures import HAVE_MATPLOTLIB, Program
from test_marks import SERIOUS

BATCH, RATE, FILE = 16, 100.0, 114_650  # images, images/s of a GPU, bytes
ALL_REDUCE_MS = 0.5
# As docs/storage.md prints them of a disk of 60 MB/s: GPUs, and the AU of each run.
FOUND = {
    1: (1.0,),
    2: (0.995,),
    4: (1.0,),
    5: (1.0, 0.99, 1.0),
    6: (0.855, 0.858, 0.861),
    8: (0.659,),
}


def run(gpus, share, n=0, rate=RATE, drawn=0.0, step=1.0, **changes):
    """A run of `capacity` whose utilisation is `share`; of its images, `drawn` came out of the
    queues' stock."""
    step_ms = 1e3 * BATCH / rate
    all_reduce_ms = ALL_REDUCE_MS if gpus > 1 else 0.0
    kept = 1e3 * BATCH * gpus / (step_ms / share + all_reduce_ms)
    cell = {
        "device": f"emulated:{rate:g}",
        "gpus": gpus,
        "batch-size": BATCH,
        "image-size": "mixed",
        "workers": 1,
        "host-cpu-ms": "10",
        "all-reduce-ms": "0.5",
        **changes,
    }
    one = sound.record(ledgers.axes(**{"data": "jpeg", **cell}), kept / (1 - drawn), n)
    one["imgs_per_s"] = kept / (1 - drawn)
    one["device"] = {
        "name": f"{rate:g} img/s (EMULATED)",
        "kind": "emulated",
        "step_ms": step_ms * step,
        "all_reduce_ms": all_reduce_ms,
        "host_cpu_ms": 10.0,
    }
    one["queue"].update(drawn_fraction=1.5 * drawn if gpus > 1 else drawn, drawn_mean=drawn)
    one["dataset"]["mean_bytes"] = FILE
    one["window_s"] = 4.0
    one["stages"] = [
        {"name": "read", "wall_s": 1, "cpu_s": 1, "items": 1, "bytes": 4 * kept * FILE}
    ]
    return one


def search(found=FOUND, **changes):
    """The ledger of a search that found these."""
    return [
        run(gpus, share, n, **changes)
        for gpus, shares in found.items()
        for n, share in enumerate(shares)
    ]


def lines_of(records):
    (setting,) = settings.group(records)
    return utilisation.lines(setting)


def finding_of(records):
    found = settings.group(records)
    plan = next(p for p in figures.plan(found) if p.module == "utilisation_vs_gpus")
    return findings.finding(plan, claims.of(found))


class Numbers(unittest.TestCase):
    def test_each_run_and_the_median_of_each_number_of_gpus(self):
        (line,) = lines_of(search())
        self.assertEqual([c.gpus for c in line.counts], list(FOUND))
        for count in line.counts:
            for share, due in zip(count.shares, FOUND[count.gpus], strict=True):
                self.assertAlmostEqual(share, due)
            self.assertAlmostEqual(count.median, statistics.median(FOUND[count.gpus]))

    def test_it_is_what_the_program_computes(self):
        """By hand, as utilisation_of() and sustained_rate() of capacity_search.cpp have it."""
        one = run(4, 0.8)
        one.update(imgs_per_s=300.0)
        one["queue"].update(drawn_mean=0.1, drawn_fraction=0.3)
        one["device"].update(step_ms=160.0, all_reduce_ms=5.0)
        self.assertAlmostEqual(utilisation.of_run(one), 160 / (1e3 * 64 / 270 - 5))
        one["queue"].update(drawn_mean=-0.1)  # went into the stock: it was loaded all the same
        self.assertAlmostEqual(utilisation.of_run(one), 160 / (1e3 * 64 / 300 - 5))
        one["queue"].update(drawn_mean=1.0)  # nothing was loaded
        self.assertEqual(utilisation.of_run(one), 0)

    def test_what_came_out_of_the_stock_is_taken_off(self):
        (line,) = lines_of(search(drawn=0.08))
        self.assertAlmostEqual(line.counts[-1].median, FOUND[8][0])

    def test_an_older_record_says_it_of_one_queue_or_of_queues_at_rest(self):
        one, rest, many = run(1, 0.9, drawn=0.02), run(4, 0.9), run(4, 0.9, drawn=0.02)
        for record in (one, rest, many):
            del record["queue"]["drawn_mean"]
        self.assertAlmostEqual(utilisation.of_run(one), 0.9)
        self.assertAlmostEqual(utilisation.of_run(rest), 0.9)
        self.assertIn("stock of all GPUs' queues", utilisation.lacks(many))

    def test_what_a_record_does_not_say_is_not_guessed(self):
        for change, why in (
            (lambda r: r.update(schema="feedrate.result/2"), "schema is older"),
            (lambda r: r["cell"].update(device="emulated:trace=0123456789abcdef"), "recorded"),
            (lambda r: r["device"].pop("step_ms"), "how long a step takes"),
            (lambda r: r["device"].update(step_ms=0.0), "how long a step takes"),
            (lambda r: r["device"].pop("all_reduce_ms"), "how long a step takes"),
            (lambda r: r.pop("queue"), "queues"),
            (lambda r: r["device"].update(all_reduce_ms=1e6), "takes longer"),
        ):
            one = run(2, 0.9)
            change(one)
            self.assertIn(why, utilisation.lacks(one))
        self.assertEqual(utilisation.lacks(run(2, 0.9)), "")

    def test_a_number_of_gpus_holds_up_to_the_first_that_starves(self):
        def held(found, share=0.9):
            (line,) = lines_of(search(found))
            return utilisation.held(line.unbroken, share)

        self.assertEqual(held(FOUND), utilisation.Held(5, 6))
        self.assertEqual(held({1: (1.0,), 2: (0.89,), 4: (0.95,)}), utilisation.Held(1, 2))
        self.assertEqual(held({1: (0.8,), 2: (0.4,)}), utilisation.Held(0, 1))
        self.assertEqual(held({1: (1.0,), 2: (0.93,)}), utilisation.Held(2, None))
        self.assertEqual(held({1: (1.0,), 2: (0.93,)}, 0.95), utilisation.Held(1, 2))
        self.assertEqual(utilisation.Held(2, None).words, "at least 2 GPUs")
        self.assertEqual(utilisation.Held(1, 2).words, "1 GPU")
        self.assertEqual(utilisation.Held(0, 1).words, "none")

    def test_one_spoilt_run_does_not_change_the_answer(self):
        """The storage stood still in it; as `capacity` decides."""
        (line,) = lines_of(search({1: (0.5, 1.0, 1.0), 2: (0.99,), 4: (0.5, 0.51, 0.5)}))
        self.assertEqual(utilisation.held(line.unbroken, 0.9), utilisation.Held(2, 4))

    def test_a_number_of_which_nothing_is_known_ends_the_answer(self):
        for unknown, due in ((4, "at least 2 GPUs"), (1, "not known")):
            records = search({1: (1.0,), 2: (1.0,), 4: (1.0,), 8: (0.99,)})
            for record in records:
                if record["cell"].get("gpus") == unknown:
                    del record["queue"]
            (line,) = lines_of(records)
            self.assertEqual(len(line.counts), 3)
            self.assertEqual(line.words(0.9), due)

    def test_what_is_read_and_what_is_needed(self):
        (line,) = lines_of(search())
        for count in line.counts:
            self.assertAlmostEqual(count.needed, count.gpus * RATE * FILE)
        kept = 1e3 * BATCH * 8 / (160 / 0.659 + ALL_REDUCE_MS)
        self.assertAlmostEqual(line.counts[-1].read_median, kept * FILE, delta=1)

    def test_real_devices_and_a_single_number_of_gpus_have_none(self):
        self.assertEqual(lines_of(search({4: (0.9, 0.9)})), [])
        real = search(device="cuda")
        for one in real:
            one["device"] = {"name": "NVIDIA H100", "kind": "cuda"}
        self.assertEqual(lines_of(real), [])


@unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
class Finding(unittest.TestCase):
    BOTH = {4: (0.99, 0.98, 0.985), 5: (0.92, 0.93, 0.925), 6: (0.80, 0.81, 0.82)}

    def test_it_says_how_many_are_fed(self):
        self.assertEqual(
            finding_of(search(self.BOTH)),
            "jpeg mixed: AU of 90 % or more: 5 GPUs, of 95 % or more: 4 GPUs (emulated)",
        )

    def test_a_few_runs_are_a_look(self):
        self.assertIn("a look", finding_of(search({**self.BOTH, 5: (0.92, 0.93)})))

    def test_it_says_nothing_of_what_must_not_be_quoted(self):
        records = search(self.BOTH)
        records[0].update(flags=[SERIOUS], valid=False)
        self.assertEqual(finding_of(records), findings.NOTHING)

    def test_queues_that_do_not_rest_are_corrected_for(self):
        records = search(self.BOTH)
        records[0].update(
            flags=[{"name": utilisation.CORRECTED, "severity": "serious"}], valid=False
        )
        self.assertIn("5 GPUs", finding_of(records))


@unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
class Figure(Program):
    STEM = "utilisation_vs_gpus"

    def svg(self, records, name=STEM):
        self.run_report(records, "--formats", "svg", "--only", self.STEM, extras=("--no-slides",))
        return self.content(name + ".svg").decode()

    def is_drawn(self, records):
        self.run_report(records, "--formats", "svg", "--only", self.STEM, "--only", "stages")
        return os.path.exists(self.path(self.STEM + ".svg"))

    def test_it_says_what_it_shows_and_what_it_is_not(self):
        svg = self.svg(search())
        for words in (
            "EMULATED DEVICE",
            "95 %: 5 GPUs",
            "90 %: 5 GPUs",
            "AU of 90 % or more: 5 GPUs; of 95 % or more: 5 GPUs.",
            "no result of that or any consortium",
            "median of the runs",
            "MLPerf Storage takes it over a whole run",
            "AU, %",
            "read, MB/s",
            "needed",
        ):
            self.assertIn(words, svg)
        column = self.content(f"paper/{self.STEM}.svg").decode()
        self.assertIn("EMULATED DEVICE", column)
        self.assertIn("consortium", self.content("paper/figures.tex").decode())

    def test_the_most_that_were_tried_are_no_limit(self):
        svg = self.svg(search({1: (1.0,), 2: (0.99,)}))
        self.assertIn("95 %: ≥ 2 GPUs", svg)
        self.assertIn("at least 2 GPUs", svg)

    def test_runs_that_do_not_say_enough_are_left_out_with_a_note(self):
        records = search()
        del records[-1]["device"]["all_reduce_ms"]
        svg = self.svg(records)
        self.assertIn("1 run left out: their records do not say how long a step takes", svg)

    def test_an_invalid_run_is_marked(self):
        records = search()
        records[-1].update(flags=[SERIOUS], valid=False)
        svg = self.svg(records)
        self.assertIn("90 %: 5 GPUs !", svg)
        self.assertIn("serious flag (throttled)", svg)

    def test_what_is_corrected_is_said(self):
        records = search(drawn=0.08)
        records[-1].update(
            flags=[{"name": utilisation.CORRECTED, "severity": "serious"}], valid=False
        )
        svg = self.svg(records)
        self.assertIn("AU is corrected for what came out", svg)
        self.assertNotIn("5 GPUs !", svg)

    def test_each_host_cpu_time_has_its_own(self):
        records = search() + search({1: (1.0,), 2: (1.0,)}, **{"host-cpu-ms": "0"})
        self.assertIn("AU of 90 % or more: 5 GPUs", self.svg(records, self.STEM + ".10"))
        self.assertIn("at least 2 GPUs", self.content(self.STEM + ".0.svg").decode())

    def test_several_kinds_and_sizes(self):
        records = []
        for data, size, share in (("jpeg", "500x375", 1.0), ("png", "1000x800", 0.8)):
            of_kind = {"data": data, "image-size": size}
            records += search({1: (share,), 2: (0.9 * share,)}, **of_kind)
        svg = self.svg(records)
        self.assertIn("AU of 90 % or more: jpeg 500x375 at least 2 GPUs, png 1000x800 none", svg)
        self.assertIn("stored at 1000x800", svg)
        self.assertNotIn("read, MB/s", svg)

    def test_a_kind_without_a_stored_size_is_told_once(self):
        records = []
        for data, size in (("jpeg", "500x375"), ("jpeg", "1000x800"), ("tensor", None)):
            records += search({1: (1.0,), 2: (0.8,)}, **{"data": data, "image-size": size})
        answer = "AU of 90 % or more: tensor 1 GPU, jpeg 500x375 1 GPU, jpeg 1000x800 1 GPU; of"
        self.assertIn(answer, self.svg(records))

    def test_a_number_of_gpus_that_failed_is_missing_and_not_zero(self):
        failed = run(16, 0.5)
        gone = ledgers.record(failed["cell"], None, 0, status="failed", error="gone")
        svg = self.svg([*search(), {**gone, "schema": "feedrate.result/3", "valid": False}])
        self.assertIn(">×</text>", svg)
        self.assertIn("missing, not zero: 1 cell, failed", svg)
        self.assertIn("90 %: 5 GPUs", svg)

    def test_reads_that_nobody_counted_are_not_drawn(self):
        records = search()
        records[0]["stages"] = []
        svg = self.svg(records)
        self.assertIn("95 %: 5 GPUs", svg)
        self.assertNotIn("read, MB/s", svg)

    def test_it_is_drawn_of_emulated_gpus_alone(self):
        self.assertFalse(self.is_drawn(search({4: (0.9, 0.9)})))
        real = search(device="cuda")
        for one in real:
            one["device"] = {"name": "NVIDIA H100", "kind": "cuda"}
        self.assertFalse(self.is_drawn(real))
        self.assertTrue(self.is_drawn(search()))


if __name__ == "__main__":
    unittest.main()
