"""More programs of scripts/measure/compare-programs: those in C++, and Python modules with MPI in them."""

from programs import NUMBER, PROGRAMS, Program, lines, numbers

PETSC = """import petsc4py
petsc4py.init(['petsc'])
from petsc4py import PETSc
n = 200
a = PETSc.Mat().createAIJ([n * n, n * n], nnz=5)
a.setUp()
first, last = a.getOwnershipRange()
for row in range(first, last):
    i, j = divmod(row, n)
    a[row, row] = 4.0
    for k, l in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
        if 0 <= k < n and 0 <= l < n:
            a[row, k * n + l] = -1.0
a.assemble()
x, b = a.createVecs()
b.set(1.0)
ksp = PETSc.KSP().create()
ksp.setOperators(a)
ksp.setType('cg')
ksp.getPC().setType('jacobi')
ksp.setTolerances(rtol=1e-10)
ksp.solve(b, x)
PETSc.Sys.Print(f'ranks {PETSc.COMM_WORLD.getSize()} steps {ksp.getIterationNumber()} norm {x.norm():.9e}')
"""
SLEPC = """import slepc4py
slepc4py.init(['slepc'])
from slepc4py import SLEPc
from petsc4py import PETSc
n = 2000
a = PETSc.Mat().createAIJ([n, n], nnz=3)
a.setUp()
first, last = a.getOwnershipRange()
for row in range(first, last):
    a[row, row] = 2.0 + row / n
    for other in (row - 1, row + 1):
        if 0 <= other < n:
            a[row, other] = -1.0
a.assemble()
eps = SLEPc.EPS().create()
eps.setOperators(a)
eps.setProblemType(SLEPc.EPS.ProblemType.HEP)
eps.setDimensions(4)
eps.setTolerances(1e-10, 10000)
eps.solve()
values = ' '.join(f'{eps.getEigenvalue(i).real:.8f}' for i in range(4))
PETSc.Sys.Print(f'ranks {PETSc.COMM_WORLD.getSize()} eigenvalues {values}')
"""
H5PY = """from mpi4py import MPI
import h5py
import numpy
comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
with h5py.File('x.h5', 'w', driver='mpio', comm=comm) as f:
    x = f.create_dataset('x', (size, 100000), 'f8')
    with x.collective:
        x[rank] = numpy.arange(100000) * (rank + 1)
with h5py.File('x.h5', 'r', driver='mpio', comm=comm) as f:
    part = f['x'][:, rank::size].sum()
total = comm.allreduce(part)
if rank == 0:
    print('parallel', h5py.get_config().mpi, 'ranks', size, 'sum', total)
"""
FFT = """import numpy
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray
fft = PFFT(MPI.COMM_WORLD, [64, 64, 64], axes=(0, 1, 2), dtype=float)
u = newDistArray(fft, False)
i = numpy.indices(u.shape).sum(axis=0)
u[:] = numpy.sin(sum(x + s.start for x, s in zip(numpy.indices(u.shape), u.local_slice())) / 7.0)
before = u.copy()
for _ in range(20):
    there = fft.forward(u)
    u = fft.backward(there, u)
power = MPI.COMM_WORLD.allreduce(float((numpy.abs(there) ** 2).sum()))
error = MPI.COMM_WORLD.allreduce(float(numpy.abs(u - before).max()), MPI.MAX)
if MPI.COMM_WORLD.rank == 0:
    print(f'ranks {MPI.COMM_WORLD.size} power {power:.8e} back {error < 1e-12}')
"""
MEEP = """import meep as mp
guide = mp.Block(mp.Vector3(mp.inf, 1, mp.inf), center=mp.Vector3(), material=mp.Medium(epsilon=12))
source = mp.Source(mp.ContinuousSource(frequency=0.15), component=mp.Ez, center=mp.Vector3(-7, 0))
sim = mp.Simulation(cell_size=mp.Vector3(16, 8, 0), boundary_layers=[mp.PML(1.0)], geometry=[guide], sources=[source],
                    resolution=16)
sim.run(until=100)
fields = [sim.get_field_point(mp.Ez, mp.Vector3(x, 0)).real for x in (-3, 0, 3)]
if mp.am_master():
    print('ranks', mp.count_processors(), 'fields', ' '.join(f'{x:.8f}' for x in fields))
"""
GPAW = """from ase import Atoms
from gpaw import GPAW, PW
from gpaw.mpi import world
molecule = Atoms('H2', positions=[(0, 0, 0), (0, 0, 0.74)])
molecule.center(vacuum=2.5)
molecule.calc = GPAW(mode='fd', h=0.22, txt=None)
energy = molecule.get_potential_energy()
if world.rank == 0:
    print(f'ranks {world.size} energy {energy:.6f}')
"""
CP2K = """&GLOBAL
  PROJECT water
  RUN_TYPE ENERGY_FORCE
  PRINT_LEVEL LOW
&END GLOBAL
&FORCE_EVAL
  METHOD Quickstep
  &DFT
    BASIS_SET_FILE_NAME GTH_BASIS_SETS
    POTENTIAL_FILE_NAME POTENTIAL
    &MGRID
      CUTOFF 200
    &END MGRID
    &QS
      EPS_DEFAULT 1.0E-10
    &END QS
    &SCF
      MAX_SCF 40
      EPS_SCF 1.0E-7
      SCF_GUESS ATOMIC
    &END SCF
    &XC
      &XC_FUNCTIONAL Pade
      &END XC_FUNCTIONAL
    &END XC
  &END DFT
  &SUBSYS
    &CELL
      ABC 6.0 6.0 6.0
    &END CELL
    &COORD
      O 0.000000 0.000000 -0.065587
      H 0.000000 -0.757136 0.520545
      H 0.000000 0.757136 0.520545
    &END COORD
    &KIND H
      BASIS_SET DZVP-GTH
      POTENTIAL GTH-PADE-q1
    &END KIND
    &KIND O
      BASIS_SET DZVP-GTH
      POTENTIAL GTH-PADE-q6
    &END KIND
  &END SUBSYS
&END FORCE_EVAL
"""
FREEFEM = """int nn = 60;
mesh Th = square(nn, nn);
fespace Vh(Th, P1);
Vh u, v;
real mine = 0, all = 0;
// Each rank solves its share of the problems.
for (int k = mpirank; k < 8; k += mpisize) {
    solve Poisson(u, v) = int2d(Th)(dx(u)*dx(v) + dy(u)*dy(v)) - int2d(Th)((k + 1)*v) + on(1, 2, 3, 4, u = 0);
    mine += int2d(Th)(u);
}
mpiAllReduce(mine, all, mpiCommWorld, mpiSUM);
real[int] row(1000);
row = mpirank;
broadcast(processor(mpisize - 1), row);
if (mpirank == 0) cout << "ranks " << mpisize << " integral " << all << " row " << row.sum << endl;
"""
DOLFINX = """from mpi4py import MPI
from petsc4py.PETSc import ScalarType
import numpy
import ufl
from dolfinx import fem, mesh
from dolfinx.fem.petsc import LinearProblem
comm = MPI.COMM_WORLD
square = mesh.create_unit_square(comm, 120, 120)
space = fem.FunctionSpace(square, ('Lagrange', 2))
on_edge = lambda x: numpy.isclose(x[0], 0) | numpy.isclose(x[0], 1)
edge = mesh.locate_entities_boundary(square, 1, on_edge)
fixed = fem.dirichletbc(ScalarType(0), fem.locate_dofs_topological(space, 1, edge), space)
u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
source = fem.Constant(square, ScalarType(6))
problem = LinearProblem(ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx, source * v * ufl.dx, bcs=[fixed],
                        petsc_options={'ksp_type': 'cg', 'pc_type': 'jacobi', 'ksp_rtol': 1e-10})
solution = problem.solve()
integral = comm.allreduce(fem.assemble_scalar(fem.form(solution * ufl.dx)))
if comm.rank == 0:
    print(f'ranks {comm.size} cells {square.topology.index_map(2).size_global} integral {integral:.9f}')
"""
# The pseudopotential of Goedecker, Teter and Hutter (1996).
HYDROGEN = """Hydrogen
1 1 960508
2 1 0 0 2001 0
0.2 -4.180237 0.725075 0 0
0 0 0
0 0
"""
ABINIT = """pseudos "h.psp"
acell 8 7 7
ntypat 1
znucl 1
natom 2
typat 1 1
xcart -0.7 0 0  0.7 0 0
ecut 12
nband 2
kptopt 1
ngkpt 4 4 4
nshiftk 1
shiftk 0.5 0.5 0.5
nstep 20
toldfe 1e-9
"""
DECOMPOSE = """FoamFile { version 2.0; format ascii; class dictionary; object decomposeParDict; }
numberOfSubdomains @RANKS@;
method simple;
simpleCoeffs { n (@RANKS@ 1 1); delta 0.001; }
"""
CAVITY = "/usr/share/doc/openfoam-examples/examples/incompressible/icoFoam/cavity/cavity"


def python(*kinds):
    """Python with the modules of PETSc and SLEPc, which Debian has in folders of their own."""
    folders = [f"/usr/lib/{kind}dir/{kind}3.18/x86_64-linux-gnu-real/lib/python3/dist-packages" for kind in kinds]
    return ["env", "PYTHONPATH=" + ":".join(folders), "python3"]


PROGRAMS = [
    *PROGRAMS,
    Program("petsc4py", "openmpi", ["python3-petsc4py"], [*python("petsc"), "laplace.py"], lines("^ranks"),
            {"laplace.py": PETSC}, tolerance=1e-8),
    Program("slepc4py", "openmpi", ["python3-slepc4py"], [*python("petsc", "slepc"), "values.py"], lines("^ranks"),
            {"values.py": SLEPC}, tolerance=1e-7),
    # The first run compiles, which counts in no other.
    Program("dolfinx", "openmpi", ["python3-dolfinx"], [*python("petsc"), "poisson.py"], lines("^ranks"),
            {"poisson.py": DOLFINX}, [" ".join([*python("petsc"), "poisson.py"])], tolerance=1e-7),
    Program("h5py", "openmpi", ["python3-h5py-mpi"], ["python3", "parallel.py"], lines("^parallel"),
            {"parallel.py": H5PY}),
    Program("mpi4py-fft", "openmpi", ["python3-mpi4py-fft"], ["python3", "fft.py"], lines("^ranks"),
            {"fft.py": FFT}, tolerance=1e-7),
    Program("meep", "openmpi", ["python3-meep-openmpi"], ["python3", "guide.py"], lines("^ranks"),
            {"guide.py": MEEP}, tolerance=1e-6),
    Program("gpaw", "openmpi", ["gpaw"], ["python3", "molecule.py"], lines("^ranks"),
            {"molecule.py": GPAW}, tolerance=1e-5),
    Program("cp2k", "openmpi", ["cp2k"], ["cp2k", "-i", "water.inp"],
            numbers(rf"Total FORCE_EVAL \( QS \) energy \[a\.u\.\]: +({NUMBER})"), {"water.inp": CP2K}, tolerance=1e-8),
    Program("abinit", "openmpi", ["abinit"], ["abinit", "h2.abi"],
            numbers(rf"etotal\d* +({NUMBER})"), {"h2.abi": ABINIT, "h.psp": HYDROGEN}, results=["h2.abo"], tolerance=1e-8),
    # Those from here on need libmpi_cxx.so.40, or load their MPI late.
    Program("ray", "openmpi", ["ray"], ["Ray", "-k", "31", "-p", "a.fastq", "b.fastq", "-o", "out"],
            numbers(r"(?:Number|Total length|Average|N50|Median|Largest): (\d+)"),
            before=[f"zcat /usr/share/doc/ray/test_data/ecoli_1K_{n}.fq.gz | head -n 2000 >{name}.fastq"
                    for n, name in ((1, "a"), (2, "b"))], results=["out/OutputNumbers.txt"], ranks=(2,)),
    Program("freefem", "openmpi", ["freefem++"], ["FreeFem++-mpi", "-nw", "-v", "0", "poisson.edp"], lines("^ranks"),
            {"poisson.edp": FREEFEM}, tolerance=1e-5),
    Program("openfoam", "openmpi", ["openfoam", "openfoam-examples"],
            ["env", "WM_PROJECT_DIR=/usr/share/openfoam", "icoFoam", "-parallel"],
            # The last residuals depend on the order of sums.
            numbers(r"(?m)^Time = ([\d.]+)|Courant Number mean: (\S+) max: (\S+)"),
            {"decomposeParDict": DECOMPOSE},
            [f"cp -r {CAVITY}/* . && mv decomposeParDict system && gunzip -rf . && "
             "export WM_PROJECT_DIR=/usr/share/openfoam && blockMesh && decomposePar"],
            tolerance=1e-4),
    Program("examl", "openmpi", ["examl"],
            ["/usr/lib/examl/bin/examl-sse3", "-t", "49.tree", "-m", "GAMMA", "-s", "49.binary", "-n", "T"],
            numbers(r"Likelihood of best tree: +(\S+)|Likelihood\s*: +(\S+)"),
            before=["zcat /usr/share/doc/examl/testData/49.gz >49; cp /usr/share/doc/examl/testData/49.tree .; "
                    "parse-examl -s 49 -m DNA -n 49"], tolerance=1e-6),
]
