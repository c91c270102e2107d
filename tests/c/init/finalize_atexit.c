// A handler of atexit communicates in every way and calls MPI_Finalize, when what is local to the thread is gone.
// run: -n 2 ; lines 2 rank [01] is through
// run: --set LINK=tcp -n 3 ; lines 3 rank [0-2] is through
// run: --set LINK=ofi:tcp -n 2 ; lines 2 rank [01] is through
// run: --set LINK=ucx:tcp -n 2 ; lines 2 rank [01] is through
// run: -n 2 --check ; says rank 1 is through ; never says check: error
// alone: ; lines 1 rank 0 is through
#include "../check.h"

enum { MANY = 200 };

static MPI_Win win;
static int *memory, sent[MANY], got[MANY];

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    int *a = in, *b = inout;
    (void)type;
    for (int i = 0; i < *n; i++)
        b[i] += a[i];
}

static void all(void)
{
    int next = (rank + 1) % size, last = (rank + size - 1) % size, one = 1, sum = 0;
    MPI_Request requests[2 * MANY], request;
    MPI_Status statuses[2 * MANY];
    MPI_Comm comm;
    MPI_Op op;
    MPI_File file;
    for (int i = 0; i < MANY; i++) {
        sent[i] = rank * MANY + i;
        MPI_Irecv(&got[i], 1, MPI_INT, last, i, MPI_COMM_WORLD, &requests[i]);
        MPI_Isend(&sent[i], 1, MPI_INT, next, i, MPI_COMM_WORLD, &requests[MANY + i]);
    }
    MPI_Waitall(2 * MANY, requests, statuses);
    for (int i = 0; i < MANY; i++) {
        EQUAL(got[i], last * MANY + i);
        EQUAL(statuses[i].MPI_TAG, i);
    }
    MPI_Win_lock_all(0, win);
    MPI_Rput(&rank, 1, MPI_INT, next, 0, 1, MPI_INT, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Raccumulate(&one, 1, MPI_INT, next, 1, 1, MPI_INT, MPI_SUM, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(win);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Op_create(add, 1, &op);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, op, comm);
    EQUAL(sum, size);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, op, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EQUAL(sum, size);
    MPI_Op_free(&op);
    MPI_Comm_free(&comm);
    char path[64];
    snprintf(path, sizeof path, "/tmp/finalize_atexit_%d", (int)getpid());
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    MPI_File_iwrite(file, &one, 1, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

static void at_the_end(void)
{
    all();
    EQUAL(MPI_Send(&rank, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD), MPI_SUCCESS);
    MPI_Win_free(&win);
    MPI_Finalize();
    printf("rank %d is through\n", rank);
}

int main(int argc, char **argv)
{
    atexit(at_the_end);
    start(&argc, &argv);
    MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    all();
    return 0;
}
