"""With how many emulated GPUs the utilisation holds: the numbers, what is said of them, the
figure."""

import statistics
import unittest

import ledgers
import sound
from report.claims import utilisation
from report.ledger import settings

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
        def fed(found):
            (line,) = lines_of(search(found))
            answer = utilisation.fed(line.unbroken)
            return answer.gpus, answer.starved

        self.assertEqual(fed(FOUND), (5, 6))
        self.assertEqual(fed({1: (1.0,), 2: (0.89,), 4: (0.95,)}), (1, 2))
        self.assertEqual(fed({1: (0.8,), 2: (0.4,)}), (0, 1))
        self.assertEqual(fed({1: (1.0,), 2: (0.93,)}), (2, None))
        # one spoilt run does not change the answer: the storage stood still in it
        self.assertEqual(fed({1: (0.5, 1.0, 1.0), 2: (0.99,), 4: (0.5, 0.51, 0.5)}), (2, 4))

    def test_a_number_of_which_nothing_is_known_ends_the_answer(self):
        for unknown, due in ((4, "at least 2 GPUs"), (1, "an unknown number of GPUs")):
            records = search({1: (1.0,), 2: (1.0,), 4: (1.0,), 8: (0.99,)})
            for record in records:
                if record["cell"].get("gpus") == unknown:
                    del record["queue"]
            (line,) = lines_of(records)
            self.assertEqual(len(line.counts), 3)
            self.assertEqual(utilisation.fed(line.unbroken).words, due)

    def test_real_devices_and_a_single_number_of_gpus_have_none(self):
        self.assertEqual(lines_of(search({4: (0.9, 0.9)})), [])
        real = search(device="cuda")
        for one in real:
            one["device"] = {"name": "NVIDIA H100", "kind": "cuda"}
        self.assertEqual(lines_of(real), [])


if __name__ == "__main__":
    unittest.main()
