"""scripts/clients/beside-omb, omb.py and osu: what they read, and what they make of it. No MPI is needed."""

import math
import unittest

from loading import script

beside = script("clients/beside-omb")
osu = script("clients/osu")

COLLECTIVE = """
# A Latency Test v7.4
# Datatype: MPI_FLOAT.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
8                     0.2500            0.2000            0.3000        2048
16                    9.0000            9.0000            9.0000        2048
4096                  1.5000            1.0000            2.0000        2048
"""
BARRIER = """
# Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
             0.31              0.29              0.33         640
"""
TABLES = """
# Benchmarking PingPong
# #processes = 2
       #bytes #repetitions      t[usec]   Mbytes/sec
            8         1000         0.90        23.22
            8         1000         0.33        24.38
# Benchmarking Allgather
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            8         1000         0.10         0.40         0.30
            8         1000         0.10         0.30         0.20
# Benchmarking Allgatherv
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            8         1000         0.10         0.40         0.70
# Benchmarking Barrier
 #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         1000         0.29         0.31         0.30
"""
HELP = """Usage: a program
  -h, --help                print this help
  -x, --warmup              ITER - set number of warmup
                            iterations (default 200)
  -M, --mem-limit           SIZE
                            (default 536870912)
  -T, --type                [all] - Set MPI_TYPE . Default:MPI_CHAR.
"""
TABLE = "| `-h` | help | | |\n| `-x` | before | 200 in its help | 200 |\n| `-M` | bytes | 512M | 512M |\n| `-T` | types | mpi_char | bytes |\n| `-d` | devices | host | host |\n"


class Beside(unittest.TestCase):
    def test_tables_of_omb(self):
        self.assertEqual(beside.osu_figures(COLLECTIVE, (8, 4096)), {8: (0.25, 0.3), 4096: (1.5, 2.0)})
        self.assertEqual(beside.osu_figures(BARRIER, (0,)), {0: (0.31, 0.33)})
        self.assertEqual(beside.osu_figures("# Size  Latency (us)\n8   0.125\n", (8,)), {8: (0.125, 0.125)})

    def test_tables_of_imb(self):
        self.assertEqual(beside.imb_figures(TABLES, "PingPong", (8,)), {8: 0.33})
        self.assertEqual(beside.imb_figures(TABLES, "Allgather", (8,)), {8: 0.2})
        self.assertEqual(beside.imb_figures(TABLES, "Allgatherv", (8,)), {8: 0.7})
        self.assertEqual(beside.imb_figures(TABLES, "Barrier", (0,)), {0: 0.3})

    def test_a_difference_has_a_reason_or_is_open(self):
        def why(**figures):
            values = {way: each if isinstance(each, list) else [each] for way, each in figures.items()}
            return beside.reason(lambda way: values.get(way.replace(" ", "_"), []), "osu", 0.1)

        self.assertEqual(why(bench=1.0, osu=1.09), "")
        self.assertEqual(why(bench=0.010, osu=0.015), "", "as digits go")
        self.assertEqual(why(bench=1.0), "", "no other program")
        self.assertEqual(why(bench=0.2, osu=0.3), "c")
        self.assertEqual(why(bench=1.0, osu=2.0, bench_begun=2.1), "e")
        self.assertEqual(why(bench=1.0, osu=2.0, bench_begun=1.5, osu_begun=1.6), "b")
        self.assertEqual(why(bench=1.0, osu=2.0, bench_begun=1.5, osu_begun=3.0, osu_streaming=1.05), "s")
        self.assertEqual(why(bench=1.0, osu=2.0, bench_begun=1.5, osu_begun=3.0, osu_streaming=1.5), "?")
        self.assertEqual(why(bench=[0.9, 1.0, 1.9], osu=[1.8, 2.0, 2.1]), "v")
        self.assertEqual(why(bench=[0.9, 1.0, 1.7], osu=[1.8, 2.0, 2.1]), "?")

    def test_what_was_taken_in_another_state_of_the_machine_is_not_mixed(self):
        self.assertEqual(beside.boundary([40, 44, 49, 55]), math.inf)
        self.assertEqual(beside.boundary([]), math.inf)
        self.assertTrue(60 < beside.boundary([40, 41, 60, 150, 160]) < 150)

        def taken(way, value, line):
            return {"library": "a", "way": way, "found": {"bcast 8": value}, "line": line}

        near, far, both = [40, 41], [155, 160], [40, 150]
        records = [taken(way, value + k / 10, near) for way, value in (("bench", 1.0), ("osu", 2.0)) for k in range(3)]
        records += [taken("bench", 9.0, far), taken("osu", 9.0, both), taken("osu", 9.0, both), taken("osu", 9.0, both)]
        found = beside.launches(records)
        self.assertEqual(found["a", "bcast 8", "bench"], [1.0, 1.1, 1.2])
        self.assertEqual(found["a", "bcast 8", "osu"], [2.0, 2.1, 2.2])

    def test_every_program_is_first_in_some_round(self):
        class Options:
            rounds = len(beside.WAYS)
            libraries = ["a", "b"]

        firsts = {(library, ways[0]) for _, _, library, ways in beside.turns(Options)}
        self.assertEqual(firsts, {(library, way) for library in "ab" for way in beside.WAYS})

    def test_letters_and_defaults_are_those_of_the_help(self):
        own = HELP.replace("--type", "--types")
        self.assertEqual(osu.differences(TABLE, HELP, [HELP]), [])
        self.assertEqual(osu.differences(TABLE, own, [HELP]), ["-T is --type, not --types"])
        wrong = osu.differences(TABLE.replace("200 in", "100 in").replace("`-h`", "`-q`"), HELP, [HELP])
        self.assertEqual(wrong, ["-h is in no table", "no program takes -q",
                                 "-x is 200 where nothing is said, and the table tells 100 in its help"])


if __name__ == "__main__":
    unittest.main()
