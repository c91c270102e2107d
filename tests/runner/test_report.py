"""What scripts/report does with the sections that are there, with a stand-in for `catena bench`."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# It writes down its words, measures nothing, and ends as it is told.
CATENA = """#!/bin/sh
echo "$*" >>"$CALLS"
raw=
while [ $# -gt 0 ]; do
    case $1 in --output | --resume) raw=$2 ;; esac
    shift
done
[ -z "$raw" ] || : >>"$raw"
exit "${STATUS:-0}"
"""


class Report(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.place = self.root / "build/report"
        self.calls = self.root / "calls"
        self.write("scripts/peers", "#!/bin/sh\necho mpich=/x\n")
        self.write("build/prefix/bin/catena", CATENA)
        shutil.copy(ROOT / "scripts/report", self.root / "scripts/report")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def report(self, *words, status=0):
        """How it ends, what it says, and what it asked `catena bench` for."""
        self.calls.write_text("")
        there = {name: value for name, value in os.environ.items() if name not in ("PEERS", "PREFIX")}
        done = subprocess.run([self.root / "scripts/report", "--only", "two", "--to", self.root / "page", *words],
                              env=dict(there, CALLS=str(self.calls), STATUS=str(status)), capture_output=True, text=True)
        return done.returncode, done.stderr, self.calls.read_text().splitlines()

    def test_it_goes_on_only_with_the_same_plan(self):
        self.assertEqual(self.report("latency:8", status=130)[0], 4)
        for words in (["latency:64"], ["--quick", "latency:8"], ["--at-most", "9", "latency:8"]):
            status, said, asked = self.report(*words)
            self.assertEqual((status, asked), (2, []), said)
            self.assertIn("remove build/report", said)
        status, said, asked = self.report("--rebuilt", "latency:8", status=130)
        self.assertEqual(status, 4, said)
        self.assertEqual(asked, ["bench --resume build/report/two.jsonl --rebuilt"])
        status, said, asked = self.report("latency:8")
        self.assertEqual(status, 0, said)
        self.assertIn("bench --resume build/report/two.jsonl", asked[0])
        # All was moved away, so that anything may come next.
        self.assertEqual(list(self.place.glob("*.jsonl*")), [])
        for moved in self.place.glob("2*"):
            shutil.rmtree(moved)  # both would be named after the same second
        self.assertEqual(self.report("latency:64")[0], 0)

    def test_sections_without_a_plan_are_not_gone_on_with(self):
        self.place.mkdir(parents=True)
        (self.place / "two.jsonl").touch()
        status, said, _ = self.report("latency:8")
        self.assertEqual(status, 2, said)
        self.assertIn("remove build/report", said)

    def test_without_figures_all_begins_anew(self):
        self.place.mkdir(parents=True)
        for name in ("two.jsonl.whole", "two-1.jsonl.whole"):
            (self.place / name).touch()
        status, said, asked = self.report("latency:8")
        self.assertEqual(status, 0, said)
        self.assertIn("bench compare", asked[0])
        self.assertEqual(list(self.place.glob("*.whole")), [])

    def test_each_setting_of_the_quick_form_has_its_time_whole(self):
        status, said, asked = self.report("--quick", "--at-most", "70", "--only", "two,crowded")
        self.assertEqual(status, 0, said)
        limits = [line.split("--at-most ")[1].split()[0] for line in asked if "bench compare" in line]
        self.assertEqual(limits, ["70", "105"])

    def test_what_is_whole_is_not_measured_again(self):
        self.report("latency:8", status=130)
        (self.place / "two.jsonl.whole").touch()
        status, said, asked = self.report("latency:8")
        self.assertEqual(status, 0, said)
        self.assertTrue(len(asked) == 1 and asked[0].startswith("bench report build/report/two.jsonl"), asked)


if __name__ == "__main__":
    unittest.main()
