"""Writes docs/qualification.md from the results of scripts/qualify."""

from tally import FAILED, OUTCOMES, SKIPPED, Tally

SUITES = {
    "c": "Catena's own C tests (`tests/c`)",
    "mpi4py": "the tests of mpi4py",
    "mpich-suite": "the test suite of MPICH",
    "mpich-suite-mpich": "the same suite, built with MPICH's own mpicc",
    "mpich-suite-openmpi": "the same suite, built with Open MPI's mpicc",
    "mpich-fortran": "the test suite of MPICH in Fortran",
    "romio": "the test programs of ROMIO, MPICH's MPI-IO",
    "hdf5": "the parallel tests of HDF5, and h5py",
    "files-large": "3 GiB in one call of each form (`tests/c/io/files_large.c`)",
    "files-random": "random programs with files against a naive model (`tests/c/io/files_mixed.c`)",
    "osu": "the OSU micro-benchmarks, with validation of the data",
    "imb": "the Intel MPI Benchmarks",
    "fabtests": "libfabric's own tests, over `liblinkx-fi.so`",
    "launchers": "C tests under the launchers of other MPI libraries and of Slurm",
    "hangs": "jobs that hang under each launcher: who is named first (`tests/c/faults/hangs.c`)",
    "mrbayes": "MrBayes: the same trees as with MPICH",
    "cycles": "10,000 times spawn, talk and part, and as often connect: nothing grows",
    "waits": "ranks that wait long beside busy strangers, and in jobs that are stopped (`tests/c/faults/long_waits.c`)",
    "deaths": "random schedules of ranks that die, by seed (`scripts/deaths`)",
    "deaths-in-calls": "random moments of death in windows, files, neighbourhoods, partitions and the rest (`scripts/deaths --calls`)",
    "deaths-in-jobs": "random deaths among processes that spawn others, talk to them and connect (`scripts/deaths --jobs`)",
    "ulfm": "the tests of ULFM's authors (ulfm-testing)",
    "fenix": "the tests and examples of Fenix, which recovers from deaths with spare ranks",
    "windows": "10,000 windows alive, and 100,000 created and freed (`tests/c/rma/windows_many.c`)",
    "verdicts": "whether `catena bench compare` judges truly (`scripts/measure/test-verdicts`)",
}
NAMED = 4  # tests that a line names before it only counts


def counts(record):
    outcomes = [outcome for outcome, *_ in record["tests"].values()]
    return [outcomes.count(o) for o in OUTCOMES]


def where(record):
    return f"{record['transport']}, {record['ranks']} ranks"


def cell(text, longest=300):
    """Text of others, as one cell or item: no markup of theirs."""
    text = " ".join(text.split())
    text = text if len(text) <= longest else text[:longest] + " …"
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def head(records):
    machines = sorted({record["machine"] for record in records})
    commits = sorted({record["commit"] for record in records})
    loads = sorted(record["load"] for record in records)
    dates = sorted(record["date"] for record in records)
    tally = Tally()
    for record in records:
        for test, (outcome, reason, *_) in record["tests"].items():
            tally.add(f"{record['suite']} {test}", outcome, reason)
    passed, failed, skipped = (tally.counts[o] for o in OUTCOMES)
    executions = sum(record["executions"] for record in records)
    return [
        "# Qualification", "",
        "What the larger clients of MPI find in Catena. `make qualify` writes this page; do not edit it.",
        "",
        f"**{passed} tests passed, {failed} failed, {skipped} skipped**, in {executions} executions. "
        "Here a test counts once, over whatever transports and on whatever numbers of ranks it ran; it "
        "failed if it did so anywhere, and was skipped if it ran nowhere. In the table it counts in "
        "each row.", "",
        f"- commit: {', '.join(commits)}",
        f"- date: {dates[0]}" + (f" to {dates[-1]}" if dates[-1] != dates[0] else ""),
        *(f"- machine: {cell(machine)}" for machine in machines),
        f"- load of the machine when a row began: {loads[0]} to {loads[-1]}", ""]


def table(records):
    several = len({record["commit"] for record in records}) > 1
    lines = ["| suite | transport | ranks | passed | failed | skipped | seconds |"
             + (" commit |" if several else ""), "|---|---|---|--:|--:|--:|--:|" + ("---|" * several)]
    for record in records:
        passed, failed, skipped = counts(record)
        lines.append(f"| {record['suite']} | {record['transport']} | {record['ranks']} | {passed} | "
                     f"{f'**{failed}**' if failed else 0} | {skipped} | {record['seconds']:.0f} |"
                     + (f" {record['commit']} |" if several else ""))
    lines.append("")
    for name in dict.fromkeys(record["suite"] for record in records):
        with_what = dict.fromkeys(w for r in records if r["suite"] == name for w in r["tested_with"])
        lines.append(f"- **{name}**: {SUITES[name]}" + "".join(f"; {cell(w)}" for w in with_what))
    return [*lines, ""]


def failures(records):
    """A test that failed, where and why: once for all of its rows."""
    found = {}
    for record in records:
        for test, (outcome, reason, *_) in record["tests"].items():
            if outcome == FAILED:
                found.setdefault((record["suite"], test), []).append((where(record), reason))
    lines = ["## Failed", ""] + ([] if found else ["Nothing.", ""])
    for (suite, test), places in found.items():
        lines.append(f"- **{suite}** {cell(test)} ({'; '.join(p for p, _ in places)}): "
                     f"{cell(places[0][1])}")
    return [*lines, ""] if found else lines


def skips(records):
    """The tests that ran in no row, by reason."""
    ran, reasons = set(), {}
    for record in records:
        for test, (outcome, reason, *_) in record["tests"].items():
            if outcome == SKIPPED:
                reasons.setdefault((record["suite"], test), reason)
            else:
                ran.add((record["suite"], test))
    by_reason = {}
    for (suite, test), reason in reasons.items():
        if (suite, test) not in ran:
            by_reason.setdefault((suite, reason), []).append(test)
    lines = ["## Skipped", "", "Tests that ran in none of the rows, with the reasons that the clients give.",
             ""]
    for (suite, reason), tests in by_reason.items():
        named = ", ".join(tests[:NAMED]) + (", …" if len(tests) > NAMED else "")
        lines.append(f"- **{suite}** {cell(reason)}: {len(tests)} ({cell(named)})")
    return [*lines, ""]


def left_out(records):
    lines = ["## Left out", "", "What is not run of a client's suite; these declarations stand beside the "
             "scripts in `scripts/clients`.", ""]
    for name in dict.fromkeys(record["suite"] for record in records):
        for text in dict.fromkeys(t for r in records if r["suite"] == name for t in r["left_out"]):
            lines.append(f"- **{name}** {cell(text)}")
    return [*lines, ""]


def document(records):
    """The page, from the newest record of each part in the order of the table."""
    parts = [head(records), table(records), failures(records), skips(records), left_out(records)]
    return "\n".join(line for part in parts for line in part).rstrip() + "\n"
