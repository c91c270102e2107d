"""Runs the commands of the test scripts: each ends, whatever it does.

A command that takes too long, or says nothing for too long, is ended with all its descendants, and
so is what it leaves behind when it is itself ended.
"""

import os
import queue
import signal
import subprocess
import threading
import time
from functools import partial
from pathlib import Path

MARK = "TEST_STEP_MARK"
HUNG = 124
LAST_LINES = 30
# What runs at this moment, by the threads of this program: the child and its mark.
under_way = set()


def marked(mark):
    """The processes that have the mark in their environment, alone or among others."""
    found, head = [], f"{MARK}=".encode()
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if any(word.startswith(head) and mark.encode() in word[len(head):].split() for word in words):
            found.append(int(path.parent.name))
    return found


def end(child, mark):
    """Ends a command, its process group, and descendants that have left it."""
    deadline = time.monotonic() + 10
    while True:
        left = marked(mark)
        for kill, number in [(os.killpg, child.pid), *((os.kill, pid) for pid in left)]:
            try:
                kill(number, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue
        # Those that were just killed are still there for a moment.
        if not left or time.monotonic() > deadline:
            return
        time.sleep(0.01)


def end_all():
    """Ends what other threads run; they go on with that."""
    for child, mark in list(under_way):
        end(child, mark)


def hang_of(catena, pid):
    """What `catena hang` says of a job that does not end, by a process of it; why it says nothing else."""
    try:
        return subprocess.run([catena, "hang", str(pid)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=20).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{error}\n"


def run(command, *, limit=1800, silence=600, shown=lambda line: True, log=None, cwd=None,
        **environment):
    """Runs a command and shows those of its lines that `shown` accepts, as they come: on the
    standard output, or in the open file `log`. Returns its exit status and all it said. `limit` and
    `silence` are seconds; a command that goes beyond one of them is ended, reported with its last
    lines, and has the status HUNG."""
    words = [str(word) for word in command]
    say = partial(print, file=log, flush=True)
    say("$ " + " ".join(words))
    mark = f"{os.getpid()}-{time.monotonic_ns()}"
    # The command may run others with this function: the marks of those come after its own.
    marks = f"{os.environ.get(MARK, '')} {mark}".strip()
    child = subprocess.Popen(words, cwd=cwd, text=True, errors="replace",
                             env={**os.environ, **environment, MARK: marks}, start_new_session=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT)
    under_way.add((child, mark))
    said = queue.Queue()

    def read():
        with child.stdout:
            for line in child.stdout:
                said.put(line)
        said.put(None)

    # A daemon: descendants that cannot be ended may hold the pipe for ever.
    threading.Thread(target=read, daemon=True).start()
    lines, begin = [], time.monotonic()
    try:
        while True:
            left = begin + limit - time.monotonic()
            line = said.get(timeout=max(0.0, min(left, silence)))
            if line is None:
                return child.wait(timeout=max(1.0, left)), "".join(lines)
            lines.append(line)
            if shown(line):
                say(line, end="")
            if left <= 0:
                raise queue.Empty
    except (queue.Empty, subprocess.TimeoutExpired):
        took = time.monotonic() - begin
        why = "" if took > limit else f", and said nothing for the last {silence:g} s"
        say(f"HUNG {' '.join(words)}: ended after {took:.0f} s{why}. Its last lines:")
        say("".join(lines[-LAST_LINES:]) or "(it said nothing)\n", end="")
        return HUNG, "".join(lines)
    finally:
        end(child, mark)
        child.wait()
        under_way.discard((child, mark))
