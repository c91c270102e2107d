// Thousands of non-blocking collectives of several communicators under way at once: the work of
// progress grows with what moves, not with what waits. Argument: how many.
// run: -n 2
// run: -n 3
// run: -n 2 -- 100000
// time: 60
#include "../check.h"

enum { COMMS = 8 };

/* Looks of progress at collectives that had news; counted from the first call on. */
static unsigned long long looks(void)
{
    static MPI_T_pvar_session session;
    static MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    unsigned long long n = 0;
    int at, count;
    if (handle == MPI_T_PVAR_HANDLE_NULL) {
        if (MPI_T_pvar_get_index("coll_looks", MPI_T_PVAR_CLASS_COUNTER, &at) != MPI_SUCCESS)
            return 0;
        MPI_T_pvar_session_create(&session);
        MPI_T_pvar_handle_alloc(session, at, NULL, &handle, &count);
        MPI_T_pvar_start(session, handle);
    }
    MPI_T_pvar_read(session, handle, &n);
    return n;
}

int main(int argc, char **argv)
{
    int provided, n = argc > 1 ? atoi(argv[1]) : 10000;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    start(&argc, &argv);
    MPI_Comm comms[COMMS];
    MPI_Request *requests = malloc(n * sizeof *requests);
    int *in = malloc(n * sizeof *in), *out = malloc(n * sizeof *out);
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    looks();
    /* The last rank is late: all others have all of theirs under way before it begins. */
    if (rank == size - 1)
        MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++) {
        in[i] = i + rank;
        if (i % 3)
            MPI_Iallreduce(&in[i], &out[i], 1, MPI_INT, MPI_SUM, comms[i % COMMS], &requests[i]);
        else
            MPI_Ibarrier(comms[i % COMMS], &requests[i]);
    }
    if (rank == 0)
        MPI_Send(NULL, 0, MPI_INT, size - 1, 0, MPI_COMM_WORLD);
    /* In an order of completion that is not that of the calls. */
    for (int i = 0; i < n; i++)
        MPI_Wait(&requests[(i * 7ll) % n], MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++)
        CHECK(i % 3 == 0 || out[i] == size * i + size * (size - 1) / 2);
    /* At most one for a message, and a collective of so few ranks has few. */
    CHECK(looks() < 10ull * n);
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_free(&comms[i]);
    free(requests);
    free(in);
    free(out);
    MPI_T_finalize();
    return finish();
}
