// A target serves others, too, while it is in a function of its own that the library has called.
// run: -n 2
// run: -n 2 --set LINK=tcp
// run: -n 2 --set LINK=tcp --set PROGRESS=thread
// run: -n 2 --set LINK=tcp -- multiple
#include "../check.h"

static volatile long *mine; /* of the window: what others have added */
static long expected;

/* Ends when the other rank has added to the window. */
static void await_other(void)
{
    double begin = MPI_Wtime();
    while (rank == 1 && mine[0] < expected)
        CHECK(MPI_Wtime() - begin < 30);
}

static int on_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    await_other();
    return MPI_SUCCESS;
}

static void combine(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *len; i++)
        ((int *)inout)[i] += ((int *)in)[i];
    await_other();
}

/* Rank 0 adds to rank 1's window, while that is about to be in a function of its own. */
static void add(MPI_Win win)
{
    long one = 1, before = -1;
    MPI_Barrier(MPI_COMM_WORLD);
    expected++;
    if (rank == 1)
        return;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Fetch_and_op(&one, &before, MPI_LONG, 1, 0, MPI_SUM, win);
    MPI_Win_unlock(1, win);
    EQUAL(before, expected - 1);
}

int main(int argc, char **argv)
{
    int provided, key, in = 1, out = 2;
    MPI_Win win;
    MPI_Comm own;
    MPI_Op op;
    MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, (void *)&mine, &win);
    mine[0] = 0;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL);
    MPI_Op_create(combine, 1, &op);
    for (int i = 0; i < 20; i++) {
        MPI_Comm_dup(MPI_COMM_SELF, &own);
        MPI_Comm_set_attr(own, key, NULL);
        add(win);
        MPI_Comm_free(&own);
        add(win);
        MPI_Reduce_local(&in, &out, 1, MPI_INT, op);
    }
    EQUAL(out, 22);
    MPI_Op_free(&op);
    MPI_Comm_free_keyval(&key);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
