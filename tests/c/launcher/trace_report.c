// What ranks have called last is told where the job fails: of a rank that a signal has killed its last call, and of all ranks in
// a file, if the user names one.
// only: catena
// run: -n 2 -- segv ; exit 139 ; says killed by signal 11 .*\n  its last MPI call was MPI_Comm_size\(comm=MPI_COMM_WORLD
// run: -n 2 -- kill ; exit 137 ; says killed by signal 9 .*\n  its last MPI call was MPI_Comm_size\(comm=MPI_COMM_WORLD
// run: -n 2 --trace-report /dev/stderr -- kill ; exit 137 ; says rank 0 on host .*\n  thread \d+, \d+ calls. the last:\n(.*\n)*.*MPI_(Recv|Barrier)\(.*comm=MPI_COMM_WORLD\)\nrank 1 on host
// run: -n 2 --trace-report /dev/stderr -- abort ; exit 5 ; says the last MPI calls of all ranks: catena trace /dev/stderr ; says MPI_Abort\(comm=MPI_COMM_WORLD, errorcode=5\)
// run: -n 2 --trace-report /dev/stderr --timeout 1 -- wait ; exit 124 ; says the last MPI calls of all ranks ; says MPI_Recv\(source=1, tag=3
// run: -n 2 --trace-report /dev/stderr -- ends ; never says MPI_Recv ; says done
// run: -n 2 --trace-report /nowhere/to -- abort ; exit 5 ; says /nowhere/to cannot be written
//
// variant: trace_report_apart
// only: catena
// hosts: 2
// run: -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts --trace-report /dev/stderr -- kill ; exit 137 ; says its last MPI call was MPI_Comm_size ; says MPI_Barrier\(comm=MPI_COMM_WORLD\)
#include "../check.h"
#include <signal.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int x;
    start(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        if (!strcmp(argv[1], "segv"))
            signal(SIGSEGV, SIG_DFL), raise(SIGSEGV);
        if (!strcmp(argv[1], "kill"))
            kill(getpid(), SIGKILL);
        if (!strcmp(argv[1], "abort"))
            MPI_Abort(MPI_COMM_WORLD, 5);
        if (!strcmp(argv[1], "wait"))
            pause();
    } else if (strcmp(argv[1], "ends"))
        MPI_Recv(&x, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
        puts("done");
    return finish();
}
