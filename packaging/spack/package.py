# The recipe of Catena for Spack, version 1.0 or newer: put this folder, as `catena`, into the
# packages of a repository of your own, and build what is checked out:
#   spack develop --path /path/to/catena catena@main && spack install catena
from spack_repo.builtin.build_systems.generic import Package

from spack.package import *


class Catena(Package):
    """Catena is an MPI library with the standard ABI of MPI 5.0 (libmpi_abi.so.1), and its
    launcher. libfabric, UCX and PMIx are opened at run time, so it depends on none of them."""

    license("Apache-2.0", checked_by="catena")

    version("main")

    provides("mpi@:5.0")

    depends_on("c", type=("build", "run"))
    depends_on("cxx", type=("build", "run"))
    depends_on("fortran", type=("build", "run"))
    depends_on("rust@1.90:", type="build")
    depends_on("gmake", type="build")

    requires("platform=linux", msg="Catena runs on Linux")

    def install(self, spec, prefix):
        make("install", f"PREFIX={prefix}")

    def setup_run_environment(self, env):
        env.set("MPICC", join_path(self.prefix.bin, "mpicc"))
        env.set("MPICXX", join_path(self.prefix.bin, "mpicxx"))
        env.set("MPIF77", join_path(self.prefix.bin, "mpif77"))
        env.set("MPIF90", join_path(self.prefix.bin, "mpif90"))

    def setup_dependent_build_environment(self, env, dependent_spec):
        self.setup_run_environment(env)
        # The wrappers take the compilers of the dependent package.
        module = dependent_spec.package.module
        for variable, name in (("CC", "spack_cc"), ("CXX", "spack_cxx"), ("FC", "spack_fc")):
            if hasattr(module, name):
                env.set(f"CATENA_{variable}", getattr(module, name))

    def setup_dependent_package(self, module, dependent_spec):
        self.spec.mpicc = join_path(self.prefix.bin, "mpicc")
        self.spec.mpicxx = join_path(self.prefix.bin, "mpicxx")
        self.spec.mpifc = join_path(self.prefix.bin, "mpif90")
        self.spec.mpif77 = join_path(self.prefix.bin, "mpif77")
