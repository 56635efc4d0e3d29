"""Sweeps that end in the middle of a record, and disks that are full; scripts/validate-measurement
does more of both."""

import os
import random
import subprocess
import unittest

import ledger_faults
from program import ProgramTest, main, program


def can_mount():
    return (
        os.geteuid() == 0
        and subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode
        == 0
    )


class Ledgers(ProgramTest):
    def test_keep_what_was_acknowledged_when_killed(self):
        data = ledger_faults.make_data(program(), self.folder)
        longest = ledger_faults.whole_run_seconds(program(), data, self.folder)
        for i in range(8):
            ledger_faults.kill(
                program(), data, self.folder, random.uniform(0, longest), resume=i % 4 == 0
            )

    @unittest.skipUnless(can_mount(), "needs to mount a small file system")
    def test_keep_what_was_acknowledged_when_the_disk_is_full(self):
        data = ledger_faults.make_data(program(), self.folder)
        codes = []
        for left in (0, 20000, 40000, 1 << 18):
            code, count, err = ledger_faults.fill_up(program(), data, self.folder, left)
            codes.append(code)
            if code:
                self.assertRegex(
                    err.splitlines()[-1],
                    r"^feedrate: .*(ledger|ledger.jsonl|plan.json|axes.json): "
                    r"(cannot \w+ \w+( \w+)?: )?No space left on device; free some space",
                    err,
                )
            else:
                self.assertEqual(count, ledger_faults.RUNS)
        self.assertEqual((codes[0], codes[-1]), (1, 0))


if __name__ == "__main__":
    main()
