"""The sum of scripts/test: what counts as one test, what a hang is, and what the last line says."""

import contextlib
import io
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from loading import script

import command
import tally

ROOT = Path(__file__).resolve().parents[2]

test = script("test")


def quietly(call, *arguments, **options):
    """What a call returns, and what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as said:
        result = call(*arguments, **options)
    return result, said.getvalue()


class Counting(unittest.TestCase):
    def test_executions_of_a_test_are_one_test(self):
        sum_ = tally.Tally()
        for outcome in ("passed", "passed", "failed"):
            sum_.add("a", outcome, "why")
        sum_.add("b", "passed")
        self.assertEqual(sum_.executions, 4)
        self.assertEqual(sum_.counts, {"passed": 1, "failed": 1, "skipped": 0})

    def test_a_test_is_skipped_if_every_execution_lacked_something(self):
        sum_ = tally.Tally()
        sum_.add("a", "skipped", "no network")
        self.assertEqual(sum_.skipped(), [("a", "no network")])
        other = tally.Tally()
        other.add("a", "passed")
        sum_.merge(other)
        self.assertEqual(sum_.counts, {"passed": 1, "failed": 0, "skipped": 0})

    def test_what_one_execution_lacks_another_may_have(self):
        sum_ = tally.Tally()
        sum_.test("a").add(lacks={"net": "no net", "sm2": "no sm2"})
        sum_.test("a").add(lacks={"net": "no net"})
        self.assertEqual(sum_.skipped(), [("a", "no net")])
        sum_.test("a").add(lacks={"sm2": "no sm2"})
        self.assertEqual(sum_.skipped(), [])

    def test_suites_without_names_are_not_added_up(self):
        sum_ = tally.Tally()
        sum_.add_suite("mpi4py", 400, {"passed": 90, "failed": 0, "skipped": 10})
        sum_.add_suite("mpi4py", 20, {"passed": 18, "failed": 2, "skipped": 0})
        self.assertEqual(sum_.executions, 420)
        self.assertEqual(sum_.counts, {"passed": 88, "failed": 2, "skipped": 10})

    def test_what_a_suite_records_is_what_is_read(self):
        with tempfile.TemporaryDirectory() as folder:
            record = Path(folder) / "record"
            os.environ["TEST_RECORD"] = str(record)
            suite = tally.Suite()
            self.assertNotIn("TEST_RECORD", os.environ)
            for outcome, reason in (("passed", ""), ("failed", "two\nlines"), ("failed", "again")):
                suite.add("a", outcome, reason)
            suite.add("b", "skipped", "no GPU")
            self.assertEqual(quietly(suite.close), (1, "skipped b: no GPU\n3 executions\n"
                                                       "0 passed, 1 failed, 1 skipped\n"))
            read = tally.recorded(record, "step", "mine ")
        self.assertEqual(read.verdicts(), {"mine a": ("failed", "two\nlines", 3),
                                           "mine b": ("skipped", "no GPU", 0)})


    def test_a_record_that_ends_in_the_middle_of_a_line_is_a_failure(self):
        whole = '["a", "passed", ""]\n'
        with tempfile.TemporaryDirectory() as folder:
            record = Path(folder) / "record"
            for end in ('["b", "pas', '["b", "passed"]', "\0" * 30, whole.rstrip() + whole):
                record.write_text(whole + end)
                with mock.patch.object(tally, "free", return_value=3):
                    read = tally.recorded(record, "c")
                self.assertEqual(read.counts, {"passed": 1, "failed": 1, "skipped": 0}, end)
                self.assertEqual(read.tests["c"].reason, "the record of c ends in the middle of a line: is the disk "
                                                         f"full? 3 MB are free in {folder}")

    def test_a_suite_that_cannot_record_fails_and_counts(self):
        with mock.patch.dict(os.environ, TEST_RECORD="/dev/full"):
            suite = tally.Suite()
        suite.add("a", "passed")
        suite.add("b", "passed")
        status, said = quietly(suite.close)
        self.assertEqual((status, said.splitlines()[-1]), (1, "2 passed, 1 failed, 0 skipped"))
        self.assertIn("FAIL the record of these tests: [Errno 28] No space left on device\n", said)


class Commands(unittest.TestCase):
    def test_a_silent_hang_is_ended_with_all_its_descendants(self):
        with tempfile.TemporaryDirectory() as folder:
            child = Path(folder) / "child"
            text = f"echo last words; setsid sleep 1000 & echo $! >{child}; sleep 1000"
            begin = time.monotonic()
            (status, output), said = quietly(command.run, ["sh", "-c", text], silence=0.5)
            self.assertLess(time.monotonic() - begin, 60)
            self.assertEqual((status, output), (command.HUNG, "last words\n"))
            self.assertIn("HUNG sh -c", said)
            self.assertIn("Its last lines:\nlast words\n", said)
            self.assertFalse(self.lives(int(child.read_text())))

    def test_what_a_command_leaves_that_ran_others_this_way_is_ended(self):
        with tempfile.TemporaryDirectory() as folder:
            child = Path(folder) / "child"
            # The runner inside is killed, and leaves a job in a session of its own.
            text = f"setsid sleep 1000 & echo $! >{child}; kill -9 $PPID; sleep 1000"
            code = (f"import sys; sys.path.insert(0, {str(ROOT / 'scripts/testing')!r}); import command; "
                    f"command.run(['sh', '-c', {text!r}])")
            (status, _), _ = quietly(command.run, [sys.executable, "-c", code])
            self.assertEqual(status, -signal.SIGKILL)
            self.assertFalse(self.lives(int(child.read_text())))

    def test_the_limit_holds_however_much_is_said(self):
        (status, _), said = quietly(command.run, ["sh", "-c", "while :; do echo x; done"],
                                    limit=0.5, shown=lambda line: False)
        self.assertEqual(status, command.HUNG)
        self.assertIn("HUNG", said)

    def test_a_closed_output_does_not_hide_a_hang(self):
        (status, _), said = quietly(command.run, ["sh", "-c", "exec >&- 2>&-; sleep 1000"],
                                    limit=0.5)
        self.assertEqual(status, command.HUNG)
        self.assertIn("(it said nothing)", said)

    def test_status_and_output_come_back(self):
        self.assertEqual(quietly(command.run, ["sh", "-c", "echo a; echo b >&2; exit 3"]),
                         ((3, "a\nb\n"), "$ sh -c echo a; echo b >&2; exit 3\na\nb\n"))

    @staticmethod
    def lives(pid):
        try:
            return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
        except OSError:
            return False


class Cargo(unittest.TestCase):
    OUTPUT = """\
     Running tests/conformance.rs (target/debug/deps/conformance-0123)

running 4 tests
test over_net::a ... ok
test over_tcp::a ... ok
test over_tcp::b ... FAILED
test late ... ignored, needs a week

test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0s
   Doc-tests catena_base
test crates/base/src/lib.rs - slab (line 3) ... ok
test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0s
"""

    def test_tests_are_known_by_crate_and_name(self):
        lacks = {"catena-ofi conformance over_net::a": {"net": "net: no such provider"}}
        sum_ = test.judged(self.OUTPUT, {"conformance-0123": "catena-ofi conformance"}, lacks)
        self.assertEqual(sum_.counts, {"passed": 2, "failed": 1, "skipped": 2})
        self.assertEqual(sum_.skipped(), [
            ("catena-ofi conformance over_net::a", "net: no such provider"),
            ("catena-ofi conformance late", "needs a week")])
        self.assertIn("catena_base doc crates/base/src/lib.rs - slab (line 3)", sum_.tests)

    def test_torn_lines_are_counted_all_the_same(self):
        torn = self.OUTPUT.replace("test over_tcp::b ...", "hello test over_tcp::b ...")
        sum_ = test.judged(torn, {}, {})
        self.assertEqual(sum_.counts, {"passed": 3, "failed": 1, "skipped": 1})
        torn = self.OUTPUT.replace("test over_net::a ...", "hello test over_net::a ...")
        sum_ = test.judged(torn, {}, {"conformance-0123 over_net::a": {"net": "none"}})
        self.assertIn(("conformance-0123 over_net::a", "none"), sum_.skipped())


    def test_what_tests_lacked_may_end_in_the_middle_of_a_line(self):
        told = "program-1\ta\tnet\tno net\nprogram-1\ta\tsm2\tno sm2\n"
        lacks = {"crate a": {"net": "net: no net", "sm2": "sm2: no sm2"}}
        self.assertEqual(test.lacking(told, {"program-1": "crate"}), (lacks, True))
        self.assertEqual(test.lacking(told + "program-1\tb\tn", {"program-1": "crate"}), (lacks, False))


class Room(unittest.TestCase):
    """What scripts/test says of the disk."""

    def at(self, free, names=test.STEPS, there=()):
        """What it says at its start and at its end where so many MB are free, and these folders are there."""
        with tempfile.TemporaryDirectory() as folder:
            for name in there:
                (Path(folder) / name).mkdir()
            with mock.patch.multiple(test, ROOT=Path(folder), TARGET=Path(folder) / "target", free=lambda _: free):
                return test.room_at_start(list(names)), test.room_at_end()

    def test_a_start_with_too_little_room_is_told(self):
        start, end = self.at(7999)
        self.assertIn("7999 MB are free in ", start)
        self.assertIn("all tests need 8000", start)
        self.assertEqual(end, "")
        self.assertIn("7999 MB", self.at(7999, there=["build"])[0])
        self.assertEqual(self.at(8000)[0], "")

    def test_what_is_there_takes_no_more_room(self):
        self.assertEqual(self.at(7999, there=["build", "target"])[0], "")
        self.assertEqual(self.at(7999, names=["c"])[0], "")

    def test_an_end_without_room_is_told(self):
        self.assertIn("only 499 MB are free", self.at(499)[1])
        self.assertEqual(self.at(500)[1], "")

    def test_room_is_that_of_the_folder_above_what_is_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertGreater(tally.free(Path(folder) / "not/there"), 0)


class Steps(unittest.TestCase):
    """scripts/test with steps of our own: the real ones take half an hour."""

    def of(self, *commands, arguments=(), suite=test.ours, beside=()):
        """Runs steps that execute shell commands, the last of them beside the others if there is a name in `beside`; the
        last line, and all that was said."""
        steps = {f"step{n}": lambda text=text: suite(text, ["sh", "-c", self.RECORD + text])
                 for n, text in enumerate(commands)}
        with (mock.patch.multiple(test, STEPS=steps, BESIDE=beside, BEFORE=[n for n in steps if n not in beside]),
              mock.patch.object(sys, "argv", ["test", *arguments])):
            status, said = quietly(test.main)
        return status, said.splitlines()[-1], said

    # record NAME OUTCOME, in the shell
    RECORD = """record() { printf '["%s", "%s", "why"]\\n' "$@" >>"$TEST_RECORD"; }; """
    GOOD = "record a passed; record b passed; record b passed"

    def test_the_last_line_counts(self):
        status, last, said = self.of(self.GOOD, self.GOOD + "; record c skipped")
        self.assertEqual((status, last), (0, "2 passed, 0 failed, 1 skipped"))
        self.assertRegex(said, r"\nall +3 +3 +6 +2 +0 +1 ")
        self.assertRegex(said, r"\nstep1 +3 +1 +3 +2 +0 +1 ")

    def test_steps_go_side_by_side(self):
        with tempfile.TemporaryDirectory() as folder:
            meets = (f"touch {folder}/{{}}; until [ -e {folder}/{{}} ]; do sleep 0.01; done; echo {{}} has met; " + self.GOOD)
            status, last, said = self.of(meets.format("a", "b", "a"), meets.format("b", "a", "b"), beside=["step1"])
        self.assertEqual((status, last), (0, "2 passed, 0 failed, 0 skipped"))
        self.assertLess(said.index("a has met\n"), said.index("== step1\n"))
        self.assertLess(said.index("== step1\n"), said.index("b has met\n"))

    def test_a_step_without_a_test_fails(self):
        status, last, said = self.of("true")
        self.assertEqual((status, last), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertIn("FAILED  true: runs no test", said)

    def test_a_step_whose_record_is_torn_fails(self):
        status, last, said = self.of(self.GOOD + """; printf '["c", "pas' >>"$TEST_RECORD" """)
        self.assertEqual((status, last), (1, "2 passed, 1 failed, 0 skipped"))
        self.assertIn(" ends in the middle of a line: is the disk full? ", said)

    def test_a_step_that_ends_badly_fails(self):
        status, last, _ = self.of(self.GOOD + "; exit 1")
        self.assertEqual((status, last), (1, "2 passed, 1 failed, 0 skipped"))

    def test_what_lacks_something_is_skipped_and_fails_where_nothing_may_be(self):
        lacking = "echo there is no pip; exit 77"
        for suite in (test.ours, test.theirs):
            status, last, said = self.of(lacking, self.GOOD, suite=suite)
            self.assertEqual((status, last), (0, "2 passed, 0 failed, 1 skipped"))
            self.assertIn(f"skipped {lacking}: there is no pip\n", said)
            status, last, said = self.of(lacking, self.GOOD, arguments=["--no-skips"], suite=suite)
            self.assertEqual((status, last), (1, "2 passed, 1 failed, 0 skipped"))
            self.assertIn("there is no pip", said)

    def test_skips_of_suites_of_others_are_listed_and_fail_nowhere(self):
        skips, arguments = self.GOOD + "; record c skipped", ["--no-skips"]
        status, last, said = self.of(skips, arguments=arguments, suite=test.theirs)
        self.assertEqual((status, last), (0, "2 passed, 0 failed, 1 skipped"))
        self.assertIn("skipped c: why\n", said)
        status, last, _ = self.of(skips, arguments=arguments)
        self.assertEqual((status, last), (1, "2 passed, 1 failed, 0 skipped"))

    def test_asked_to_end_it_tells_what_was_done(self):
        code = f"""import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import test_sum
test = test_sum.test
test.STEPS = {{"good": lambda: test.one("good", 0),
              "slow": lambda: test.one("slow", test.run(["sh", "-c", "echo ready; sleep 1000"])[0]),
              "beside": lambda: test.one("beside", test.run(["sh", "-c", "exec sleep 1000"])[0])}}
test.BEFORE, test.BESIDE = ["good", "slow"], ["beside"]
sys.argv = ["test"]
sys.exit(test.main())"""
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE,
                              text=True) as child:
            while child.stdout.readline() != "ready\n":
                self.assertIsNone(child.poll())
            child.terminate()
            said, _ = child.communicate(timeout=60)
        self.assertEqual((child.returncode, said.splitlines()[-1]),
                         (1, "1 passed, 2 failed, 0 skipped"))
        self.assertIn("FAILED  slow: ended by SIGTERM", said)
        self.assertIn("FAILED  beside: ended by SIGTERM", said)


class Ci(unittest.TestCase):
    def ci(self, make, ask_to_end=False, shell="/bin/sh"):
        """What .ci/run says where `make` is a script, which may be asked to end once it is ready."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "make"
            path.write_text(f"#!{shell}\n{make}\n")
            path.chmod(0o755)
            there = dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}")
            with subprocess.Popen([ROOT / ".ci/run"], env=there, stdout=subprocess.PIPE,
                                  text=True) as child:
                if ask_to_end:
                    self.assertEqual(child.stdout.readline(), "ready\n")
                    child.terminate()
                said, _ = child.communicate(timeout=60)
        return child.returncode, said.splitlines()[-1]

    def test_asked_to_end_it_still_counts(self):
        make = """import signal, sys
def end(*_):
    sys.exit("3 passed, 1 failed, 0 skipped")
signal.signal(signal.SIGTERM, end)
print("ready", flush=True)
signal.pause()"""
        self.assertEqual(self.ci(make, ask_to_end=True, shell=sys.executable),
                         (1, "3 passed, 1 failed, 0 skipped"))

    def test_the_count_comes_last(self):
        self.assertEqual(self.ci("echo 3 passed, 0 failed, 1 skipped; echo end"),
                         (0, "3 passed, 0 failed, 1 skipped"))
        self.assertEqual(self.ci("echo 3 passed, 2 failed, 1 skipped; exit 2"),
                         (2, "3 passed, 2 failed, 1 skipped"))

    def test_an_early_end_is_a_failure(self):
        self.assertEqual(self.ci("echo no compiler; exit 2"), (2, "0 passed, 1 failed, 0 skipped"))
        self.assertEqual(self.ci("exit 0"), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertEqual(self.ci("echo 3 passed, 0 failed, 0 skipped; kill -9 $$"),
                         (137, "3 passed, 1 failed, 0 skipped"))


if __name__ == "__main__":
    unittest.main()
