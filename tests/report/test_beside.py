"""Work in a process of its own: its result, and what went wrong with it."""

import contextlib
import io
import os
import unittest

import ledgers  # noqa: F401  (puts the report into the path)
from report import beside
from report.ledger import ReportError


class Beside(unittest.TestCase):
    def outcome(self, work):
        wait = beside.begin("the page", work)
        try:
            return wait()
        except ReportError as error:
            return str(error)

    def test_a_result_comes_back(self):
        self.assertEqual(self.outcome(lambda: 7), 7)

    def test_an_error_that_the_user_can_mend_comes_back_as_it_is(self):
        def refuse():
            raise ReportError("a", "b", "c")

        self.assertEqual(self.outcome(refuse), "a: b; c")

    def test_a_fault_is_no_lack_of_memory(self):
        def fail():
            with contextlib.redirect_stderr(io.StringIO()):
                raise ValueError("x")

        self.assertIn("the page: a fault of this program", self.outcome(fail))
        self.assertIn("the page: a fault", self.outcome(lambda: lambda: 7), "cannot be sent")

    def test_a_process_that_was_killed(self):
        self.assertIn("was ended", self.outcome(lambda: os._exit(9)))


if __name__ == "__main__":
    unittest.main()
