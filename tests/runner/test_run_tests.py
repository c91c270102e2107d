"""scripts/run-tests finds mistakes in the heads of tests before it runs any, and sees what fails.

The programs are built by the system's compiler, and a script plays the launcher.
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS / "testing"))
import heads  # noqa: E402
LAUNCHER = "#!/bin/sh\nshift 2\nexec \"$@\"\n"  # -n N PROGRAM...


class RunTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.sources = self.folder / "c"
        self.sources.mkdir()
        self.mpirun = self.folder / "mpirun"
        self.mpirun.write_text(LAUNCHER)
        self.mpirun.chmod(0o755)

    def write(self, name, head, body="return 0;"):
        text = f"{head}\n#include <stdio.h>\n#include <unistd.h>\nint main(int n, char **words) {{ {body} }}\n"
        path = self.sources / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def run_tests(self, *arguments):
        command = [sys.executable, SCRIPTS / "run-tests", "--folder", self.sources, "--mpirun",
                   self.mpirun, "--mpicc", "cc", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=120)

    def ends(self, done, passed, failed, skipped):
        """How a run ends: what it counts, and its status."""
        last = done.stdout.splitlines()[-2:]
        self.assertEqual(last, [f"{passed + failed} executions",
                                f"{passed} passed, {failed} failed, {skipped} skipped"], done)
        self.assertEqual(done.returncode, int(failed > 0), done)

    def mistake(self, head, said, line):
        """A head that is not understood is told with its line, nothing runs, and --list tells it."""
        self.write("good.c", "// run: -n 1")
        self.write("bad.c", head)
        for arguments in ([], ["good"], ["--list"]):
            done = self.run_tests(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done)
            self.assertIn(f"bad.c:{line}: ", done.stderr)
            self.assertIn(said, done.stderr)

    def test_what_waits_runs_beside_the_others(self):
        for own, other, head in (("one", "two", ""), ("two", "one", "// waits: for the other\n")):
            self.write(f"{own}.c", f"{head}// run: -n 1",
                       f'fclose(fopen("{self.folder}/{own}", "w")); '
                       f'while (access("{self.folder}/{other}", F_OK)) usleep(1000); return 0;')
        self.ends(self.run_tests("--patience", "0.5"), 2, 0, 0)

    def test_a_misspelt_clause_is_an_error(self):
        self.mistake("// run: -n 1 ; sais never printed", "unknown clause 'sais'", 1)

    def test_a_clause_that_is_cut_is_an_error(self):
        self.mistake("// A test.\n// run: -n 1 ; says from eth0; passed over: eth1",
                     "unknown clause 'passed'", 2)

    def test_other_mistakes_are_errors(self):
        for line, head, said in (
                (1, "// rum: -n 1", "unknown key `rum:`"),
                (1, "// Run: -n 1", "unknown key `Run:`"),
                (2, "// run: -n 1\n// time: soon", "no number of seconds"),
                (3, "// run: -n 1\n// time: 3\n// time: 4", "`time:` stands twice"),
                (2, "// run: -n 1\n// memory: 5", "no size"),
                (2, "// run: -n 1\n// only: mpich", "'mpich' is unknown"),
                (2, "// run: -n 1\n// needs:", "`needs:` lacks its value"),
                (1, "// run: -n 1\n// preload: nothing", "no tool nothing.c"),
                (2, "// run: -n 1\n// run: -n 1", "`run -n 1` stands twice"),
                (3, "// run: -n 1\nint a;\n// time: 60", "stands below the head"),
                (1, "// Nothing runs this.", "never run"),
                (1, "// run: -n 1 ; says", "`says` lacks its argument"),
                (1, "// run: -n 1 ; fails badly", "`fails` has no argument"),
                (1, "// run: -n 1 ; exit one", "no exit status"),
                (1, "// run: -n 1 ; exit 256", "no exit status"),
                (1, "// run: -n 1 ; fails ; exit 1", "exclude each other"),
                (1, "// run: -n 1 ; ends 1 ; ends 2", "`ends` stands twice"),
                (1, "// run: -n 1 ; ends soon", "no number of seconds"),
                (1, "// run: -n 1 ; signal STOPP", "no signal"),
                (1, "// run: -n 1 ; says (", "no regular expression"),
                (1, "// run: -n 1 ; lines whole", "not the number of the lines"),
                (1, "// run: -n 1 ; says 'a ; b", "a quote is not closed"),
                (1, "// run: -n 1 ; says 'a' b", "a `;` is missing"),
                (1, "// run: -n 1 'a", "a quote is not closed"),
                (1, "// alone: -n 1", "not NAME=value"),
                (2, "// run: -n 1\n// variant:\n// run: -n 2", "`variant:` lacks the name"),
                (2, "// run: -n 1\n// variant: -n 2\n// run:", "`variant:` lacks the name"),
                (2, "// run: -n 1\n// variant: other", "never run"),
                (2, "// run: -n 1\n// variant: bad\n// run: -n 1", "there is a test `bad` in"),
                (3, "// run: -n 1\n// variant: other\n// cc: -lm\n// run: -n 1", "write it above the first"),
                (4, "// run: -n 1\n// variant: other -n\n// run: 1\n// run: 1", "`run -n 1` stands twice"),
                (3, "// run: -n 1\n// variant: other\n// only: mpich", "'mpich' is unknown"),
                (2, "// run: -n 1\n// variant: other\n// run: -n 1\n// preload: nothing", "no tool nothing.c"),
        ):
            with self.subTest(head):
                self.write("bad.c", head)
                _, (mistake, *_) = heads.read(self.sources)
                self.assertTrue(mistake.startswith(f"{self.sources / 'bad.c'}:{line}: "), mistake)
                self.assertIn(said, mistake)

    def test_a_variant_is_a_test_of_its_own(self):
        # It has the file's program, and neither the keys nor the runs of what stands above it.
        self.write("whole.c", "// needs: libnosuch.so.7\n// cc: -DANSWER=3\n// run: -n 1\n"
                              "//\n// variant: part -n 2 @ -- one\n// A word.\n// run: two ; exit 5 ; says ^2 of two$\n"
                              "//\n// variant: other\n// run: -n 1 ; exit 4",
                   'if (n > 2) printf("%d of %s\\n", n - 1, words[2]); return ANSWER + n - 1;')
        done = self.run_tests()
        self.assertIn("ok   part (run -n 2 @ -- one two; exit 5)", done.stdout)
        self.assertIn("FAIL other (run -n 1; exit 4): exit status 3, expected 4", done.stdout)
        self.assertIn("skipped whole (run -n 1): there is no libnosuch.so.7", done.stdout)
        self.assertEqual(done.stdout.splitlines()[-1], "1 passed, 1 failed, 1 skipped")
        self.ends(self.run_tests("=part"), 1, 0, 0)

    def test_variants_share_what_is_built_once(self):
        compiler = self.folder / "cc"
        compiler.write_text(f"#!/bin/sh\necho >>{self.folder}/calls\nexec cc \"$@\"\n")
        compiler.chmod(0o755)
        self.write("whole.c", "// run: -n 1\n// variant: part\n// waits: for nothing\n// run: -n 2")
        self.ends(self.run_tests("--mpicc", compiler), 2, 0, 0)
        self.assertEqual((self.folder / "calls").read_text(), "\n")
        self.write("whole.c", "// run: -n 1\n// variant: part\n// run: -n 2", "return nothing;")
        self.ends(self.run_tests("--mpicc", compiler), 0, 2, 0)

    def test_tests_are_found_in_all_folders(self):
        for name in ("near.c", "io/reads.c", "rma/puts.c"):
            self.write(name, "// run: -n 1")
        self.ends(self.run_tests(), 3, 0, 0)
        # "puts" has no "io" in it, nor is it in that folder.
        for pattern, passed in (("io/", 1), ("io/re", 1), ("=puts", 1), ("s", 2)):
            self.ends(self.run_tests(pattern), passed, 0, 0)
        done = self.run_tests("pt2pt/")
        self.assertIn("no test has 'pt2pt/' in its name and that of its folder", done.stderr)
        self.write("io/puts.c", "// run: -n 1")
        done = self.run_tests("near")
        self.assertEqual((done.returncode, done.stdout), (2, ""), done)
        self.assertIn(f"rma/puts.c:1: there is a test `puts` in {self.sources}/io/puts.c, too", done.stderr)

    def test_every_text_must_be_said(self):
        says = 'puts("one; two"); fputs("three\\n", stderr); return 0;'
        self.write("good.c", "// run: -n 1 ; says 'one; two' ; says ^three$ ; never says four", says)
        self.ends(self.run_tests(), 1, 0, 0)
        self.write("first.c", "// run: -n 1 ; says four ; says three", says)
        self.write("last.c", "// run: -n 1 ; says three ; says 'one; three'", says)
        self.write("never.c", "// run: -n 1 ; never says three ; says one", says)
        done = self.run_tests()
        self.ends(done, 1, 3, 0)
        self.assertIn("FAIL first (run -n 1): does not say 'four'", done.stdout)
        self.assertIn("FAIL last (run -n 1): does not say 'one; three'", done.stdout)
        self.assertIn("FAIL never (run -n 1): says 'three'", done.stdout)

    def test_torn_and_lost_lines_fail(self):
        head = "// run: -n 1 ; lines 2 line \\d"
        self.write("whole.c", head, r'puts("line 1\nline 2"); return 0;')
        self.write("torn.c", head, r'puts("line 1li\nne 2"); return 0;')
        self.write("lost.c", head, r'puts("line 1"); return 0;')
        done = self.run_tests()
        self.ends(done, 1, 2, 0)
        self.assertIn("2 lines do not match, such as 'line 1li'", done.stdout)
        self.assertIn("says 1 lines, expected 2", done.stdout)

    def test_the_exit_status_counts(self):
        self.write("zero.c", "// run: -n 1 ; fails")
        self.write("one.c", "// run: -n 1\n// run: -n 2 ; exit 1\n// run: -n 3 ; exit 2\n"
                            "// run: -n 4 ; fails", "return 1;")
        self.ends(self.run_tests(), 2, 3, 0)

    def test_a_silent_hang_is_ended_and_fails(self):
        self.write("hangs.c", "// run: -n 1\n// time: 0.5", "for (;;) pause();")
        self.write("good.c", "// run: -n 1")
        done = self.run_tests()
        self.ends(done, 1, 1, 0)
        self.assertIn("FAIL hangs (run -n 1): hangs: not done after 0.5 s", done.stdout)

    def test_what_is_left_behind_fails(self):
        self.write("leaves.c", "// run: -n 1", "if (!fork()) for (;;) pause(); return 0;")
        done = self.run_tests("--patience", "0.1")
        self.ends(done, 0, 1, 0)
        self.assertIn("left 1 processes behind", done.stdout)

    def test_what_does_not_compile_fails(self):
        self.write("broken.c", "// run: -n 1\n// run: -n 2", "return nothing;")
        self.ends(self.run_tests(), 0, 2, 0)

    def test_what_the_compiler_must_refuse(self):
        self.write("wrong.c", "// refused: undeclared", "return nothing;")
        self.ends(self.run_tests(), 1, 0, 0)
        self.write("right.c", "// refused: undeclared")
        self.write("other.c", "// refused: never said", "return nothing;")
        done = self.run_tests()
        self.assertIn("FAIL right (refused): it compiles, but should not", done.stdout)
        self.assertIn("FAIL other (refused): the compiler does not say 'never said'", done.stdout)
        self.ends(done, 1, 2, 0)

    def test_parts_of_a_program(self):
        self.write("whole.c", "// also: with_part.c\n// run: -n 1", "int part(void); return part();")
        (self.sources / "with_part.c").write_text("int part(void) { return 0; }\n")
        self.ends(self.run_tests(), 1, 0, 0)
        (self.sources / "with_part.c").write_text("int part(void) { return 1; }\n")
        self.ends(self.run_tests(), 0, 1, 0)

    def test_fortran_has_other_comments(self):
        (self.sources / "f.f90").write_text("! run: -n 1 ; exit 0\n! sais: no\nend\n")
        done = self.run_tests()
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("f.f90:2: unknown key `sais:`", done.stderr)

    def test_skipped_tests_are_counted_and_listed(self):
        self.write("needs.c", "// run: -n 1\n// run: -n 2\n// needs: libnosuch.so.7")
        self.write("memory.c", "// run: -n 1\n// memory: 1000000 GiB")
        self.write("good.c", "// run: -n 1")
        done = self.run_tests()
        self.assertEqual(done.stdout.splitlines()[-2:],
                         ["1 executions", "1 passed, 0 failed, 3 skipped"], done)
        self.assertIn("skipped needs (run -n 2): there is no libnosuch.so.7", done.stdout)
        self.assertIn("skipped memory (run -n 1): it needs 1e+06 GiB", done.stdout)
        self.assertEqual(done.returncode, 0)

    def test_a_name_without_a_test_is_an_error(self):
        self.write("good.c", "// run: -n 1")
        done = self.run_tests("good", "godo")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("'godo'", done.stderr)


if __name__ == "__main__":
    unittest.main()
