// MPI_Comm_disconnect returns when all that was pending on the communicator is complete: messages,
// buffered ones too, collectives, duplicates; its requests still tell how they ended.
// run: -n 2
// run: -n 4
// run: --set LINK=tcp -n 2
// time: 20
#include "../check.h"

enum { BIG = 3 << 20, SMALL = 100 };

static char *out, *in;

static void is_complete(MPI_Request *r, int n)
{
    for (int i = 0; i < n; i++) {
        int flag = 0;
        MPI_Request_get_status(r[i], &flag, MPI_STATUS_IGNORE);
        CHECK(flag);
    }
    MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
}

/* The last rank comes when all others wait in the call already, or are about to. */
static void late(void)
{
    if (rank == size - 1)
        for (int i = 0; i < size - 1; i++)
            MPI_Recv(NULL, 0, MPI_INT, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(NULL, 0, MPI_INT, size - 1, 1, MPI_COMM_WORLD);
}

static void messages(int n, MPI_Comm comm, int peers)
{
    MPI_Request r[3];
    int to = (rank + 1) % peers, from = (rank + peers - 1) % peers;
    fill(out, n, rank);
    memset(in, 0, n);
    MPI_Irecv(in, n, MPI_BYTE, from, 3, comm, &r[0]);
    MPI_Irecv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, 4, comm, &r[1]);
    late();
    MPI_Isend(out, n, MPI_BYTE, to, 3, comm, &r[2]);
    MPI_Send(NULL, 0, MPI_INT, to, 4, comm);
    MPI_Comm_disconnect(&comm);
    CHECK(comm == MPI_COMM_NULL);
    EQUAL(wrong_at(in, n, from), n);
    is_complete(r, 3);
}

static void buffered(MPI_Comm comm)
{
    MPI_Request r;
    size_t room = BIG + MPI_BSEND_OVERHEAD;
    char *buffer = malloc(room);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    fill(out, BIG, rank);
    MPI_Comm_attach_buffer(comm, buffer, room);
    MPI_Bsend(out, BIG, MPI_BYTE, to, 5, comm);
    memset(out, 0, BIG);
    late();
    MPI_Irecv(in, BIG, MPI_BYTE, from, 5, comm, &r);
    MPI_Comm_disconnect(&comm);
    memset(buffer, 0, room);
    free(buffer);
    EQUAL(wrong_at(in, BIG, from), BIG);
    is_complete(&r, 1);
}

static void collectives(MPI_Comm comm, int are_two)
{
    MPI_Request r[4];
    MPI_Comm copy = MPI_COMM_NULL;
    int one = 1, sum = 0;
    late();
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &r[0]);
    MPI_Comm_idup(comm, &copy, &r[1]);
    MPI_Ibarrier(comm, &r[2]);
    MPI_Ialltoall(out, BIG / 8, MPI_BYTE, in, BIG / 8, MPI_BYTE, comm, &r[3]);
    MPI_Comm_disconnect(&comm);
    EQUAL(sum, are_two ? size / 2 : size);
    is_complete(r, 4);
    MPI_Barrier(copy);
    MPI_Comm_disconnect(&copy);
}

static MPI_Comm copy_of_world(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    return comm;
}

/* The even ranks and the odd ones. */
static MPI_Comm halves(void)
{
    MPI_Comm half, both;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &both);
    MPI_Comm_disconnect(&half);
    return both;
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    out = malloc(BIG), in = malloc(BIG);
    for (int round = 0; round < 5; round++) {
        messages(SMALL, copy_of_world(), size);
        messages(BIG, copy_of_world(), size);
        buffered(copy_of_world());
        collectives(copy_of_world(), 0);
        collectives(halves(), 1);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm world = MPI_COMM_WORLD;
    EQUAL(class_of(MPI_Comm_disconnect(&world)), MPI_ERR_COMM);
    CHECK(world == MPI_COMM_WORLD);
    free(out), free(in);
    return finish();
}
