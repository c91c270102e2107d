"""scripts/clients/mpich-suite: how a run of one of its programs is judged. No MPI is needed."""

import tempfile
import unittest
from pathlib import Path

from loading import script

mpich = script("clients/mpich-suite")


class Played:
    """A program that is there, and what its run says."""

    place, program = "", "program"

    def __init__(self, output, status=0):
        self.told = output, status

    def run(self, suite, options):
        return self.told

    def judge(self, output, status):
        return "" if output == " No Errors\n" else "wrong"


class Judged(unittest.TestCase):
    def outcome(self, *told):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, Played.program).touch()
            return mpich.attempt(Played(*told), Path(folder), None)[0]

    def test_a_program_that_cannot_run_here_has_not_passed(self):
        self.assertEqual(self.outcome(" No Errors\n"), mpich.PASSED)
        self.assertEqual(self.outcome(" Test Skipped\n"), mpich.SKIPPED)
        self.assertEqual(self.outcome(" Test Skipped\n", 1), mpich.FAILED)
        self.assertEqual(self.outcome(" Test Skipped\n No Errors\n"), mpich.FAILED)

    def test_a_program_that_is_not_there_has_failed(self):
        with tempfile.TemporaryDirectory() as folder:
            outcome, why = mpich.attempt(Played(""), Path(folder), None)
        self.assertEqual(outcome, mpich.FAILED)
        self.assertIn("does not compile", why)


if __name__ == "__main__":
    unittest.main()
