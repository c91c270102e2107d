"""scripts/clients/ulfm: what counts as a success. No MPI is needed."""

import unittest

from loading import script

ulfm = script("clients/ulfm")
TEST = ulfm.Test("api/some", {"well": None, "twice": 2, "never": 0})


class Ulfm(unittest.TestCase):
    def test_what_a_test_has_to_say_counts(self):
        self.assertEqual(ulfm.judge(TEST, 137, "well well twice twice"), "")
        self.assertIn("'well'", ulfm.judge(TEST, 0, "twice twice"))
        self.assertIn("3 times 'twice'", ulfm.judge(TEST, 0, "well twice twice twice"))
        self.assertIn("'never'", ulfm.judge(TEST, 0, "well twice twice never"))

    def test_a_test_has_to_end_with_a_status_that_it_may_have(self):
        self.assertIn("no end", ulfm.judge(TEST, 124, "well twice twice"))
        self.assertIn("no end", ulfm.judge(TEST, None, "well twice twice"))
        self.assertIn("status 1", ulfm.judge(TEST, 1, "well twice twice"))

    def test_silence_is_no_success(self):
        with self.assertRaises(ValueError):
            ulfm.Test("api/some", {"never": 0})
        self.assertTrue(all(ulfm.judge(test, test.statuses[0], "") for test in ulfm.tests()))

    def test_names_are_all_different(self):
        names = [str(test) for test in ulfm.tests()]
        self.assertEqual(len(set(names)), len(names))


if __name__ == "__main__":
    unittest.main()
