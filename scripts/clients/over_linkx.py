"""Has another MPI library run over the provider liblinkx-fi.so (docs/linkx.md), and proves that it did.

    --over LIBRARY=PLACE    openmpi, mpich or intel, and where scripts/peers has put it
    --hosts                 on two hosts that this machine plays (scripts/hosts)

Libraries take another provider in silence where one does not suit them. So each endpoint tells at its end what it has
sent (FI_LINKX_REPORT), and a run of which no rank tells that has failed.
"""

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
AGENT = ROOT / "scripts/hosts"
REPORT = re.compile(r"linkx: process (\d+): endpoint over \S+: (\d+) messages sent, (\d+) packets over networks, "
                    r"\d+ messages received, (\d+) operations on memory of others")

OPENMPI = {"OMPI_MCA_pml": "cm", "OMPI_MCA_mtl": "ofi", "OMPI_MCA_opal_common_ofi_provider_include": "linkx",
           # Windows, too: on one host the library would use its own shared memory, and UCX elsewhere.
           "OMPI_MCA_osc": "^sm,ucx", "OMPI_MCA_mpi_yield_when_idle": "1"}
OPENMPI |= {f"{name}_ALLOW_RUN_AS_ROOT{end}": "1" for name in ("PRTE", "OMPI") for end in ("", "_CONFIRM")}
MPICH = {"FI_PROVIDER": "linkx", "MPIR_CVAR_CH4_NETMOD": "ofi", "MPIR_CVAR_NOLOCAL": "1"}
INTEL = {"FI_PROVIDER": "linkx", "I_MPI_FABRICS": "ofi", "I_MPI_OFI_PROVIDER": "linkx", "I_MPI_OFI_LIBRARY_INTERNAL": "0",
         "I_MPI_PIN": "0"}


def options_of(parser):
    """Adds what is to be said of a library to the options of a script."""
    parser.add_argument("--over", metavar="LIBRARY=PLACE",
                        help="run another library over linkx: openmpi, mpich or intel, where scripts/peers has put it")
    parser.add_argument("--hosts", action="store_true", help="with --over: on two hosts that this machine plays")


@dataclass
class Over:
    """A library that runs over linkx."""

    # Whose compiler makes its programs, which compiler that is, and the command that starts ranks, which -n follows.
    compiler: str
    mpicc: Path
    launcher: list
    environment: dict
    are_apart: bool

    def lacks(self, text, ranks, moves=True):
        """Why what a job has said does not prove that its ranks sent what they sent over linkx; empty if it does."""
        told = [tuple(map(int, counts)) for counts in REPORT.findall(text)]
        processes = {process for process, *_ in told}
        if len(processes) < ranks:
            return f"{len(processes)} processes tell of endpoints of linkx, of {ranks} ranks"
        if moves and ranks > 1 and not any(sent + remote for _, sent, _, remote in told):
            return "no endpoint of linkx has sent anything"
        if moves and ranks > 1 and self.are_apart and not any(packets for _, _, packets, _ in told):
            return "no endpoint of linkx has sent anything to the other host"
        return ""


def messages(text):
    """The messages and operations on memory that the endpoints of a job tell of."""
    return sum(int(sent) + int(remote) for _, sent, _, remote in REPORT.findall(text))


def without(text):
    """What a job said, without what the endpoints tell."""
    return "\n".join(line for line in text.splitlines() if not REPORT.search(line))


def over(options):
    """The library that the options name; none, if none. Its environment is set for all that is started from now on."""
    if not options.over:
        if options.hosts:
            sys.exit("--hosts is for --over LIBRARY=PLACE")
        return None
    name, _, place = options.over.partition("=")
    place, library = Path(place).resolve(), Path(options.prefix).resolve() / "lib/catena/libfabric"
    if name not in ("openmpi", "mpich", "intel") or not (place / "bin/mpiexec").exists():
        sys.exit(f"--over {options.over}: openmpi=PLACE, mpich=PLACE or intel=PLACE, where scripts/peers has put it")
    if not (library / "liblinkx-fi.so").exists():
        sys.exit(f"there is no liblinkx-fi.so in {library}: make install builds it")
    # Intel's package has no compiler; programs of MPICH's run with its library.
    compilers = place.parent / "mpich" if name == "intel" else place
    if not (compilers / "bin/mpicc").exists():
        sys.exit(f"--over {options.over}: there is no {compilers}/bin/mpicc: scripts/peers {place.parent} mpich makes it")
    environment = {"FI_PROVIDER_PATH": str(library), "FI_LINKX_REPORT": "1"}
    if "FI_LINKX_LINKS" in os.environ:
        environment["FI_LINKX_LINKS"] = os.environ["FI_LINKX_LINKS"]
    if name == "openmpi":
        environment |= OPENMPI
        launcher = [place / "bin/mpirun", "--map-by", "node:OVERSUBSCRIBE" if options.hosts else ":OVERSUBSCRIBE",
                    "--bind-to", "none"]
        launcher += ["--prefix", place, "--prtemca", "plm_ssh_agent", AGENT, "--host", "h0:9,h1:9",
                     "--leave-session-attached"] if options.hosts else []
        launcher += [word for key in environment if key.startswith("FI_") for word in ("-x", key)]
    else:
        environment |= MPICH if name == "mpich" else INTEL
        kind = "launcher" if name == "mpich" else "bootstrap"
        launcher = [place / "bin/mpiexec"]
        launcher += [f"-{kind}", "ssh", f"-{kind}-exec", AGENT, "-hosts", "h0,h1", "-ppn", "1"] if options.hosts else []
    if name == "intel":
        environment["LD_LIBRARY_PATH"] = str(place / "lib")
    os.environ.update(environment)
    launcher = [*([AGENT, "2"] if options.hosts else []), *launcher]
    return Over("mpich" if name == "intel" else name, compilers / "bin/mpicc", list(map(str, launcher)), environment, options.hosts)
