// A freed communicator lives on for what was started on it: operations under way, persistent
// requests, attributes whose key was freed.
// run: -n 2
// run: -n 4
// time: 20
#include "../check.h"

static int deleted;

static int on_delete(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    deleted += *(int *)value;
    return MPI_SUCCESS;
}

static void collectives(void)
{
    enum { N = 30000 };
    int *data = malloc(N * sizeof *data), *sum = malloc(N * sizeof *sum);
    for (int round = 0; round < 20; round++) {
        MPI_Comm comm;
        MPI_Request r[3];
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        int root = round % size;
        for (int i = 0; i < N; i++)
            data[i] = rank == root ? round + i : -1;
        int one = 1, total = 0;
        MPI_Ibcast(data, N, MPI_INT, root, comm, &r[0]);
        MPI_Iallreduce(&one, &total, 1, MPI_INT, MPI_SUM, comm, &r[1]);
        MPI_Ibarrier(comm, &r[2]);
        MPI_Comm_free(&comm);
        CHECK(comm == MPI_COMM_NULL);
        /* A new one that would get the same number. */
        MPI_Comm other;
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &other);
        MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
        EQUAL(total, size);
        for (int i = 0; i < N; i++)
            EQUAL(data[i], round + i);
        MPI_Comm_free(&other);
    }
    free(data);
    free(sum);
}

static void transfers(void)
{
    enum { BIG = 1 << 20 };
    char *out = malloc(BIG), *in = malloc(BIG);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Comm comm;
    MPI_Request r[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    fill(out, BIG, rank);
    MPI_Irecv(in, BIG, MPI_BYTE, left, 3, comm, &r[0]);
    MPI_Isend(out, BIG, MPI_BYTE, right, 3, comm, &r[1]);
    MPI_Comm_free(&comm);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    EQUAL(wrong_at(in, BIG, left), BIG);

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Recv_init(in, 8, MPI_BYTE, left, 4, comm, &r[0]);
    MPI_Send_init(out, 8, MPI_BYTE, right, 4, comm, &r[1]);
    MPI_Comm_free(&comm);
    MPI_Comm other;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    for (int i = 0; i < 3; i++) {
        fill(out, 8, 50 + rank + i);
        MPI_Startall(2, r);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        EQUAL(wrong_at(in, 8, 50 + left + i), 8);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    MPI_Comm_free(&other);
    free(out);
    free(in);
}

static void attributes(void)
{
    MPI_Comm comm;
    int key, value = 5, *found, flag;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL);
    MPI_Comm_set_attr(comm, key, &value);
    int saved = key;
    MPI_Comm_free_keyval(&key);
    EQUAL(key, MPI_KEYVAL_INVALID);
    /* The key lives as long as an attribute under it does (MPI-5, 7.7.2). */
    MPI_Comm_get_attr(comm, saved, &found, &flag);
    CHECK(flag && found == &value);
    MPI_Comm_delete_attr(comm, saved);
    EQUAL(deleted, 5);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    EQUAL(class_of(MPI_Comm_delete_attr(comm, saved)), MPI_ERR_KEYVAL);
    MPI_Comm_free(&comm);
    EQUAL(deleted, 5);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    attributes();
    transfers();
    collectives();
    return finish();
}
