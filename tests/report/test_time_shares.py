"""What the workers' time and the CPUs' goes to: a disk that limits looks unlike CPUs that do."""

import csv
import io
import os
import unittest

import ledgers
from ledgers import axes, read_more, record
from report import (
    claims,
    figures,
    findings,
    html_cells,
    html_time,
    ledger,
    settings,
    stage_times,
    tables,
    time_shares,
)
from test_figures import HAVE_MATPLOTLIB, Program

CEILING = 2470.0
CPU_MS = 0.8  # of an image: decoding and augmenting
LOOK_MS = 0.1  # of it in `read`


def disk_sweep(seek_ms, repetitions=3, counts=(1, 2, 4, 8), cpus=2, **changes):
    """A sweep over workers whose disk serves one read at a time: {workers: …} by the closed form,
    each repetition a little faster than the one before."""
    records = []
    for n in range(repetitions):
        wobble = 1 + 0.002 * n
        records.append(read_more(record(axes(), CEILING, n, "ceiling")))
        for workers in counts:
            rate = wobble * min(1e3 * max(workers, 1) / (seek_ms + CPU_MS), 1e3 / seek_ms)
            rate = min(rate, 1e3 * cpus / CPU_MS, CEILING)
            records.append(
                _run(axes("jpeg", workers=workers, **changes), rate, n, workers, cpus, seek_ms)
            )
        records.append(read_more(record(axes(), CEILING, n, "ceiling", place=1)))
    return records


def _run(cell, rate, repetition, workers, cpus, seek_ms):
    """A run whose workers never wait for room in the queue."""
    seconds, items = 10.0, int(10 * rate)
    each = seconds * max(workers, 1) / items  # what a worker spends on an image, in s
    one = read_more(record(cell, rate, repetition), int(seconds))
    one["stages"] = [
        {
            "name": "read",
            "wall_s": items * (each - 1e-3 * (CPU_MS - LOOK_MS)),
            "cpu_s": items * 1e-3 * LOOK_MS,
            "items": items,
            "bytes": items * 58000,
        },
        *(
            {"name": name, "wall_s": items * 1e-3 * ms, "cpu_s": items * 1e-3 * ms, "items": items}
            for name, ms in (("decode", 0.5), ("augment", 0.2))
        ),
    ]
    busy = rate * 1e-3 * CPU_MS / cpus
    waits = (1 - busy) * (1 if seek_ms > 1 else 0.05)
    one["monitors"].update(
        cpu_busy=busy,
        cpu_other_processes=0.0,
        cpu_iowait=0.9 * waits,
        psi_io_some=0.98 if seek_ms > 1 else 0.1,
    )
    return one


def cells_of(records):
    (setting,) = settings.group(records)
    return setting, {c.workers: c for c in setting.cells}


class Shares(unittest.TestCase):
    def test_a_disk_that_serves_one_read_at_a_time(self):
        _, cells = cells_of(disk_sweep(12.7))
        times = {name: (share, cpu) for name, share, cpu in time_shares.of_workers(cells[8])}
        self.assertEqual(list(times), ["read", "decode", "augment"])
        self.assertAlmostEqual(sum(share for share, _ in times.values()), 1.0, places=3)
        rate = cells[8].rate.mean
        self.assertAlmostEqual(times["decode"][0], rate * 0.5e-3 / 8, places=4)
        self.assertAlmostEqual(times["decode"][1], times["decode"][0])
        waits = time_shares.waiting(cells[8], "read")
        self.assertAlmostEqual(waits.mean, 1 - rate * CPU_MS * 1e-3 / 8, places=3)
        self.assertTrue(waits.low <= waits.mean <= waits.high <= 1.0)
        self.assertEqual(waits.n, 3)

    def test_what_the_workers_do_not_load_is_no_stage(self):
        _, cells = cells_of(disk_sweep(12.7))
        for run in cells[4].runs:
            run["stages"] = [dict(s, wall_s=s["wall_s"] / 2) for s in run["stages"]]
        self.assertAlmostEqual(
            sum(share for _, share, _ in time_shares.of_workers(cells[4])), 0.5, places=2
        )

    def test_shares_never_pass_the_whole(self):
        _, cells = cells_of(disk_sweep(12.7))
        for run in cells[2].runs:
            run["stages"] = [dict(s, wall_s=1.2 * s["wall_s"]) for s in run["stages"]]
        shares = [share for _, share, _ in time_shares.of_workers(cells[2])]
        self.assertAlmostEqual(sum(shares), 1.0)

    def test_waiting_for_a_cpu_is_no_waiting_for_the_disk(self):
        _, cells = cells_of(disk_sweep(12.7))
        before = time_shares.waiting(cells[2], "read").mean
        for run in cells[2].runs:
            run["cpu_wait_s"] = 10.0  # half of the time of two workers
        self.assertAlmostEqual(time_shares.waiting(cells[2], "read").mean, before - 0.5, places=2)
        self.assertAlmostEqual(time_shares.of_workers(cells[2])[-1][1], 0.5, places=2)
        self.assertEqual(time_shares.of_workers(cells[2])[-1][0], "CPU wait")

    def test_dali_asks_with_one_thread(self):
        _, cells = cells_of(disk_sweep(12.7, counts=(4,), loader="dali"))
        self.assertEqual(time_shares._threads(cells[4]), 1)
        _, cells = cells_of(disk_sweep(12.7, counts=(0, 4)))
        self.assertEqual([time_shares._threads(cells[n]) for n in (0, 4)], [1, 4])

    def test_what_a_kernel_does_not_tell_is_unknown(self):
        _, cells = cells_of(disk_sweep(12.7))
        self.assertAlmostEqual(time_shares.of_machine(cells[1], "psi_io_some").mean, 0.98)
        cells[1].runs[1]["monitors"]["psi_io_some"] = -1
        self.assertIsNone(time_shares.of_machine(cells[1], "psi_io_some"))
        self.assertIsNone(time_shares.of_machine(cells[1], "no_such_share"))

    def test_other_programs_are_told_apart_from_the_run(self):
        _, cells = cells_of(disk_sweep(12.7))
        for run in cells[1].runs:
            run["monitors"].update(cpu_busy=0.99, cpu_other_processes=0.95, cpu_iowait=0.01)
        self.assertAlmostEqual(time_shares.own(cells[1]).mean, 0.04)
        found = dict(time_shares.of_cpus(cells[1]))
        self.assertEqual(list(found), ["cpu_busy", "cpu_other_processes", "cpu_iowait"])
        self.assertAlmostEqual(found["cpu_busy"] + found["cpu_other_processes"], 0.99)
        cells[1].runs[0]["monitors"]["cpu_other_processes"] = -1
        self.assertIsNone(time_shares.own(cells[1]))
        self.assertAlmostEqual(dict(time_shares.of_cpus(cells[1]))["cpu_busy"], 0.99)
        cells[1].runs[0]["monitors"]["cpu_busy"] = -1
        self.assertEqual(time_shares.of_cpus(cells[1]), [])

    def test_one_or_two_repetitions_have_no_interval(self):
        _, cells = cells_of(disk_sweep(12.7, repetitions=2))
        self.assertIsNone(time_shares.of_machine(cells[1], "cpu_busy").low)

    def test_the_parts_of_an_image_are_the_means_over_the_repetitions(self):
        _, cells = cells_of(disk_sweep(12.7))
        parts = stage_times.mean_parts(cells[2])
        self.assertAlmostEqual(sum(ms for _, ms, _ in parts), stage_times.load_ms(cells[2]).mean)


class Elsewhere(unittest.TestCase):
    """The page and the table."""

    def test_the_page_draws_the_shares(self):
        records = [dict(r, **{ledger.LINE: n}) for n, r in enumerate(disk_sweep(12.7), 1)]
        found = settings.group(records)
        (panel,) = html_time.disk_or_cpu(
            found[0], 1, html_cells.Cells(found, records, claims.of(found))
        )
        bars = [t for t in panel["data"] if t["type"] == "bar"]
        self.assertEqual(
            [t["name"] for t in bars],
            [
                *(n for stage in ("read", "decode", "augment") for n in (stage, "waiting")),
                "CPUs busy",
                "busy with others",
                "iowait",
            ],
        )
        self.assertEqual(sum(t.get("showlegend", True) for t in bars), 7)
        for row in range(4):
            self.assertAlmostEqual(sum(t["x"][row] for t in bars[:-3]), 100, places=1)
        self.assertIn("78.9 images/s, 3.2 % of the ceiling", panel["data"][-1]["text"][3])

    def test_without_monitors_the_page_draws_nothing(self):
        records = [dict(r, **{ledger.LINE: n}) for n, r in enumerate(ledgers.repetitions(1), 1)]
        found = settings.group(records)
        cells = html_cells.Cells(found, records, claims.of(found))
        self.assertEqual(html_time.disk_or_cpu(found[0], 1, cells), [])

    def test_the_table_holds_the_shares_and_nothing_for_what_is_unknown(self):
        setting, cells = cells_of(disk_sweep(12.7))
        cells[1].runs[0]["monitors"]["psi_io_some"] = -1
        rows = csv.DictReader(io.StringIO(tables.write_csv([setting])))
        rows = {row["workers"]: row for row in rows if row["role"] == "cell"}
        self.assertEqual((rows["1"]["psi_io_some"], rows["2"]["psi_io_some"]), ("", "0.98"))
        self.assertAlmostEqual(
            float(rows["8"]["read_waiting_fraction"]),
            time_shares.waiting(cells[8], "read").mean,
            places=6,
        )
        self.assertLess(float(rows["8"]["cpu_busy"]), 0.04)


class Finding(unittest.TestCase):
    def words(self, records):
        found = settings.group(records)
        plan = next(p for p in figures.plan(found) if p.module == "disk_or_cpu")
        return findings.finding(plan, claims.of(found))

    def test_it_names_what_the_workers_wait_for(self):
        self.assertRegex(
            self.words(disk_sweep(12.7)),
            r"^jpeg 500x375 with \d workers? loses 96\.8 %.*; its workers wait for reads"
            r" \d+\.\d % \(.*\) of their time and the run takes 3\.2 % \(.*\) of the CPUs$",
        )

    def test_waiting_that_rounds_to_nothing_is_none(self):
        records = disk_sweep(12.7)
        for one in records:
            for stage in one.get("stages", []):
                stage["cpu_s"] = stage["wall_s"]  # the CPUs it is
        self.assertIn("its workers wait for reads 0 % of their time", self.words(records))

    def test_nothing_is_named_where_no_loss_is_shown(self):
        words = self.words(disk_sweep(0.1, counts=(8,)))
        self.assertNotIn("wait for reads", words)
        self.assertIn("No measurable loss", words)


@unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
class Figure(Program):
    def svg(self, records, name="disk_or_cpu.svg"):
        self.run_report(
            records, "--formats", "svg", "--only", "disk_or_cpu", extras=("--no-slides",)
        )
        return self.content(name).decode()

    def test_every_worker_count_is_drawn(self):
        svg = self.svg(disk_sweep(12.7))
        for words in (
            "jpeg, stored at 500x375",
            "1 worker<",
            "8 workers<",
            "78.9 ± 0.4 images/s, 3.2 % of the ceiling",
            "I/O pressure",
            "iowait",
        ):
            self.assertIn(words, svg)
        self.assertIn("8 workers<", self.content("paper/disk_or_cpu.svg").decode())

    def test_a_great_many_rows_are_cut_to_the_workers_chosen(self):
        svg = self.svg(disk_sweep(12.7, repetitions=1, counts=range(1, 31)))
        self.assertIn("Each series at the workers chosen", svg)
        self.assertNotIn("1 worker<", svg)

    def test_without_monitors_there_is_nothing_to_draw(self):
        self.run_report(
            ledgers.repetitions(1), "--formats", "svg", "--only", "disk_or_cpu", "--only", "bars"
        )
        self.assertFalse(os.path.exists(self.path("disk_or_cpu.svg")))

    def test_an_unknown_counter_is_said_and_not_zero(self):
        records = disk_sweep(12.7)
        for one in records:
            one["monitors"]["psi_io_some"] = -1
        self.assertIn("unknown in a run", self.svg(records))

    def test_what_is_not_read_from_files_is_not_drawn(self):
        records = disk_sweep(12.7) + disk_sweep(12.7, cache="encoded")
        self.assertNotIn("encoded", self.svg(records).partition("</metadata>")[2])


if __name__ == "__main__":
    unittest.main()
