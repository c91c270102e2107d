// What checked mode says nothing of, as it is right: what goes to nobody, parts of a message that have arrived, what a flush has completed,
// and callbacks of attributes, which are called for what the program does, and for nothing else.
// run: -n 2 --check -- nobody; says all is well; never says catena: check
// run: -n 2 --check -- parts; says all is well; never says catena: check
// run: -n 2 --check -- early; says error \[overlap\]: rank 1: MPI_Send \(checked_quiet.c:\d+\): its buffer buf reads 400 bytes .* of a pending MPI_Precv_init
// run: -n 2 --check -- flushed; says all is well; never says catena: check
// run: -n 2 --check -- unflushed; says error \[written\]: rank 0: MPI_Wait \(checked_quiet.c:\d+\): the buffer origin_addr of MPI_Rput was changed
// run: -n 2 --check -- attributes; says all is well; never says catena: check
// run: -n 2 --check -- types; says all is well; never says catena: check
#include "../check.h"

/* At the edge of a grid there is nobody, whatever the buffer is. */
static void to_nobody(void)
{
    double row[10] = {0};
    int before = rank == 0 ? MPI_PROC_NULL : 0, behind = rank == 0 ? 1 : MPI_PROC_NULL;
    for (int i = 0; i < 10; i++)
        row[i] = rank;
    MPI_Sendrecv(row + 9 + rank, 1, MPI_DOUBLE, behind, 0, row, 1, MPI_DOUBLE, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EQUAL(row[0], 0);
    MPI_Sendrecv(row, 1, MPI_DOUBLE, before, 0, row + 9 + rank, 1, MPI_DOUBLE, behind, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Request request;
    MPI_Isendrecv(row + 9, rank ? 5 : 1, MPI_DOUBLE, behind, 0, row, rank ? 1 : 50, MPI_DOUBLE, before, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* A part of a message is passed on as soon as it is there; or too `early`. */
static void parts(int is_early)
{
    enum { PARTS = 4, LENGTH = 100 };
    static int data[PARTS * LENGTH];
    int got[LENGTH], flag = 0;
    MPI_Request request;
    if (rank == 0) {
        MPI_Psend_init(data, PARTS, LENGTH, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready(2, request);
        MPI_Recv(got, LENGTH, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int part = 0; part < PARTS; part++)
            if (part != 2)
                MPI_Pready(part, request);
    } else {
        MPI_Precv_init(data, PARTS, LENGTH, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        while (!flag)
            MPI_Parrived(request, 2, &flag);
        MPI_Send(data + (is_early ? 1 : 2) * LENGTH, LENGTH, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}

static void request_of_window(int is_flushed)
{
    MPI_Win win;
    MPI_Request request;
    int *base, value = 5;
    MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock_all(0, win);
    if (rank == 0) {
        MPI_Rput(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win, &request);
        if (is_flushed)
            MPI_Win_flush_local(1, win);
        value = 6;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

static int copies, deletions;

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra;
    copies++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    deletions++;
    return MPI_SUCCESS;
}

static void attributes(void)
{
    int key, *base;
    MPI_Comm comm, second;
    MPI_Win win;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_keyval(copy, delete, &key, NULL);
    MPI_Comm_set_attr(comm, key, &copies);
    MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, comm, &base, &win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    EQUAL(copies, 0);
    EQUAL(deletions, 0);
    MPI_Comm_dup(comm, &second);
    EQUAL(copies, 1);
    MPI_Comm_free(&second);
    EQUAL(deletions, 1);
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&key);
}

/* Types that come and go have the same handle now and then, also those of which the tool does not see where they are made. */
static void types(void)
{
    static int data[100], got[100];
    for (int i = 1; i < 20; i++) {
        MPI_Datatype type;
        MPI_Request request;
        if (i % 2)
            PMPI_Type_vector(4, 1, i, MPI_INT, &type);
        else
            MPI_Type_vector(4, 1, i, MPI_INT, &type);
        MPI_Type_commit(&type);
        MPI_Isend(data, 1, type, !rank, i, MPI_COMM_WORLD, &request);
        if (i % 3)
            MPI_Type_free(&type);
        else
            PMPI_Type_free(&type);
        data[3 * i + 1] = i;
        MPI_Recv(got, 100, MPI_INT, !rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    const char *mode = argv[1];
    start(&argc, &argv);
    if (!strcmp(mode, "nobody"))
        to_nobody();
    if (!strcmp(mode, "parts") || !strcmp(mode, "early"))
        parts(!strcmp(mode, "early"));
    if (!strcmp(mode, "flushed") || !strcmp(mode, "unflushed"))
        request_of_window(!strcmp(mode, "flushed"));
    if (!strcmp(mode, "attributes"))
        attributes();
    if (!strcmp(mode, "types"))
        types();
    if (rank == 0)
        printf("all is well\n");
    return finish();
}
