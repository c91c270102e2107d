"""scripts/clients/resilience: what counts as a success. No MPI is needed."""

import re
import unittest

from loading import script

resilience = script("clients/resilience")
SAYS = {"well": None, "twice": 2, "never": 0}


class Resilience(unittest.TestCase):
    def test_what_a_test_has_to_say_counts(self):
        self.assertEqual(resilience.judge(SAYS, 0, "well well twice twice"), "")
        self.assertIn("'well'", resilience.judge(SAYS, 0, "twice twice"))
        self.assertIn("3 times 'twice'", resilience.judge(SAYS, 0, "well twice twice twice"))
        self.assertIn("'never'", resilience.judge(SAYS, 0, "well twice twice never"))

    def test_a_test_has_to_end_well(self):
        self.assertIn("status 137", resilience.judge(SAYS, 137, "well twice twice"))
        self.assertIn("no end", resilience.judge(SAYS, resilience.command.HUNG, "well twice twice"))

    def test_what_is_expected_can_be_looked_for(self):
        for library in resilience.LIBRARIES.values():
            for says in library.says.values():
                self.assertTrue(says)
                for pattern in says:
                    re.compile(pattern)


if __name__ == "__main__":
    unittest.main()
