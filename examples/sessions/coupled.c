/* Two models in one job, an ocean and an atmosphere, each with a communicator of its own and one for both.
 *
 *     mpicc coupled.c -o coupled
 *     mpirun -n 5 --pset ocean=0-1 --pset air=2-4 ./coupled
 *
 * The command line says which ranks do what, by process sets. Nobody calls MPI_Init: with a session a library can use
 * MPI beside others that do. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* A communicator of the processes of a set, or MPI_COMM_NULL where this process is not in it. */
static MPI_Comm communicator(MPI_Session session, const char *set)
{
    MPI_Group group;
    MPI_Comm comm = MPI_COMM_NULL;
    int rank;
    if (MPI_Group_from_session_pset(session, set, &group) != MPI_SUCCESS)
        return comm;
    MPI_Group_rank(group, &rank);
    if (rank != MPI_UNDEFINED)
        MPI_Comm_create_from_group(group, set, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    return comm;
}

int main(void)
{
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    const char *names[] = {"ocean", "air"};
    MPI_Comm all = communicator(session, "mpi://WORLD"), model = MPI_COMM_NULL;
    const char *name = "none";
    for (int i = 0; i < 2; i++) {
        MPI_Comm comm = communicator(session, names[i]);
        if (comm != MPI_COMM_NULL) {
            model = comm;
            name = names[i];
        }
    }
    int rank, mine = 0, sum = 0;
    MPI_Comm_rank(all, &rank);
    if (model != MPI_COMM_NULL) {
        /* Each model sums over itself; then both exchange by the communicator of all. */
        int place, size;
        MPI_Comm_rank(model, &place);
        MPI_Comm_size(model, &size);
        mine = strcmp(name, "ocean") ? 1 : 100;
        MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT, MPI_SUM, model);
        printf("rank %d is %d of %d of the set %s, whose sum is %d\n", rank, place, size, name, mine);
        if (place != 0)
            mine = 0;
        MPI_Comm_free(&model);
    } else {
        printf("rank %d is in neither set: start me with --pset ocean=... --pset air=...\n", rank);
    }
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, all);
    if (rank == 0)
        printf("both together: %d\n", sum);
    MPI_Comm_free(&all);
    MPI_Session_finalize(&session);
    return 0;
}
