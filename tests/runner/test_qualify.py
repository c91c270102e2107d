"""scripts/qualify and scripts/clients: what is declared, how parts are judged and end. No MPI is needed."""

import contextlib
import io
import os
import subprocess
import tarfile
import tempfile
import time
import types
import unittest
from pathlib import Path

from loading import SCRIPTS, script

from declared import declared
from qualification import SUITES, document
from tally import FAILED, PASSED, SKIPPED

CLIENTS = SCRIPTS / "clients"
qualify = script("qualify")


def ends(function, *words):
    """What a function says that ends the program."""
    try:
        function(*words)
    except SystemExit as end:
        return str(end)
    return "it did not end"


def tools(folder):
    """A folder of programs without apt-get."""
    place = folder / "bin"
    place.mkdir(exist_ok=True)
    for name in ("mkdir", "find", "sort", "tail"):
        if not (place / name).exists():
            path = subprocess.run(["sh", "-c", f"command -v {name}"], capture_output=True, text=True)
            (place / name).symlink_to(path.stdout.strip())
    return place


class Qualify(unittest.TestCase):
    def folder(self):
        folder = tempfile.TemporaryDirectory(prefix="catena-qualify-")
        self.addCleanup(folder.cleanup)
        return Path(folder.name)

    def test_a_declaration_has_known_words_and_its_whole_reason(self):
        folder = self.folder()
        file = folder / "selection"
        file.write_text("# comment\nrun a 2\nleave b: first\n  and second\n")
        assert declared(file, ("run", "leave")) == [("run", ["a", "2"], ""),
                                                    ("leave", ["b"], "first and second")]
        assert "'leave' is none of run" in ends(declared, file, ("run",))

    def test_modules_of_mpi4py_are_all_named(self):
        folder = self.folder()
        mpi4py = script("clients/mpi4py")
        entries = declared(CLIENTS / "mpi4py-selection.txt", ("ranks", "also", "run", "leave", "without"))
        (folder / "test").mkdir()
        names = [words[0] for key, words, _ in entries if key in ("run", "leave")]
        for name in names:
            (folder / "test" / f"{name}.py").touch()
        path, ranks, also, modules, left, without = mpi4py.selection(folder)
        assert ranks == [1, 2, 3] and "test_spawn" in also[5] and sorted([*modules, *left]) == sorted(names)
        on = {name: [n for n in ranks if n in modules[name]] for name in ("test_rma", "test_util_pool", "test_pack")}
        assert on == {"test_rma": ranks, "test_util_pool": ranks, "test_pack": [1]}
        (folder / "test/test_new.py").touch()
        assert "test_new is named nowhere" in ends(mpi4py.selection, folder)
        (folder / "test/test_new.py").unlink()
        (folder / f"test/{names[0]}.py").unlink()
        assert f"{names[0]} does not exist" in ends(mpi4py.selection, folder)
        wanted = {"test_a.*.testX": "why"}
        assert mpi4py.without_of(path, wanted, ["test_b"], []) == []
        assert mpi4py.without_of(path, wanted, ["test_a"], ["test_a.A.testX"]) == ["test_a.*.testX"]
        assert "no test is called" in ends(mpi4py.without_of, path, wanted, ["test_a"],
                                           ["test_a.A.testY"])

    def test_a_rank_that_vanishes_fails_the_test_that_it_was_in(self):
        folder = self.folder()
        mpi4py = script("clients/mpi4py")
        (folder / "0").write_text('["a", "begun", ""]\n["a", "passed", ""]\n["b", "skipped", "no GPU"]\n')
        (folder / "1").write_text('["a", "begun", ""]\n')
        found = mpi4py.records(folder, 2, "exit status 9")
        assert found["a"] == (FAILED, "rank 1 did not come to its end: exit status 9")
        assert found["b"] == (SKIPPED, "no GPU")

    def test_directories_of_mpichs_suite_are_all_named(self):
        folder = self.folder()
        mpich = script("clients/mpich-suite")
        suite = folder / "test/mpi"
        for place, test in (("attr", "attrt 2"), ("ckpoint", "save 1"), ("coll", "allred 4")):
            (suite / place).mkdir(parents=True)
            (suite / place / "testlist").write_text(test + "\n")
        (suite / "testlist").write_text("attr\nckpoint\ncoll\n")
        assert mpich.selection(suite, "4.0")[0] == ["attr", "coll"]
        assert "pt2pt is not in the suite of MPICH 5.1" in ends(mpich.selection, suite, "5.1")
        (suite / "novel").mkdir()
        (suite / "novel/testlist").write_text("first 2\n")
        assert "novel/testlist is named nowhere" in ends(mpich.selection, suite, "4.0")

    def test_mpichs_suite_is_all_that_is_unpacked(self):
        folder, mpich = self.folder(), script("clients/mpich-suite")
        sources = folder / "mpich-5.0"
        for name in ("test/mpi/runtests", "test/mpi/coll/a.c", "confdb/a.m4", "maint/version.m4", "src/mpi/a.c", "test/a.c"):
            (sources / name).parent.mkdir(parents=True, exist_ok=True)
            (sources / name).touch()
        for given, kept in ((sources, 4), (sources / "test/mpi", 2)):
            packed, unpacked = folder / "sources.tar", folder / f"with-{kept}"
            with tarfile.open(packed, "w") as tar:
                tar.add(given, given.name)
            suite = mpich.unpack(packed, unpacked)
            assert (suite / "runtests").exists() and (suite / "coll/a.c").exists()
            assert len([path for path in unpacked.rglob("*") if path.is_file()]) == kept

    def test_patterns_of_osus_programs_fit_some(self):
        folder = self.folder()
        osu = script("clients/osu")
        place = folder / "c/mpi/startup"
        place.mkdir(parents=True)
        (place / "osu_init.c").touch()
        assert "there is no program like" in ends(osu.selection, folder)
        (folder / "c/mpi/novel").mkdir()
        (folder / "c/mpi/novel/osu_novel.c").touch()
        assert "novel: named nowhere" in ends(osu.selection, folder)

    def test_a_silent_part_is_ended_with_all_of_its_processes(self):
        folder = self.folder()
        pids = folder / "pids"
        # A process in a session of its own, as the clients start their jobs, and one in the part's.
        silent = f"setsid sh -c 'echo $$ >>{pids}; exec sleep 600' & echo $$ >>{pids}; exec sleep 600"
        part = qualify.Part("c", "shm", "1", ["sh", "-c", silent], 0.02)
        begin = time.monotonic()
        tally, _ = qualify.run(part, types.SimpleNamespace(patience=1.0), folder / "log")
        assert time.monotonic() - begin < 300
        assert "hangs, or goes beyond its limit" in tally.test("the suite itself").reason
        assert "HUNG" in (folder / "log").read_text()
        started = [int(pid) for pid in pids.read_text().split()]
        assert len(started) == 2
        for pid in started:
            stat = Path(f"/proc/{pid}/stat")
            assert not stat.exists() or stat.read_text().rsplit(")", 1)[1].split()[0] == "Z", pid

    def test_a_part_is_judged_by_its_tests_and_its_end(self):
        folder = self.folder()
        passed = """echo '["p2p", "passed", ""]' >>"$TEST_RECORD"; """
        for text, found in ((passed * 2, {"p2p": (PASSED, "", 2)}),
                            (passed + "exit 3", {"p2p": (PASSED, "", 1),
                                                 "the suite itself": (FAILED, "exit status 3", 1)}),
                            ("true", {"the suite itself": (FAILED, "no test ran", 1)}),
                            ("echo no sources; exit 77", {"all of c": (SKIPPED, "no sources", 0)})):
            part = qualify.Part("c", "shm", "1", ["sh", "-c", text], 1)
            tally, _ = qualify.run(part, types.SimpleNamespace(patience=1.0), folder / "log")
            assert tally.verdicts() == found, tally.verdicts()

    def test_the_page_counts_tests_once_and_rows_apart(self):
        common = {"commit": "abc", "date": "2026-01-01", "load": 0.1, "machine": "M", "seconds": 1.0,
                  "executions": 2, "tested_with": ["mpi4py 4"], "left_out": ["x: because"]}
        rows = [common | {"suite": "mpi4py", "transport": "shm", "ranks": "2", "tests": {
                    "t": [PASSED, "", 2], "u": [SKIPPED, "no GPU", 0]}},
                common | {"suite": "mpi4py", "transport": "tcp", "ranks": "2", "tests": {
                    "t": [FAILED, "a|b", 2], "u": [SKIPPED, "no GPU", 0]}}]
        page = document(rows)
        assert "**0 tests passed, 1 failed, 1 skipped**, in 4 executions" in page
        assert "| mpi4py | shm | 2 | 1 | 0 | 1 | 1 |" in page
        assert "| mpi4py | tcp | 2 | 0 | **1** | 1 | 1 |" in page
        assert "t (tcp, 2 ranks): a\\|b" in page and "no GPU: 1 (u)" in page and "x: because" in page

    def test_a_new_result_replaces_the_old_one_of_its_part(self):
        folder = self.folder()
        file = folder / "results"
        line = '{{"suite": "osu", "transport": "shm", "ranks": "{}", "seconds": {}}}\n'
        file.write_text(line.format(2, 1) + line.format(4, 2) + line.format(2, 3))
        assert [r["seconds"] for r in qualify.stored(file).values()] == [3, 2]

    def test_every_suite_has_a_title(self):
        parts = list(qualify.everything(types.SimpleNamespace(patience=1.0)))
        assert {part.suite for part in parts} == set(SUITES)
        assert len({part.key() for part in parts}) == len(parts)

    def test_the_slice_is_of_parts_that_there_are(self):
        parts = list(qualify.slices(types.SimpleNamespace(patience=1.0)))
        assert [part.suite for part in parts] == ["mpi4py", "mpich-suite", "romio", "mpich-suite-mpich",
                                                  "mpich-suite-openmpi", "mpich-fortran", "osu", "osu",
                                                  "imb", "fabtests", "launchers", "deaths", "deaths-in-calls"]

    def test_what_gets_no_sources_is_skipped(self):
        mpich = script("clients/mpich-suite")
        with contextlib.redirect_stdout(io.StringIO()) as said:
            assert ends(mpich.call_for_line, ["false"]) == "77"
        assert "MPICH_SRC" in said.getvalue().splitlines()[-1]

    def test_fetching_without_apt_says_what_to_do(self):
        folder = self.folder()
        done = subprocess.run(["/bin/sh", CLIENTS / "archive-source", "mpich", folder / "new"], text=True,
                              capture_output=True, env=dict(os.environ, PATH=str(tools(folder))))
        assert done.returncode == 1 and "give the sources of mpich yourself" in done.stderr, done
        (folder / "new/mpich_1.orig.tar.xz").touch()
        done = subprocess.run(["/bin/sh", CLIENTS / "archive-source", "mpich", folder / "new"], text=True,
                              capture_output=True, env=dict(os.environ, PATH=str(tools(folder))))
        assert done.stdout.endswith("new/mpich_1.orig.tar.xz\n"), done


if __name__ == "__main__":
    unittest.main()
