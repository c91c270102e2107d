//! What `mpirun --help` says.

/// Text for `--help`.
pub const HELP: &str = "\
usage: mpirun [options] program [arguments] [: [options] program [arguments]]...

Runs an MPI program, or any other, as several processes (ranks), on this host or
on others.

what to run
  -n, -np, -c N           number of ranks (default: one per available core, or
                          per slot of the hosts; 1 if there are several programs)
  -wdir, -wd DIR          working directory of the ranks
  :                       begins the next program; its ranks follow the last ones
  --pset NAME=RANKS       define a process set for MPI sessions, such as
                          workers=0-3,8; may be given several times

environment
  -x NAME[=VALUE]         give the ranks of this program a variable
  -env NAME VALUE         the same
  -genv NAME VALUE        the same, for all programs
  --set NAME=VALUE        set a configuration variable (see `catena info`)

input and output
  -l, --tag-output        begin each line with the rank that wrote it
      --prepend-rank      the same
  --stdin RANK            rank that reads standard input: a number (default 0)
                          or none; the others read nothing

hosts
  -H, --host, --hosts LIST
                          run on these: a:2,b:4 are two hosts with room (slots)
                          for 2 and for 4 ranks; without a number, for 1
  --hostfile, --machinefile, -f FILE
                          the same from lines HOST, HOST:N or HOST slots=N
  -ppn N                  N ranks on each host
  --launcher ssh|slurm|pals
                          what starts programs there (default: slurm in an
                          allocation of Slurm, whose hosts are taken if none are
                          named; else ssh, which must not ask for a password)
  --launcher-agent COMMAND
                          a command in place of ssh, called as COMMAND HOST
                          PROGRAM, or in place of srun or of PALS's mpiexec

placement
  --map-by WHAT           slot, core, l1cache, l2cache, l3cache, numa, package or
                          node: in turn; ppr:N:WHAT: N ranks on each; bunch,
                          scatter, hybrid:linear|compact|spread|numa; then :PE=K
                          for K cores a rank (default: OMP_NUM_THREADS, or 1).
                          By default each gets an equal share of its host's cores
  --rank-by WHAT          number ranks as mapped (slot), round the hosts (node),
                          or by what they are mapped to: fill, span
  --bind-to WHAT          none, hwthread, core, l1cache, l2cache, l3cache, numa or
                          package (default: what ranks are mapped by). Ranks with
                          more threads than there are cores are not bound
  --cpu-set, --cpu-list LIST
                          use these CPUs of each host only, such as 0-3,8
  --rankfile FILE         place rank by rank: rank 0=HOST slot=0-1
  --display WHAT          show the map, or map,bindings
      --report-bindings   the same as --display map,bindings
  --topology FILE         run nothing, but show the map for a machine of which
                          lstopo has written the FILE (XML)

control
  --timeout SECONDS       end everything after that time, with status 124
                          (default: MPIEXEC_TIMEOUT of the environment)
  --initial-errhandler NAME
                          error handler at first: mpi_errors_are_fatal,
                          mpi_errors_abort or mpi_errors_return
  --with-ft ulfm          go on when ranks die: `catena help faults`
  --elastic               let `catena grow` and `catena shrink` change the number
                          of processes while it runs: `catena help elastic`
  --check                 end ranks that free memory which a pending request uses,
                          and say which one and where: `catena help check`
  --memory-alloc-kinds LIST
                          kinds of memory that the program asks for, such as
                          mpi,system; MPI_INFO_ENV shows them
  --no-takeover           let programs that were built for MPICH or Open MPI keep
                          their own library, if they find it; otherwise they
                          run on Catena's
  --pmix                  be a PMIx server, too: for programs of Open MPI that
                          are not seen to be such, as they are run by a script or
                          an interpreter, and that are to keep its library; needs
                          libpmix
  -v, --verbose           say what is started where
  -h, --help              show this text
  --version               show the version
  --allow-run-as-root, --oversubscribe
                          accepted; both are always allowed

Ranks find CATENA_RANK, CATENA_SIZE and CATENA_LOCAL_RANK in their environment.
The status is that of the first rank that failed (128 + number for a signal),
2 for a wrong command line, 127 or 126 if a program cannot be found or started.
";
