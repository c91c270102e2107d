// MPI_Comm_disconnect of those who have spawned processes that use sessions alone, whether these have ended
// before, end just then or wait, and whether they have seen their parents or not.
//
// only: catena
// time: 120
// run: -n 1 -- 1
// run: -n 2 -- 3
// run: -n 2 --set LINK=tcp -- 2
// run: -n 4 --set SHM_SINGLE_COPY=never -- 1
#include "../check.h"

enum { CYCLES = 24 };

static void child(int how)
{
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    if (how % 3 == 1) {
        MPI_Group group;
        MPI_Group_from_session_pset(session, "mpi://PARENT", &group);
        MPI_Group_free(&group);
    }
    if (how % 3 == 2) {
        /* As MPI_COMM_PARENT is there, too. */
        MPI_Comm parent;
        int n;
        MPI_Comm_get_parent(&parent);
        MPI_Comm_remote_size(parent, &n);
        for (int r = 0; r < n; r++)
            MPI_Send(&n, 1, MPI_INT, r, 1, parent);
        if (how % 2)
            MPI_Comm_disconnect(&parent);
    }
    MPI_Session_finalize(&session);
}

int main(int argc, char **argv)
{
    if (argc > 2) {
        child(atoi(argv[2]));
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int k = 0; k < CYCLES; k++) {
        char how[8], *args[] = {argv[1], how, NULL};
        MPI_Comm inter;
        snprintf(how, sizeof how, "%d", k);
        MPI_Comm_spawn(argv[0], args, atoi(argv[1]), MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                       MPI_ERRCODES_IGNORE);
        if (k % 3 == 2)
            for (int r = 0; r < atoi(argv[1]); r++) {
                int n = 0;
                MPI_Recv(&n, 1, MPI_INT, r, 1, inter, MPI_STATUS_IGNORE);
                EQUAL(n, size);
            }
        MPI_Comm_disconnect(&inter);
    }
    MPI_Finalize();
    return 0;
}
