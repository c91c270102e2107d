"""scripts/deaths: which runs of schedules are no success. No MPI is needed."""

import sys
import types
import unittest

from loading import script

deaths = script("deaths")
KILLED = 137


def options(**some):
    return types.SimpleNamespace(seed=7, schedules=8, **some)


class Deaths(unittest.TestCase):
    def test_all_schedules_must_be_over_and_the_status_that_of_a_death(self):
        seeds = ["7", "8", "9"]
        self.assertEqual(deaths.trouble(seeds, seeds, KILLED), "")
        self.assertIn("status 0", deaths.trouble(seeds, seeds, 0))
        self.assertIn("status 1", deaths.trouble(seeds, seeds, 1))
        self.assertIn("no end", deaths.trouble(seeds, seeds, None))
        self.assertIn("only ['7', '9']", deaths.trouble(["7", "9"], seeds, KILLED))

    def test_jobs_have_as_many_schedules_as_they_have_groups(self):
        self.assertEqual([arguments for arguments, _, _ in deaths.agreements(options())], [[7], [10], [13]])
        self.assertEqual([(it[0], it[2]) for it in deaths.calls(options())], [([7, 7], 12), ([11, 11], 12)])

    def test_a_job_that_hangs_is_ended(self):
        command = [sys.executable, "-c", "print('here', flush=True); import signal; signal.pause()"]
        self.assertEqual(deaths.job(command, 1)[1], None)
        self.assertEqual(deaths.job([sys.executable, "-c", "print('here'); raise SystemExit(3)"], 60), ("here\n", 3))


if __name__ == "__main__":
    unittest.main()
