// A member gets no memory for a reduction in which it was to write to the memory of another one, which has done its own part
// and computes meanwhile. It goes on with calls that wait for nobody. When the other one comes back it has an error and not
// what lies in its buffer.
//
// only: catena
// run: -n 2 --set COLL_WEIGH=0 -- 0
// run: -n 2 --set COLL_WEIGH=0 -- 63
// run: -n 2 --set COLL_WEIGH=0 -- 64
#include "../check.h"
#include <sys/resource.h>

enum { LEN = 1 << 20, BLOCKS = 5000, SPARE = 40 };

static void sum(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *len; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

/* How far the ranks are: both look at it without calling MPI. */
static volatile int *step;

static void come(int to)
{
    __atomic_store_n(step, to, __ATOMIC_RELEASE);
}

static void await(int what)
{
    while (__atomic_load_n(step, __ATOMIC_ACQUIRE) < what)
        sched_yield();
}

/* The class of the error with which an operation ends while there is no more memory than some small blocks. */
static int wait_without_memory(MPI_Request *request)
{
    static void *taken[BLOCKS];
    struct rlimit before, limit;
    long pages = 0;
    int n = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%ld", &pages) == 1);
    fclose(file);
    CHECK(getrlimit(RLIMIT_AS, &before) == 0);
    limit = before;
    limit.rlim_cur = pages * sysconf(_SC_PAGESIZE);
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    for (size_t size = 64 << 10; size >= 48; size /= 2)
        while (n < BLOCKS && (taken[n] = malloc(size)))
            n++;
    for (int i = 0; i < SPARE && n > 0; i++)
        free(taken[--n]);
    int code = MPI_Wait(request, MPI_STATUS_IGNORE);
    CHECK(setrlimit(RLIMIT_AS, &before) == 0);
    while (n > 0)
        free(taken[--n]);
    return code ? class_of(code) : MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int ahead = atoi(argv[1]), zero = 0, unit;
    MPI_Op add;
    MPI_Comm comm;
    MPI_Request request;
    MPI_Win win;
    MPI_Aint bytes;
    void *base;
    MPI_Win_allocate_shared(rank ? 0 : sizeof *step, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_shared_query(win, 0, &bytes, &unit, &base);
    step = base;
    if (rank == 0)
        come(0);
    MPI_Op_create(sum, 0, &add);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int *in = malloc(LEN * sizeof *in), *out = malloc(LEN * sizeof *out);
    for (int i = 0; i < LEN; i++)
        in[i] = i + rank, out[i] = -1;
    MPI_Bcast(&zero, 1, MPI_INT, 0, comm);
    MPI_Barrier(comm);
    if (rank == 0) {
        EQUAL(MPI_Iallreduce(in, out, LEN, MPI_INT, add, comm, &request), MPI_SUCCESS);
        come(1);
        await(2);
        EQUAL(wait_without_memory(&request), MPI_ERR_NO_MEM);
        for (int i = 0; i < ahead; i++)
            EQUAL(MPI_Bcast(&i, 1, MPI_INT, 0, comm), MPI_SUCCESS);
        come(3);
    } else {
        await(1);
        EQUAL(MPI_Iallreduce(in, out, LEN, MPI_INT, add, comm, &request), MPI_SUCCESS);
        come(2);
        await(3);
        EQUAL(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)), MPI_ERR_OTHER);
        for (int i = 0, got; i < ahead; i++) {
            EQUAL(MPI_Bcast(&got, 1, MPI_INT, 0, comm), MPI_SUCCESS);
            EQUAL(got, i);
        }
    }
    EQUAL(MPI_Allreduce(in, out, LEN, MPI_INT, add, comm), MPI_SUCCESS);
    for (int i = 0; i < LEN; i++)
        CHECK(out[i] == 2 * i + 1);
    free(in);
    free(out);
    MPI_Win_free(&win);
    MPI_Comm_free(&comm);
    MPI_Op_free(&add);
    return finish();
}
