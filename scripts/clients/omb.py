"""The OSU micro-benchmarks: builds their sources, which are given, and reads what they say of themselves."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path


def build(who, given, mpicc, folder, parts=(), flags=""):
    """Builds them in `folder` from a folder or a tarball, unless they are there already; the folder of the sources. All of
    them, or the programs of these folders of c/mpi."""
    source, stamp = folder / "source", folder / "stamp"
    asked = " ".join(map(str, (given, mpicc, *parts, flags)))
    if stamp.exists() and stamp.read_text() == asked:
        return source
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    given = Path(given)
    if given.is_dir():
        shutil.copytree(given, source, symlinks=True)
    elif given.is_file():
        with tarfile.open(given) as tar:
            tar.extractall(folder)
        next(p for p in folder.iterdir() if p.is_dir()).rename(source)
    else:
        sys.exit(f"{who}: no sources at '{given}': give a folder or a tarball (OSU_SRC=...)")
    # A copy loses the order of times by which automake sees that nothing is to be made anew.
    for name in ("aclocal.m4", "configure", "config.h.in", "Makefile.in"):
        for file in source.rglob(name):
            os.utime(file)
    log = folder / "log"
    compiler = Path(mpicc)
    words = [f"CC={mpicc}", f"CXX={compiler.with_name(compiler.name.replace('cc', 'cxx'))}"]
    words += [f"{name}={flags}" for name in ("CFLAGS", "CXXFLAGS") if flags]
    make = ["make", "-k", f"-j{os.cpu_count()}"]
    # Compilers of libraries find their own parts on the path.
    environment = dict(os.environ, PATH=f"{compiler.parent}:{os.environ['PATH']}")
    with log.open("w") as out:
        for command in (["./configure", *words], *([*make, "-C", f"c/mpi/{part}"] for part in parts), *([make] if not parts else [])):
            subprocess.run(command, cwd=source, stdout=out, stderr=subprocess.STDOUT, env=environment)
    if not list(source.rglob("osu_latency")):
        sys.exit(f"{who}: the build failed, see {log}")
    stamp.write_text(asked)
    return source


def version(source):
    found = re.search(r"PACKAGE_VERSION='([^']+)'", (source / "configure").read_text())
    return found[1] if found else "unknown"


def letters(text):
    """The options with one letter in the help of a program, each with its long name and its default, if one is told."""
    found = {}
    for part in re.split(r"^  (?=-\w, )", text, flags=re.M)[1:]:
        default = re.search(r"[(.] ?[Dd]efault[: ]\s*([\w/ ]+?)\s*[).]", part)
        found[part[1]] = re.match(r"-\w, (--[\w-]+)", part)[1], default[1] if default else ""
    return found
