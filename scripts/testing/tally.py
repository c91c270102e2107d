"""Counts tests: what a suite says at its end, and the sum over all suites.

A *test* is told by its name and may have several *executions*: on other numbers of ranks, over
other networks, with another version of a library. It fails if one of them fails. It is skipped if
something that it needs was missing in every one of them.

A suite ends with the lines `N executions` and `N passed, N failed, N skipped`, which count tests.
Where TEST_RECORD names a file, the suite appends a line of JSON to it for each execution, [name,
outcome, reason], so that the same test is known when another suite executes it again. (Names of
settings begin with CATENA_, and the library warns of unknown ones.) A line that is not whole, as where
the disk was full, is a test that has failed.
"""

import json
import os
import shutil

PASSED, FAILED, SKIPPED = OUTCOMES = ("passed", "failed", "skipped")
# What a program exits with that lacks what it needs here; its last line says what.
LACKING = 77


def closing(counts):
    """The last line of a suite."""
    return ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES)


class Test:
    """One test, and what came of its executions."""

    def __init__(self):
        self.executions, self.troubles, self.lacks = 0, [], None
        # It may be skipped even where nothing of ours may be (scripts/test --no-skips).
        self.excused = False

    def add(self, failed=None, lacks=()):
        """An execution: why it failed, if it did, and what it lacked, by name, with the reason.
        What lacked something may have done nothing: that is not counted as an execution."""
        lacks = dict(lacks)
        self.executions += not lacks
        if failed is not None:
            self.troubles.append(failed)
        before = self.lacks
        self.lacks = lacks if before is None else {k: v for k, v in before.items() if k in lacks}

    @property
    def outcome(self):
        return FAILED if self.troubles else SKIPPED if self.lacks else PASSED

    @property
    def reason(self):
        """Why it failed first, or all that it lacked; empty if it passed."""
        if self.troubles:
            return self.troubles[0]
        return "; ".join(sorted(set((self.lacks or {}).values())))


class Tally:
    """Tests by name, and suites that only say how many tests they have."""

    def __init__(self):
        self.tests, self.suites = {}, {}

    def add(self, name, outcome, reason=""):
        """An execution that passed, failed or was skipped."""
        failed = reason if outcome == FAILED else None
        self.test(name).add(failed, {"": reason} if outcome == SKIPPED else ())

    def test(self, name):
        return self.tests.setdefault(name, Test())

    def add_suite(self, name, executions, counts):
        """One more run of a suite whose tests have no names here. The longest of its runs tells how
        many tests there are, and the worst how many fail."""
        before, longest = self.suites.get(name, (0, dict.fromkeys(OUTCOMES, 0)))
        merged = dict(max(longest, counts, key=lambda c: sum(c.values())))
        worst = max(longest[FAILED], counts[FAILED])
        merged[PASSED] = max(0, merged[PASSED] - (worst - merged[FAILED]))
        merged[FAILED] = worst
        self.suites[name] = (before + executions, merged)

    def merge(self, other):
        """Takes the executions of another tally for further ones of the same tests."""
        for name, test in other.tests.items():
            mine = self.test(name)
            before = mine.lacks
            mine.executions += test.executions
            mine.excused = mine.excused or test.excused
            mine.troubles += test.troubles
            mine.lacks = (test.lacks if before is None
                          else {k: v for k, v in before.items() if k in (test.lacks or {})})
        for name, (executions, counts) in other.suites.items():
            self.add_suite(name, executions, counts)

    @property
    def executions(self):
        return (sum(test.executions for test in self.tests.values())
                + sum(number for number, _ in self.suites.values()))

    @property
    def counts(self):
        counts = dict.fromkeys(OUTCOMES, 0)
        for test in self.tests.values():
            counts[test.outcome] += 1
        for _, some in self.suites.values():
            for outcome in OUTCOMES:
                counts[outcome] += some[outcome]
        return counts

    def skipped(self):
        """The tests that are skipped, with their reasons."""
        return [(name, test.reason) for name, test in self.tests.items() if test.outcome == SKIPPED]

    def verdicts(self):
        """What came of each test: its outcome, the reason, and how often it was executed."""
        return {name: (test.outcome, test.reason, test.executions)
                for name, test in self.tests.items()}


class Suite(Tally):
    """The tests of one program, which tells them at its end."""

    def __init__(self):
        super().__init__()
        # Not for the programs that are tested.
        self.record = os.environ.pop("TEST_RECORD", None)
        self.lost = None

    def add(self, name, outcome, reason=""):
        super().add(name, outcome, reason)
        if self.record and not self.lost:
            try:
                with open(self.record, "a") as file:
                    print(json.dumps([name, outcome, reason]), file=file)
            except OSError as error:
                self.lost = error

    def close(self):
        """Says how it went; the exit status."""
        if self.lost:
            super().add("the record of these tests", FAILED, str(self.lost))
            print(f"FAIL the record of these tests: {self.lost}")
        for name, reason in self.skipped():
            print(f"skipped {name}: {reason}")
        counts = self.counts
        print(f"{self.executions} executions")
        print(closing(counts), flush=True)
        return 1 if counts[FAILED] or not sum(counts.values()) else 0


def free(folder):
    """MB that are free in a folder, which need not be there yet."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free // 10**6


def torn(step, path):
    """What it means that a line of what `step` has written to the file `path` is not whole."""
    return (f"the record of {step} ends in the middle of a line: is the disk full? "
            f"{free(path.parent)} MB are free in {path.parent}")


def recorded(path, step, of=""):
    """The executions that the suites of a step have recorded in a file; `of` comes before the tests' names."""
    tally, whole = Tally(), True
    for line in path.read_text(errors="replace").splitlines():
        try:
            name, outcome, reason = json.loads(line)
            tally.add(of + name, outcome, reason)
        except (ValueError, TypeError):
            whole = False
    if not whole:
        tally.add(step, FAILED, torn(step, path))
    return tally
