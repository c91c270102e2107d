// What checked mode finds is written as JSON, and the job fails by errors if it is to.
// cc: -g -O0
// only: catena
// run: -n 2 --check-report /dev/stderr -- changes ; says found 1 error: /dev/stderr ; says \{"weight":"error","kind":"written","host":"[^"]+","rank":0,"call":"MPI_Wait","place":"check_report.c:\d+","text":"the buffer buf of MPI_Isend was changed[^\n]*"besides":\[\{"what":"the operation began in","call":"MPI_Isend","place":"check_report.c:\d+"\}\]\}\n
// run: -n 2 --check-report /dev/stderr -- right ; says checked mode has found nothing: /dev/stderr ; never says weight
// run: -n 2 --check-report /nowhere/to -- changes ; says cannot be written to /nowhere/to
// run: -n 2 --check -- changes ; says \[written\] ; never says mpirun
// run: -n 2 --on-check report -- changes ; says \[written\] ; never says mpirun
// run: -n 2 --on-check fail -- changes ; exit 122 ; says \[written\] ; says done ; says the job fails, as checked mode has found 1 error \(ON_CHECK\)
// run: -n 2 --on-check fail -- right ; says done ; never says mpirun
// run: -n 2 --on-check fail -- leaks ; says warning \[leak\] ; never says mpirun
// run: -n 2 --on-check fail --check-report /dev/stderr -- status ; exit 3 ; says exited with code 3 ; says found 1 error: /dev/stderr
// run: -n 2 --on-check end -- goes_on ; exit 122 ; says \[written\] ; says the job is ended, as checked mode has found an error ; ends 5
// run: -n 2 --on-check end -- right ; says done ; never says mpirun
// run: -n 1 --on-check fail -- spawn ; exit 122 ; says \[written\] ; says the job fails, as checked mode has found 1 error
// run: -n 2 --on-check sometimes -- right ; exit 2 ; says report, fail
//
// variant: check_report_apart
// only: catena
// hosts: 2
// run: -n 2 --on-check fail --check-report /dev/stderr --host h0:1,h1:1 --launcher-agent scripts/hosts -- far ; exit 122 ; says "kind":"written","host":"h1","rank":1 ; says has found 1 error \(ON_CHECK\)
// run: -n 2 --on-check end --host h0:1,h1:1 --launcher-agent scripts/hosts -- far_goes_on ; exit 122 ; says the job is ended, as checked mode has found an error
#include "../check.h"

/* A send whose buffer is changed too early, to the rank itself. */
static void change(void)
{
    int number = 0, got;
    MPI_Request request;
    MPI_Isend(&number, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
    number = 1;
    MPI_Recv(&got, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    const char *what = argv[1];
    MPI_Comm parent;
    start(&argc, &argv);
    int is_far = !strncmp(what, "far", 3);
    MPI_Comm_get_parent(&parent);
    if (!strcmp(what, "spawn")) {
        /* The job that it is found in has ended and is forgotten when this one ends. */
        if (parent == MPI_COMM_NULL)
            MPI_Comm_spawn(argv[0], argv + 1, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &parent, MPI_ERRCODES_IGNORE);
        else
            change();
        MPI_Barrier(parent);
        MPI_Comm_disconnect(&parent);
    } else if (rank == is_far && strcmp(what, "right") && strcmp(what, "leaks")) {
        change();
    }
    if (!strcmp(what, "leaks")) {
        MPI_Datatype type;
        MPI_Type_contiguous(3, MPI_INT, &type);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int flag; strstr(what, "goes_on");)
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Finalize();
    if (rank == 0)
        printf("done\n");
    return strcmp(what, "status") ? 0 : 3;
}
