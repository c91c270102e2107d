// The end of the world model is not that of a session: a rank that has called MPI_Finalize and is in a collective call on
// another communicator of the session has not missed the one that others wait for.
// only: catena
// waits: until a wait counts as long
// run: -n 3; lines 3 done
// run: -n 3 --set LINK=tcp; lines 3 done
#include "../check.h"
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Session session;
    MPI_Group all;
    MPI_Comm comm, others;
    int sum;
    MPI_Init(&argc, &argv);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    MPI_Comm_create_from_group(all, "all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_split(comm, rank != 0, 0, &others);
    MPI_Barrier(others);
    MPI_Finalize();
    if (rank == 2)
        sleep(3);
    if (rank)
        MPI_Barrier(others);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    EQUAL(sum, 3);
    puts("done");
    MPI_Comm_free(&others);
    MPI_Comm_free(&comm);
    MPI_Group_free(&all);
    MPI_Session_finalize(&session);
    return 0;
}
