"""scripts/deaths: which runs of schedules are no success. No MPI is needed."""

import sys
import unittest

from loading import script

deaths = script("deaths")
SEEDS = range(7, 10)
WELL = "".join(f"schedule {seed} is over\nschedule {seed} is over\n" for seed in SEEDS)
KILLED = 137


class Deaths(unittest.TestCase):
    def test_all_schedules_must_be_over_and_the_status_that_of_a_death(self):
        self.assertEqual(deaths.trouble(SEEDS, WELL + "mpirun: rank 3 was killed", KILLED), "")
        self.assertIn("status 0", deaths.trouble(SEEDS, WELL, 0))
        self.assertIn("status 1", deaths.trouble(SEEDS, WELL, 1))
        self.assertIn("no end", deaths.trouble(SEEDS, WELL, None))
        lacking = WELL.replace("schedule 8 is over\n", "")
        self.assertIn("only [7, 9]", deaths.trouble(SEEDS, lacking, KILLED))

    def test_a_job_that_hangs_is_ended(self):
        command = [sys.executable, "-c", "print('here', flush=True); import signal; signal.pause()"]
        self.assertEqual(deaths.job(command, 1)[1], None)
        self.assertEqual(deaths.job([sys.executable, "-c", "print('here'); raise SystemExit(3)"], 60), ("here\n", 3))


if __name__ == "__main__":
    unittest.main()
