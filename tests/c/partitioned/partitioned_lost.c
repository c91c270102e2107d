// The other end of a partitioned message dies, before or after the two have met: who waits for it gets an error.
//
// only: catena
// run: -n 3 --set FAULT_TOLERANCE=true -- before; exit 137; says 'survivor 0 done'; says 'survivor 2 done'
// run: -n 3 --set FAULT_TOLERANCE=true -- within; exit 137; says 'survivor 0 done'; says 'survivor 2 done'
// run: -n 3 -- within; exit 137; says 'rank 1 .*killed by signal 9'
#include "../check.h"
#include <signal.h>

enum { PARTS = 4, MANY = 30000 };

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int within = argc > 1 && !strcmp(argv[1], "within");
    static int out[PARTS * MANY], in[PARTS * MANY];
    MPI_Request request;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        if (within) {
            MPI_Request to, from;
            MPI_Psend_init(out, PARTS, MANY, MPI_INT, 2, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &to);
            MPI_Precv_init(in, PARTS, MANY, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &from);
            MPI_Start(&to);
            MPI_Start(&from);
            MPI_Pready_range(0, PARTS - 2, to);
            int flag = 0;
            while (!flag) /* the two have met */
                MPI_Parrived(from, 0, &flag);
        }
        raise(SIGKILL);
    }
    if (rank == 0) {
        MPI_Psend_init(out, PARTS, MANY, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready(0, request);
        if (within) {
            /* Known to be dead: the rest cannot leave. */
            CHECK(class_of(MPI_Recv(in, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE))
                == MPIX_ERR_PROC_FAILED);
        }
        for (int p = 1; p < PARTS; p++)
            MPI_Pready(p, request);
    } else {
        MPI_Precv_init(in, PARTS, MANY, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
    }
    /* Where the job ends with the dead, this may be seen just before. */
    EQUAL(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)),
        getenv("CATENA_FAULT_TOLERANCE") ? MPIX_ERR_PROC_FAILED : MPI_ERR_PROC_ABORTED);
    EQUAL(MPI_Request_free(&request), MPI_SUCCESS);
    printf("survivor %d done\n", rank);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
