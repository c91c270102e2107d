"""The programs of scripts/measure/compare-programs: packages, input, and what of the output is the answer."""

import re
from dataclasses import dataclass, field

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[EeDd][-+]?\d+)?"
SCALAPACK = "/usr/lib/x86_64-linux-gnu/scalapack"
COARRAYS = "/usr/lib/x86_64-linux-gnu/open-coarrays/mpich/bin/OpenCoarrays-2.10.1-tests"


def lines(pattern, *, count=None):
    """An answer: the words of all lines that match, or of the last `count` of them."""
    def answer(text):
        found = [line for line in text.splitlines() if re.search(pattern, line)]
        return [word for line in (found[-count:] if count else found) for word in line.split()]
    return answer


def numbers(pattern):
    """An answer: what the groups of a pattern match."""
    def answer(text):
        found = re.findall(pattern, text)
        return [w for f in found for w in (f if isinstance(f, tuple) else (f,))]
    return answer


@dataclass
class Program:
    """One program with its input."""

    name: str
    # The MPI that it was built for: openmpi, mpich.
    abi: str
    # That of the program comes first.
    packages: list
    command: list
    answer: object
    # Files of the input; @RANKS@ is the number of ranks.
    files: dict = field(default_factory=dict)
    # Commands that make the rest of the input.
    before: list = field(default_factory=list)
    # Files whose text is part of the output.
    results: list = field(default_factory=list)
    # How far numbers of equal answers may be apart, relative.
    tolerance: float = 0.0
    # Numbers of ranks that it takes; none: any.
    ranks: tuple = ()
    # Ranks of the run with its own MPI, where that fails with more; 0: as many as with Catena.
    own_ranks: int = 0
    # Exit statuses of a run that went well.
    status: tuple = (0,)


LJ = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 20 0 20 0 20
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
thermo 50
run 1000
"""
HPCC = """HPLinpack benchmark input file
none
HPL.out      output file name (if any)
8            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
2500         Ns
1            # of NBs
64           NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
2            Ps
1            Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
0            Number of additional problem sizes for PTRANS
1200         values of N
0            number of additional blocking sizes for PTRANS
40           values of NB
"""
SILICON = """&control
 calculation='scf', prefix='si', pseudo_dir='/usr/share/espresso/pseudo', outdir='.', tprnfor=.true.
/
&system
 ibrav=2, celldm(1)=10.2, nat=2, ntyp=1, ecutwfc=30.0
/
&electrons
 conv_thr=1.0d-9
/
ATOMIC_SPECIES
 Si 28.086 Si.pz-vbc.UPF
ATOMIC_POSITIONS alat
 Si 0.00 0.00 0.00
 Si 0.25 0.25 0.25
K_POINTS automatic
 4 4 4 1 1 1
"""
ALUMINIUM = """tasks
  0

avec
  1.0  1.0  0.0
  1.0  0.0  1.0
  0.0  1.0  1.0

scale
  3.8267

sppath
  '/usr/share/elk-lapw/species/'

atoms
  1
  'Al.in'
  1
  0.0  0.0  0.0    0.0  0.0  0.0

ngridk
  4  4  4

vkloff
  0.5  0.5  0.5
"""
# As ScaLAPACK's own LU.dat and LLT.dat, with larger matrices and a grid of all ranks. Iterative
# refinement is not tested: there ranks have been seen in different steps of PDGERFS, where they wait for
# each other in different collectives. With Debian's Open MPI 4.1.4 that was so in 6 of 16 runs of xdlu.
LU = """'ScaLAPACK, LU factorization input file'
'MPI Machine'
'out'
6
2
500 1000
500 1000
2
16 32
1
3
1
3
1
1
@RANKS@
1.0
F
"""
LLT = """'ScaLAPACK, LLt factorization input file'
'MPI machine'
'out'
6
'U'
2
500 1000
2
16 32
1
3
1
3
1
1
@RANKS@
3.0
F
"""
MDP = """integrator = md
dt = 0.002
nsteps = 3000
nstenergy = 50
nstlog = 50
cutoff-scheme = Verlet
coulombtype = PME
rcoulomb = 0.9
rvdw = 0.9
fourierspacing = 0.12
tcoupl = no
pcoupl = no
constraints = none
gen-vel = yes
gen-seed = 17
continuation = no
"""
TOPOLOGY = """#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spc.itp"
[ system ]
water
[ molecules ]
"""
PYTHON = """from mpi4py import MPI
import array
comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
total = 0.0
for i in range(15000):
    a = array.array('d', [rank + i] * 64)
    b = array.array('d', [0.0] * 64)
    comm.Allreduce(a, b)
    got = comm.sendrecv({'i': i, 'from': rank}, dest=(rank + 1) % size, source=(rank - 1) % size)
    total += b[0] + got['from']
everybody = comm.gather(total)
if rank == 0:
    print('result', everybody)
"""
WATER = """start water
memory total 400 mb
geometry units angstrom noautosym noautoz
 O 0.0 0.0 0.119
 H 0.0 0.763 -0.477
 H 0.0 -0.763 -0.477
 O 0.0 2.9 0.119
 H 0.0 3.663 -0.477
 H 0.0 2.137 -0.477
end
basis
 * library 6-31g*
end
task scf energy
task dft energy
task mp2 energy
"""
YORICK = """func ring(n)
{
  a = array(double(mp_rank), 1000);
  s = 0.;
  to = (mp_rank + 1) % mp_size;
  from = (mp_rank + mp_size - 1) % mp_size;
  for (i = 1; i <= n; i++) {
    mp_send, to, a;
    s += sum(mp_recv(from));
  }
  return s;
}
mine = ring(30000);
write, format="result %ld %.1f\\n", mp_rank, mine;
"""


def scalapack(abi):
    """ScaLAPACK's testers for an MPI."""
    verdicts = lines(r"tests completed|tests were|^WALL.*(PASSED|FAILED)")
    # Times and rates stand in the middle of a line.
    def short(text):
        return [w for w in verdicts(re.sub(r"\d+\.\d+", "", text))]
    folder = f"{SCALAPACK}/{abi}-tests"
    package = ["scalapack-mpi-test"]
    passed = numbers(r"TESTS:\s+(\d+) TESTS;\s+(\d+) PASSED,\s+(\d+) SKIPPED,\s+(\d+) FAILED")
    blacs = [f"cp {folder}/BLACS/*.dat ."]
    return [
        Program(f"scalapack-lu-{abi}", abi, package, [f"{folder}/xdlu"], short, {"LU.dat": LU}),
        Program(f"scalapack-llt-{abi}", abi, package, [f"{folder}/xdllt"], short, {"LLT.dat": LLT}),
        # Its last test is that BLACS_ABORT ends the job.
        Program(f"blacs-fortran-{abi}", abi, package, [f"{folder}/xFbtest"], passed, before=blacs,
                status=tuple(range(256)), ranks=(4,)),
        Program(f"blacs-c-{abi}", abi, package, [f"{folder}/xCbtest"], passed, before=blacs,
                status=tuple(range(256)), ranks=(4,)),
    ]


def coarrays(name, answer, ranks=()):
    """One of OpenCoarrays' own tests."""
    return Program(f"coarrays-{name}", "mpich", ["libcoarrays-mpich-dev"], [f"{COARRAYS}/{name}"], answer, ranks=ranks)


PROGRAMS = [
    # Up to step 600. Then digits depend on the order of the sums by which velocities are scaled at the start:
    # with Open MPI's own two ways of MPI_Allreduce (linear, recursive doubling) they do from step 700 on.
    Program("lammps", "openmpi", ["lammps"], ["lmp", "-in", "in.lj", "-log", "none"],
            lines(r"^ +(?:0|50|[1-5][05]0|600)(?: +-?[\d.]+){5} *$"), {"in.lj": LJ}),
    Program("gromacs", "openmpi", ["gromacs"], ["gmx_mpi", "mdrun", "-s", "w.tpr", "-ntomp", "1", "-nb", "cpu",
            "-reprod", "-dlb", "no", "-npme", "0", "-notunepme", "-pin", "off"],
            numbers(rf"Total Energy.*\n +({NUMBER})"), {"w.mdp": MDP, "w.top": TOPOLOGY},
            ["gmx solvate -cs spc216 -box 3.2 3.2 3.2 -o w.gro -p w.top",
             "gmx grompp -f w.mdp -c w.gro -p w.top -o w.tpr -maxwarn 5"], ["md.log"], 3e-3),
    Program("hpcc", "openmpi", ["hpcc"], ["hpcc"], numbers(r"(Success=\d|HPL_[NR]\w*=\d+|PTRANS_residual=\S+)"),
            {"hpccinf.txt": HPCC}, results=["hpccoutf.txt"]),
    Program("netpipe-openmpi", "openmpi", ["netpipe-openmpi"], ["sh", "-c", "exec NPopenmpi -p 0 -u 1024 2>&1"],
            numbers(r"(\d+) bytes +\d+ times"), ranks=(2,)),
    Program("espresso", "openmpi", ["quantum-espresso", "quantum-espresso-data"], ["pw.x", "-in", "si.in"],
            numbers(rf"!    total energy += +({NUMBER})|Total force = +({NUMBER})"), {"si.in": SILICON},
            tolerance=1e-7),
    Program("elk", "openmpi", ["elk-lapw"], ["elk-lapw"], numbers(rf"total energy +: +({NUMBER})"),
            {"elk.in": ALUMINIUM}, results=["INFO.OUT"], tolerance=1e-6),
    Program("mumps", "openmpi", ["mumps-test"],
            ["sh", "-c", "exec /usr/lib/mumps/dsimpletest </usr/lib/mumps/input_simpletest_real"],
            numbers(rf"Solution is *((?:{NUMBER} *)+)")),
    Program("phyml", "openmpi", ["phyml"],
            ["phyml-mpi", "-i", "seqs", "-b", "40", "--r_seed", "1", "--no_memory_check", "-o", "n"],
            # Its files are not an answer: each rank empties them when it starts.
            numbers(r"Log likelihood of the current tree: +(\S+)\."), before=["head -n 25 /usr/share/doc/phyml/examples/nucleic | "
            "sed '1s/.*/24 60/' >seqs"]),
    Program("puzzle", "openmpi", ["tree-ppuzzle"], ["sh", "-c", "echo y | exec tree-ppuzzle -randseed1 seqs"],
            lines(r"log likelihood|^\("), {}, ["head -n 13 /usr/share/doc/phyml/examples/nucleic | sed '1s/.*/12 60/' >seqs"],
            # With more, the trees come in the order in which ranks are done.
            ["seqs.puzzle"], ranks=(2,)),
    Program("mpi4py", "openmpi", ["python3-mpi4py"], ["python3", "loop.py"], lines("^result"),
            {"loop.py": PYTHON}),
    *scalapack("openmpi"),
    Program("netpipe-mpich", "mpich", ["netpipe-mpich2"], ["sh", "-c", "exec NPmpich2 -p 0 -u 1024 2>&1"],
            numbers(r"(\d+) bytes +\d+ times"), ranks=(2,)),
    *scalapack("mpich"),
    # With MPICH 4.0.2 its SCF does not converge on two ranks: the energy is that of a wrong Fock matrix.
    Program("nwchem", "mpich", ["nwchem-mpich", "nwchem-data"], ["nwchem.mpich", "water.nw"],
            numbers(rf"Total (?:SCF|DFT|MP2) energy =? *({NUMBER})"), {"water.nw": WATER}, tolerance=1e-8,
            own_ranks=1),
    Program("bagel", "mpich", ["bagel"], ["BAGEL", "benzene.json"],
            numbers(rf"MP2 total energy: +({NUMBER})|^ +\d+ +({NUMBER}) +0\.00000000 "),
            before=["cp /usr/share/doc/bagel/examples/benzene_svp_mp2.json benzene.json"], tolerance=1e-8),
    # The photons of a rank are drawn from the clock.
    Program("mocassin", "mpich", ["mocassin", "mocassin-data", "mocassin-benchmarks"], ["mocassin"],
            numbers(rf"Total energy radiated out of the nebula \[e36 erg/s\]: +({NUMBER})|(clean exit)"),
            before=["cp -r /usr/share/mocassin/benchmarks/dust/1D/p0tau1 input; mkdir output; "
                    "sed -i 's/^nPhotons.*/nPhotons 50000/; s/^autoPackets.*//; s/^maxIterateMC.*/maxIterateMC 3 99./' input/input.in; "
                    "ln -s /usr/share/mocassin/data data; ln -s /usr/share/mocassin/dustData dustData"],
            tolerance=1e-2),
    Program("yorick", "mpich", ["yorick-mpy-mpich2", "yorick"], ["mpy.mpich2", "-j", "ring.i"],
            # The ranks print in any order.
            lambda text: sorted(re.findall(r"result (\d+ [\d.]+)", text)), ranks=(2,),
            files={"ring.i": YORICK}),
    coarrays("coarray_burgers_pde", lines("passed|PASS"), (2,)),
    coarrays("co_sum_test", lines("passed|PASS")),
    coarrays("co_reduce_test", lines("passed|PASS")),
]
