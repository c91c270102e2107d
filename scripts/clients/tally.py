"""Counts tests for the scripts of this folder, and says how they went.

A test counts once, however many executions it has: on other numbers of ranks, in other settings.
It fails if any of them fails, and is skipped if none of them ran. What is printed is what
scripts/qualify reads: `tested with`, `FAIL`, `skip` and `left out` lines, and the last two.
"""

import json
import os
from pathlib import Path

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


class Tally:
    """The executions of one client's tests."""

    def __init__(self):
        self.tests = {}  # name: outcomes, as (outcome, reason)
        self.executions = 0

    def add(self, test, outcome, reason=""):
        """Counts one execution. An execution that was skipped did not take place."""
        self.tests.setdefault(test, []).append((outcome, reason))
        self.executions += outcome != SKIPPED

    def outcome(self, test):
        outcomes = {outcome for outcome, _ in self.tests[test]}
        return next(o for o in (FAILED, PASSED, SKIPPED) if o in outcomes)

    def count(self, wanted):
        return sum(self.outcome(test) == wanted for test in self.tests)

    def verdicts(self):
        """The outcome of each test, with its first reason."""
        found = {}
        for test, outcomes in self.tests.items():
            found[test] = next(o for o in outcomes if o[0] == self.outcome(test))
        return found

    def close(self):
        """Writes all outcomes to the file QUALIFY_TALLY, if it is set. Prints the tests that were
        skipped, the executions, and the sum; returns the exit status."""
        for test, outcomes in self.tests.items():
            if self.outcome(test) == SKIPPED:
                print(f"skip {test}: {outcomes[0][1]}")
        if file := os.environ.get("QUALIFY_TALLY"):
            Path(file).write_text(json.dumps(self.tests))
        counts = {outcome: self.count(outcome) for outcome in (PASSED, FAILED, SKIPPED)}
        print(f"{self.executions} executions")
        print(", ".join(f"{n} {outcome}" for outcome, n in counts.items()), flush=True)
        return 1 if counts[FAILED] or not counts[PASSED] else 0


def declared(path, keys):
    """The lines of a declaration, as (key, words, reason): `key words: reason`.

    An indented line goes on with the reason above it; `#` begins a comment.
    """
    entries = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line[0].isspace():
            key, words, reason = entries.pop()
            entries.append((key, words, f"{reason} {line.strip()}"))
            continue
        head, _, reason = line.partition(": ")
        key, *words = head.split()
        if key not in keys:
            raise SystemExit(f"{path}:{number}: '{key}' is none of {', '.join(keys)}")
        entries.append((key, words, reason.strip()))
    return entries
