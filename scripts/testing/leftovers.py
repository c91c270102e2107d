"""What a run leaves behind: processes that have its mark in their environment, and files in /dev/shm."""

import os
import time
from pathlib import Path

MARK = "TEST_RUN_MARK"


def marked(mark):
    """The processes that belong to a run: its mark is in their environment."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            environment = Path(f"/proc/{entry}/environ").read_bytes()
            state = Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        if f"{MARK}={mark}".encode() in environment.split(b"\0") and state != "Z":
            found.append(int(entry))
    return found


def unused(names, grace):
    """Those files of /dev/shm that are there and that no process has mapped for `grace` seconds: others' programs use
    the rest, some of which have only just made theirs."""
    deadline = time.monotonic() + grace
    while True:
        mapped = ""
        for path in Path("/proc").glob("[0-9]*/maps"):
            try:
                mapped += path.read_text(errors="replace")
            except OSError:
                continue
        names = set(names) & set(os.listdir("/dev/shm"))
        names = sorted(name for name in names if f"/dev/shm/{name}" not in mapped)
        if not names or time.monotonic() > deadline:
            return names
        time.sleep(0.05)


def gone(mark, grace):
    """Waits for the run's processes to end; returns those that did not."""
    deadline = time.monotonic() + grace
    while True:
        left = marked(mark)
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.01)
