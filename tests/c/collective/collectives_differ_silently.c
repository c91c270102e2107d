// Members call different collectives, of which some, or all, wait for nobody: each that goes on with the communicator is told,
// and whatever nobody was told of ends the job.
// only: catena
// run: -n 2 -- roots ; fails ; says different collectives.*MPI_Bcast with root
// run: --set LINK=tcp -n 2 -- roots ; fails ; says MPI_Finalize: .*rank [01] called MPI_Bcast with root [01], and rank [01] has not received
// run: --set LINK=tcp -n 2 -- roots dup ; fails ; says MPI_Finalize: .*rank [01] called MPI_Bcast with root [01], and rank [01] has not received
// run: -n 2 -- finalize ; fails ; says rank 1 called MPI_Finalize, and rank 0 called MPI_Barrier|rank 0 called MPI_Barrier, and rank 1 called MPI_Finalize
// run: -n 3 -- finalize ; fails ; says rank 0 called MPI_Barrier, and ranks 1 and 2 called MPI_Finalize
// run: --set LINK=tcp -n 3 -- finalize ; fails ; says rank 0 called MPI_Barrier, and ranks 1 and 2 called MPI_Finalize
// run: -n 2 -- later dup
// run: -n 4 -- later dup
// run: --set LINK=tcp -n 2 -- later dup
// run: --set LINK=tcp -n 4 -- later dup
// run: --set LINK=ofi:tcp -n 3 -- later dup
// run: --set LINK=shm -n 2 -- one dup ; fails ; says MPI_Finalize: .*different collectives: rank [01] called MPI_(Bcast|Allreduce) with .*, and rank [01] called
// run: --set LINK=shm -n 3 -- one dup ; fails ; says MPI_Finalize: .*different collectives: rank 0 called MPI_Bcast with root 0, and ranks 1 and 2 called MPI_Allreduce
// run: --set LINK=tcp -n 2 -- one dup ; fails ; says MPI_Finalize: .*different collectives
// run: --set LINK=tcp -n 3 -- one dup ; fails ; says MPI_Finalize: .*different collectives
#include "../check.h"

static MPI_Comm comm = MPI_COMM_WORLD;
static int x = 1, sum;

/* Rank 0 sends something, or is through at once; the others wait. */
static int differently(void)
{
    return rank ? MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, comm) : MPI_Bcast(&x, 1, MPI_INT, 0, comm);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    if (argc > 2)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (!strcmp(argv[1], "roots")) {
        MPI_Bcast(&x, 1, MPI_INT, rank, comm);
    } else if (!strcmp(argv[1], "finalize")) {
        if (rank == 0)
            MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(argv[1], "one")) {
        /* Those that fail go on as if nothing had happened. */
        MPI_Comm_set_errhandler(comm, rank ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL);
        int code = differently();
        EQUAL(class_of(code), rank ? MPI_ERR_OTHER : MPI_SUCCESS);
    } else {
        char text[MPI_MAX_ERROR_STRING];
        MPI_Request request;
        int n;
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        int code = differently();
        if (rank)
            EQUAL(class_of(code), MPI_ERR_OTHER);
        /* What waits fails at every member, whatever form it has; and nothing else is done on it any more. */
        code = MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, comm);
        EQUAL(class_of(code), MPI_ERR_OTHER);
        for (int i = 0; i < 3; i++) {
            code = MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, comm);
            EQUAL(class_of(code), MPI_ERR_OTHER);
            MPI_Error_string(code, text, &n);
            CHECK(strstr(text, "an earlier collective on the communicator failed"));
            code = MPI_Iallreduce(&x, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
            if (code == MPI_SUCCESS)
                code = MPI_Wait(&request, MPI_STATUS_IGNORE);
            EQUAL(class_of(code), MPI_ERR_OTHER);
        }
        /* Others are as good as ever. */
        MPI_Comm other;
        MPI_Comm_free(&comm);
        MPI_Comm_dup(MPI_COMM_WORLD, &other);
        MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, other);
        EQUAL(sum, size);
        MPI_Comm_free(&other);
    }
    MPI_Finalize();
    return 0;
}
