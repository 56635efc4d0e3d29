"""The answer that a report opens with: what it claims, what it names, what it tells to do."""

import itertools
import os
import shlex
import shutil
import tempfile
import unittest

import diagnoses
import ledgers
from ledgers import axes, read_more, record
from report.answer import answer, index, terminal
from report.claims import claims, diagnosis_file, memory_limit, panels
from report.figures.context import Context
from report.ledger import settings
from report.ledger.heading import EMULATION, heading
from shares import LOSES, NOISE, NONE, of_shares
from test_gpus_fed import from_memory, past_the_cache
from test_utilisation import search
from validate import headlines

SERIOUS = {
    "name": "noisy_neighbour",
    "severity": "serious",
    "reason": "other processes took 47.1 % of the CPUs",
    "remedy": "end what else runs",
}


def answers(found):
    return answer.of(found, Context("x/ledger.jsonl", "0.1.0"))


def of_records(records):
    return answers(settings.group(records))


def flagged(records, flag=SERIOUS, **changes):
    for r in records:
        r["flags"] = [dict(flag, **changes)]
    return records


class Verdicts(unittest.TestCase):
    def first(self, shares, gpus=1):
        return answers(of_shares(shares, gpus))[0]

    def test_a_loss_that_is_shown_is_said_with_its_interval_and_n(self):
        found = self.first({"jpeg": LOSES})
        self.assertEqual(found.verdict, answer.LOSES)
        self.assertEqual(
            found.found,
            "jpeg 500x375 with 2 workers loses 10.0 % (8.7 to 11.3 %) of its ceiling in 4"
            " repetitions",
        )
        self.assertTrue(found.is_valid)
        self.assertEqual(found.validity, "valid")

    def test_within_the_margin_it_is_equivalent_and_says_the_margin(self):
        found = self.first({"jpeg": NONE})
        self.assertEqual(found.verdict, answer.EQUIVALENT)
        self.assertRegex(
            found.found, r"stays within 1 % of its ceiling; at most 0\.\d % is missing"
        )
        self.assertEqual(found.cost, "")
        both = self.first({"jpeg": NONE, "png": NONE})
        self.assertIn("Each of 2 kinds and sizes stays within 1 % of its ceiling", both.found)

    def test_a_small_loss_within_the_margin_is_equivalent(self):
        small = [0.995, 0.9952, 0.9948, 0.995]
        found = of_shares({"jpeg": small})
        self.assertTrue(claims.of(found).loss(found[0].cells[0]).is_shown)
        self.assertEqual(answers(found)[0].verdict, answer.EQUIVALENT)

    def test_else_it_is_not_clear_and_says_how_much_may_be_lost(self):
        found = self.first({"jpeg": NOISE, "png": NONE})
        self.assertEqual(found.verdict, answer.NOT_CLEAR)
        self.assertRegex(
            found.found,
            r"^Not clear whether jpeg 500x375 with 2 workers stays within 1 % of its ceiling; up to"
            r" \d+\.\d % may be missing after 4 repetitions; no larger loss is shown for any of 2",
        )
        self.assertNotRegex(found.found, headlines.CLAIM)

    def test_what_lies_above_the_ceiling_is_no_loss(self):
        found = self.first({"jpeg": [1.0, 1.03, 1.01, 1.04]})
        self.assertEqual(found.verdict, answer.NOT_CLEAR)
        self.assertRegex(found.found, r"it may lie up to \d\.\d % above it after 4 repetitions$")

    def test_the_largest_of_several_losses_and_what_is_not_judged(self):
        found = self.first(
            {"jpeg": LOSES, "png": [0.8, 0.81, 0.79, 0.8], "bmp": NONE, "npy": [1.1] * 4}
        )
        self.assertTrue(found.found.startswith("png 500x375 with 2 workers loses 20.0 % ("))
        self.assertIn("a loss is shown for 2 of 3 kinds and sizes", found.found)
        self.assertIn("not judged: npy 500x375 (above its ceiling)", found.found)

    def test_the_gpu_count_at_which_it_loses(self):
        records = []
        for gpus, share in ((1, 1.0), (2, 0.9), (4, 0.8)):
            for n in range(4):
                wobble = 1 + 0.001 * (n % 2)
                cell = axes("jpeg", device="cuda", gpus=gpus)
                top = axes(device="cuda", gpus=gpus)
                records += [
                    record(top, 1000.0 * gpus, n, "ceiling"),
                    record(cell, 1000.0 * gpus * share * wobble, n),
                    record(top, 1000.0 * gpus, n, "ceiling", place=1),
                ]
        (found,) = of_records(records)
        self.assertRegex(
            found.found, r"^jpeg 500x375 with 2 workers on 4 GPUs loses 20\.0 %|19\.9 %"
        )
        self.assertIn("a loss is shown for 2 of 3 kinds, sizes and GPU counts", found.found)
        self.assertIn("jpeg 500x375 loses from 2 GPUs on", found.found)

    def test_a_loss_opens_the_report_and_what_is_invalid_comes_last(self):
        found = [
            *of_shares({"jpeg": NOISE}),
            *settings.group(flagged(ledgers.repetitions(4, cells=(("jpeg", 100.0),)))),
            *of_shares({"jpeg": NONE}),
            *of_shares({"jpeg": LOSES}),
            *of_shares({"jpeg": [0.5, 0.51, 0.5, 0.49]}),
        ]
        opened = answers(found)
        self.assertEqual(
            [(a.verdict, a.is_valid) for a in opened],
            [
                (answer.LOSES, True),
                (answer.LOSES, True),
                (answer.EQUIVALENT, True),
                (answer.NOT_CLEAR, True),
                (answer.NOTHING, False),
            ],
        )
        self.assertIn("loses 50.0 %", opened[0].found)

    def test_simulated_ledgers(self):
        """The small version of `scripts/validate-measurement headlines`."""

        def claimed(case, count):
            found = (headlines.made(case, n).lines for n in range(count))
            verdicts = [headlines.answers(_read(lines))[0].verdict for lines in found]
            return verdicts.count(answer.LOSES)

        self.assertLessEqual(claimed("three kinds, equal", 40), 4)
        self.assertGreaterEqual(claimed("three kinds, one loses 5 %", 20), 18)
        self.assertGreaterEqual(claimed("seven kinds, one loses 5 %", 20), 16)


def _read(lines):
    import json

    return [json.loads(line) for line in lines]


class Nothing(unittest.TestCase):
    """Where nothing can be claimed, the answer says why, and what to do."""

    def check(self, records, found, command, is_valid=True):
        (one,) = of_records(records)
        self.assertEqual((one.verdict, one.is_valid), (answer.NOTHING, is_valid))
        self.assertRegex(one.found, found)
        self.assertLess(len(one.found), 250)
        self.assertRegex(one.command, command)
        self.assertTrue(one.next.endswith(one.command))
        return one

    def test_one_cell_of_one_repetition_is_a_look(self):
        self.check(
            ledgers.repetitions(1),
            r"^A look: fewer than 3 repetitions, nothing is claimed; jpeg 500x375 with 2 workers"
            r" reached 40\.0 % of its ceiling in 1 repetition$",
            r"^feedrate sweep -o DIR --resume --repetitions 6$",
        )

    def test_a_look_above_the_ceiling_states_no_share(self):
        records = ledgers.repetitions(1, cells=(("jpeg", 1090.0),))
        one = self.check(records, "lies above its ceiling; one of the two", "--resume", False)
        self.assertNotIn("109", one.found)

    def test_without_a_ceiling(self):
        records = [record(axes("jpeg"), 400.0 + n, n) for n in range(4)]
        self.check(records, "^No ceiling was measured: jpeg", "^feedrate sweep --dataset DIR")

    def test_the_ceiling_alone(self):
        records = ledgers.repetitions(3, cells=())
        self.check(
            records,
            "^No cell of stored data was measured; the ceiling is 1,002",
            "feedrate sweep .*--data jpeg",
        )

    def test_no_result(self):
        records = [
            record(axes("jpeg"), None, n, status="failed", error="disk: gone") for n in range(2)
        ]
        one = self.check(records, "^No result: the cell has none; disk: gone$", "--resume", False)
        self.assertEqual(one.validity, "there is nothing to quote")

    def test_all_invalid_names_each_flag_once_with_its_worst_value(self):
        records = flagged(ledgers.repetitions(4))
        records[1]["flags"] = [dict(SERIOUS, reason="other processes took 99 % of the CPUs")]
        one = self.check(records, "^Nothing may be quoted", "--resume", False)
        self.assertEqual(
            one.validity,
            f"must not be quoted: noisy_neighbour ({len(records)} of {len(records)} runs,"
            " worst 99 %)",
        )
        self.assertIn("end what else runs", one.next)

    def test_the_flags_of_other_cells_do_not_spoil_the_answer(self):
        records = ledgers.repetitions(4, cells=(("jpeg", 400.0), ("png", 900.0)))
        flagged([r for r in records if r["cell"]["data"] == "png"])
        (one,) = of_records(records)
        self.assertEqual((one.verdict, one.is_valid), (answer.LOSES, True))
        self.assertIn("not judged: png 500x375 (not valid)", one.found)
        self.assertIn(
            "must not be quoted: noisy_neighbour (4 of 16 runs, worst 47.1 %)", one.validity
        )

    def test_the_95_percent_of_an_interval_is_no_worst_value(self):
        records = flagged(
            ledgers.repetitions(3), reason="1.2 times as long (95 %: 1.1 to 1.3), 3 % of it"
        )
        self.assertIn("worst 3 %", of_records(records)[0].validity)

    def test_long_names_leave_the_answer_short(self):
        long = "n" * 200
        records = ledgers.repetitions(4, cells=((long, 400.0),), **{"image-size": long})
        (one,) = of_records(records)
        self.assertEqual(one.verdict, answer.LOSES)
        self.assertLess(len(one.found), 250)
        self.assertIn("loses 60.0 %", one.found)
        self.assertIn(long, one.command)  # which would mean another cell if it were cut

    def test_many_cells_leave_the_answer_short(self):
        records = ledgers.repetitions(3, cells=(("jpeg", 400.0),))
        records += [record(axes(f"kind{i}"), 990.0 + n, n) for i in range(300) for n in range(3)]
        (one,) = of_records(records)
        self.assertEqual(one.verdict, answer.LOSES)
        self.assertIn("of 301 kinds and sizes", one.found)
        self.assertLess(len(one.found), 250)


class Words(unittest.TestCase):
    def loses(self, change=lambda r: None, **more):
        """The answer for a cell that loses, of six repetitions in pairs of whole records."""
        records = []
        for n in range(6):
            cell = axes("jpeg", device="cuda", **more)
            top = axes(device="cuda")
            mine = read_more(record(cell, 400.0 + n, n))
            change(mine)
            records += [
                record(top, 1000.0, n, "ceiling"),
                mine,
                record(top, 1000.0, n, "ceiling", place=1),
            ]
        (one,) = of_records(records)
        self.assertEqual(one.verdict, answer.LOSES)
        return one

    def test_the_cost_is_of_an_epoch_of_the_dataset_itself(self):
        one = self.loses()
        seconds = 10_000 * (1 / 402.5 - 1 / 1000)
        self.assertRegex(one.cost, rf"^{seconds:.0f} s more for each epoch of 10,000 images$")

        def unsaid(r):
            r["dataset"].pop("samples")

        self.assertEqual(self.loses(unsaid).cost, "")

    def test_busy_cpus_are_busiest_and_nothing_is_said_to_limit(self):
        def busy(r):
            r["monitors"]["cpu_busy"] = 0.97

        self.assertEqual(
            self.loses(busy).limit, "busiest: CPU, 7.8 of 8 cores, most of the loading decode"
        )

    def test_waiting_for_reads_is_likely_the_storage(self):
        def waits(r):
            images = r["imgs_per_s"] * r["window_s"]
            r["stages"] = [
                {
                    "name": "read",
                    "wall_s": 22.0,
                    "cpu_s": 1.0,
                    "items": images,
                    "bytes": 112345 * images,
                },
                {"name": "decode", "wall_s": 1.0, "cpu_s": 1.0, "items": images, "bytes": 0},
            ]
            r["monitors"]["storage_read_bytes"] = 112345 * images

        self.assertEqual(self.loses(waits).limit, "likely storage: 45.2 of 112 MB/s (needed)")

    def test_else_the_workers_are_busiest(self):
        limit = self.loses(lambda r: r.update(device_idle_fraction=0.6)).limit
        self.assertRegex(limit, r"^busiest: 2 workers, \d+ % of their work is decode$")
        self.assertNotIn("limits", limit)

    def test_the_training_thread_overlaps_nothing(self):
        limit = self.loses(lambda r: r.update(device_idle_fraction=0.6), workers=0).limit
        self.assertRegex(
            limit, r"^no overlap of loading and steps, \d+ % of the loading is decode$"
        )

    def test_workers_with_room_to_spare_are_not_busiest(self):
        def spare(r):
            r.update(device_idle_fraction=0.6, capacities=r["capacities"][::-1])

        one = self.loses(spare)
        self.assertEqual(one.limit, "likely uneven service, or a copy that nothing hides")
        self.assertNotIn("more workers", one.next)

    def test_more_workers_are_next_where_they_are_busiest_and_none_were_tried(self):
        one = self.loses(lambda r: r.update(device_idle_fraction=0.6))
        self.assertTrue(one.next.startswith("more workers, as CPUs are idle: feedrate sweep "))
        self.assertIn("--workers 2,4", one.command)
        self.assertIn("-o results/next", one.command)

    def test_a_sweep_of_a_target_is_asked_for_a_narrower_one(self):
        found = of_shares({"jpeg": NOISE})
        for r in found[0].cells[0].runs:
            r["precision"] = {"target": 0.1, "pilot": 3}
        self.assertRegex(answers(found)[0].command, r"--resume --target-ci \d+(\.\d+)?%$")

    def test_another_command_than_sweep_is_not_resumed(self):
        found = of_shares({"jpeg": NOISE})
        for r in found[0].cells[0].runs:
            r["environment"]["command"] = ["run", "--repetitions", "4"]
        command = answers(found)[0].command
        self.assertTrue(command.startswith("feedrate run "))
        self.assertTrue(command.endswith("--repetitions 8"))

    def test_the_next_command_diagnoses_that_cell(self):
        def lies(r):
            r["dataset"]["path"] = "/data/my pictures"

        one = self.loses(lies, **{"image-size": "640x480", "io-depth": 8})
        words = shlex.split(one.command)
        self.assertEqual(words[:4], ["feedrate", "diagnose", "--dataset", "/data/my pictures"])
        options = dict(zip(words[4::2], words[5::2]))
        self.assertEqual(options["--image-size"], "640x480")
        self.assertEqual(options["--io-depth"], "8")
        self.assertEqual(options["--workers"], "2")
        self.assertEqual(options["--device"], "cuda")
        self.assertNotIn("--cache", options)  # none goes without saying
        self.assertNotIn("None", words)

    def test_a_cell_with_a_cache_is_not_what_diagnose_looks_at(self):
        one = self.loses(**{"cache": "host"})
        self.assertIn("feedrate sweep", one.command)
        self.assertIn("--cache none,host", one.command)

    def test_more_repetitions_go_on_with_the_sweep(self):
        found = of_shares({"jpeg": NOISE})
        for r in found[0].cells[0].runs:
            r["environment"]["command"] = ["sweep", "-o", "results/r 1", "--repetitions", "4"]
        (one,) = answers(found)
        self.assertEqual(one.command, "feedrate sweep -o 'results/r 1' --resume --repetitions 8")

    def test_the_facts_say_what_was_measured_on_what(self):
        records = ledgers.repetitions(3, cells=(("jpeg", 400.0),))
        for r in records:
            read_more(r)
        (one,) = of_records(records)
        facts = dict(one.facts)
        self.assertIn("EMULATED", facts["device"])
        self.assertIn(EMULATION, facts["device"])
        self.assertEqual(facts["machine"], "node_1: Some CPU @ 2 GHz, 8 logical CPUs")
        self.assertEqual(facts["dataset"], "jpeg/500x375, 10,000 samples of 112 kB")
        self.assertEqual(facts["date"], "2026-11-21")
        self.assertEqual(one.about, heading(one.setting))


class Diagnosed(unittest.TestCase):
    def answer(self, **changes):
        folder = tempfile.mkdtemp(prefix="feedrate-answer-")
        self.addCleanup(shutil.rmtree, folder)
        path = ledgers.write(folder, diagnoses.records())
        diagnoses.write(folder, diagnoses.diagnosis(**changes))
        found = settings.group(diagnoses.records())
        diagnosis_file.attach(found, path)
        return answers(found)[0]

    def test_it_opens_with_the_verdicts_sentence(self):
        one = self.answer()
        self.assertEqual(one.verdict, answer.LOSES)
        self.assertTrue(
            one.found.startswith(
                "Decode limits: without it the cell would reach 2,052 images/s; the cell is jpeg"
            )
        )
        self.assertEqual(one.limit, "decode limits (confidence 99 %)")

    def test_its_first_remedy_is_next(self):
        one = self.answer()
        self.assertIn("more workers (1,541 images/s measured)", one.next)
        self.assertTrue(one.command.startswith("feedrate run "))
        self.assertIn("--workers 4", one.command)
        self.assertNotIn("--workers 2", one.command)

    def test_a_look_claims_nothing(self):
        one = self.answer(rounds=1)
        self.assertEqual((one.verdict, one.limit), (answer.NOTHING, ""))
        self.assertTrue(one.found.startswith("A look: fewer than 3 repetitions"))
        self.assertIn("feedrate diagnose", one.command)
        self.assertIn("--budget", one.command)

    def test_what_is_not_clear_names_no_limit(self):
        one = self.answer(
            verdict={"clear": False, "names": ["decode", "read"], "sentence": "not clear between"}
        )
        self.assertEqual((one.verdict, one.limit), (answer.NOT_CLEAR, ""))

    def test_an_invalid_one_says_so(self):
        one = self.answer(
            flags=[
                {
                    "name": "noisy_neighbour",
                    "severity": "serious",
                    "runs": 20,
                    "reason": "other programs used 30 % of the CPUs",
                }
            ]
        )
        self.assertFalse(one.is_valid)
        self.assertTrue(one.found.startswith("Must not be quoted: decode limits"))
        self.assertEqual(
            one.validity, "must not be quoted: noisy_neighbour (20 of 36 runs, worst 30 %)"
        )

    def test_without_advice_a_longer_diagnosis_is_next(self):
        self.assertIn("a longer diagnosis", self.answer(advice=[]).next)


class Capacity(unittest.TestCase):
    """A ledger of `feedrate capacity`."""

    def records(self, **changes):
        found = past_the_cache(search(**changes))
        for n, r in enumerate(found):
            r["search"] = {"base_seed": 0, "run": n}
        return found

    def answer(self, records, memory=None):
        found = settings.group(records)
        if memory:
            found[0].memory = memory_limit.limit_of(from_memory([memory] * 3))
        return answers(found)[0]

    def test_it_opens_with_the_gpus_that_are_fed_and_whose_rate_they_have(self):
        one = self.answer(self.records())
        self.assertEqual(one.verdict, answer.FEEDS)
        self.assertTrue(
            one.found.startswith("This storage feeds 5 GPUs; each takes 100"), one.found
        )
        self.assertIn("EMULATED DEVICE", one.found)
        self.assertIn("computes 90 % of the time or more", one.found)
        self.assertIn("--gpus 6", one.command)

    def test_memory_is_not_called_a_storage(self):
        records = past_the_cache(self.records(), "warm")
        self.assertTrue(self.answer(records).found.startswith("The page cache feeds 5 GPUs"))

    def test_the_interval_of_the_gpus(self):
        """As GpuSearch::fed() has it: 4 GPUs at 0.92 ± 0.15 may be 3 at 0.9; 6 at 0.8 starve."""
        one = self.answer(
            self.records(found={1: (1.0,), 4: (0.86, 0.92, 0.98), 6: (0.79, 0.80, 0.81)})
        )
        self.assertTrue(one.found.startswith("This storage feeds 4 GPUs (95 %: 3 to 5)"), one.found)

    def test_the_machines_own_limit_is_named(self):
        one = self.answer(self.records(), memory=505.0)
        self.assertIn("through this machine, which limits", one.found)
        self.assertTrue(one.limit.startswith("this machine: storage gave"))
        self.assertIn("--decoder raw-read", one.command)
        one = self.answer(self.records(), memory=5000.0)
        self.assertNotIn("this machine", one.found)
        self.assertNotIn("raw-read", one.command)
        self.assertTrue(one.limit.startswith("the storage, or the reads in flight: storage gave"))

    def test_where_the_fewest_gpus_starve_less_than_so_many_are_fed(self):
        one = self.answer(self.records(found={4: (0.5, 0.5, 0.5), 8: (0.25, 0.25, 0.25)}))
        self.assertTrue(one.found.startswith("This storage feeds fewer than 4 GPUs (95 %: 0 to "))
        self.assertIn("--gpus 4", one.command)

    def test_one_run_at_each_side_is_a_look(self):
        one = self.answer(self.records(found={1: (1.0,), 2: (0.95,), 3: (0.7,)}))
        self.assertEqual(one.verdict, answer.NOTHING)
        self.assertTrue(one.found.startswith("A look: "))
        self.assertIn("--repetitions 3", one.command)

    def test_a_serious_flag_forbids_to_quote_it_but_not_what_is_corrected(self):
        records = self.records()
        flagged(records, name="queue_not_at_rest")
        self.assertTrue(self.answer(records).is_valid)
        flagged(records)
        one = self.answer(records)
        self.assertFalse(one.is_valid)
        self.assertIn("must not be quoted: noisy_neighbour", one.validity)


class Media(unittest.TestCase):
    """Every medium prints the fields of the answer, and no other numbers of it."""

    def test_index_and_terminal_open_and_end_with_it(self):
        found = of_shares({"jpeg": LOSES})
        context = Context("x/ledger.jsonl", "0.1.0")
        (one,) = answers(found)
        lines = index.text(found, (), context).splitlines()
        self.assertEqual(lines[0], f"# {one.title}")
        for words in (one.found, one.limit, one.cost, one.validity):
            self.assertTrue(any(words in line for line in lines[:12]), words)
        self.assertIn(f"      {one.command}", lines)
        last = terminal.answer([one]).splitlines()
        self.assertTrue(last[0].startswith(terminal.ANSWER))
        self.assertEqual(last[-1], f"    {one.command}")
        self.assertTrue(all(len(line) <= terminal.WIDTH for line in last[:-1]))
        joined = " ".join(" ".join(last).split())
        for words in (one.found, one.limit, one.cost, one.validity, one.advice):
            self.assertIn(words, joined)

    def test_quickstart_ends_with_these_lines(self):
        with open(os.path.join(ledgers.SCRIPTS, "quickstart"), encoding="utf-8") as file:
            self.assertIn(f"sed -n '/^{terminal.ANSWER} for /,$p'", file.read())
        last = terminal.answer(answers(of_shares({"jpeg": LOSES})))
        self.assertTrue(last.startswith(f"{terminal.ANSWER} for "))

    def test_mixed_sizes_stand_where_their_mean_pixels_put_them(self):
        """88,000 pixels are cut out of pictures of 187,000 on average; no two windows agree."""
        records = ledgers.repetitions(3, cells=())
        sizes = ["224x224", "mixed", "512x512"]
        for size, workers, n in itertools.product(sizes[::-1], (1, 4), range(3)):
            cell = axes("jpeg", augment="train", workers=workers, **{"image-size": size})
            one = record(cell, 400.0, n)
            cut = {"items": 10, "bytes": 30 * (88_000 - workers)}
            one["stages"].append({"name": "augment", "wall_s": 1, "cpu_s": 1, **cut})
            records.append(one)
        (setting,) = settings.group(records)
        order = list(itertools.product(sizes, (1, 4)))
        self.assertEqual([(c.image_size, c.workers) for c in setting.cells], order)
        self.assertEqual(panels.image_sizes(setting.cells[::-1]), sizes)

    def test_an_emulated_device_says_that_in_the_terminal(self):
        self.assertIn(
            EMULATION, " ".join(terminal.answer(of_records(ledgers.repetitions(3))).split())
        )

    def test_other_settings_are_named_below_it(self):
        found = [one for shares in (LOSES, NONE, NOISE) for one in of_shares({"jpeg": shares})]
        words = terminal.answer(answers([*found, *found]))
        self.assertEqual(words.count("also:"), terminal.ALSO)
        self.assertIn("and 2 more settings", words)

    def test_an_empty_report_has_no_answer(self):
        context = Context("x/ledger.jsonl", "0.1.0")
        self.assertTrue(index.text([], (), context).startswith("# Report\n"))


if __name__ == "__main__":
    unittest.main()
