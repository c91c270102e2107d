// What partitioned requests may not do again, keep, or walk over: each partition leaves once in a round, an end that
// was never started leaves nothing behind, as many partitions as one likes arrive in any order, and a request is freed
// while it is inactive only.
//
// run: -n 2 -- rounds
// run: --set LINK=tcp -n 2 -- rounds
// run: -n 2 -- unstarted
// run: --set LINK=tcp -n 2 -- unstarted
// run: -n 2 -- million
// run: -n 2 -- pending
// run: -n 1 -- free
//
// variant: partitioned_again_ofi
// needs: libfabric.so.1
// run: --set LINK=ofi:tcp -n 2 -- rounds
// run: --set LINK=ofi:tcp -n 2 -- unstarted
//
// variant: partitioned_again_ucx
// needs: libucp.so.0
// run: --set LINK=ucx:tcp -n 2 -- rounds
// run: --set LINK=ucx:tcp -n 2 -- unstarted
#include "../check.h"

enum { PARTS = 8 };

/* A ping-pong in which every byte of every round is another one. Partitions are ready before the other end can have told
   where they go, and the buffer changes as soon as a round is complete. */
static void rounds(void)
{
    unsigned char out[PARTS], in[PARTS];
    MPI_Request send, recv;
    int other = 1 - rank;
    MPI_Psend_init(out, PARTS, 1, MPI_BYTE, other, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
    MPI_Precv_init(in, PARTS, 1, MPI_BYTE, other, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &recv);
    for (int round = 0; round < 100; round++) {
        for (int turn = 0; turn < 2; turn++) {
            if (turn == rank) {
                MPI_Start(&send);
                for (int i = 0; i < PARTS; i++) {
                    out[i] = byte_at(round + 1000 * rank, i);
                    MPI_Pready(i, send);
                }
                MPI_Wait(&send, MPI_STATUS_IGNORE);
                memset(out, 0xee, sizeof out);
            } else {
                memset(in, 0, sizeof in);
                MPI_Start(&recv);
                MPI_Wait(&recv, MPI_STATUS_IGNORE);
                for (int i = 0; i < PARTS; i++)
                    EQUAL(in[i], byte_at(round + 1000 * other, i));
            }
        }
    }
    /* Nothing is left of them that would come now. */
    for (int i = 0; i < 100; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Request_free(&send);
    MPI_Request_free(&recv);
}

static long resident(void)
{
    long pages = 0, of = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    CHECK(statm && fscanf(statm, "%ld %ld", &of, &pages) == 2);
    fclose(statm);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Requests that are made and freed: 1,000 of them of 250 kB. */
static void unstarted(void)
{
    static char out[250000], in[250000];
    int other = 1 - rank;
    long before = 0;
    for (int i = 0; i < 1200; i++) {
        if (i == 200)
            before = resident();
        MPI_Request r[2];
        MPI_Psend_init(out, 10, 25000, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
        MPI_Precv_init(in, 10, 25000, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
        if (i % 100 == 7) { /* some are used, and meet each other */
            memset(out, i, sizeof out);
            MPI_Startall(2, r);
            MPI_Pready_range(0, 9, r[0]);
            MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
            CHECK(in[0] == (char)i && in[249999] == (char)i);
        }
        MPI_Request_free(&r[0]);
        MPI_Request_free(&r[1]);
    }
    long grown = resident() - before;
    printf("1,000 pairs of requests left %ld KiB\n", grown);
    CHECK(grown < 16 << 10);
}

/* Partitions of a byte, ready from the last one on. */
static void million(void)
{
    for (int many = 1000; many <= 1000000; many *= 1000) {
        char *buf = malloc(many);
        MPI_Request request;
        if (rank == 0) {
            MPI_Psend_init(buf, many, 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
            for (int i = 0; i < many; i++)
                buf[i] = byte_at(many, i);
            MPI_Start(&request);
            for (int i = many - 1; i >= 0; i--)
                MPI_Pready(i, request);
        } else {
            MPI_Precv_init(buf, many, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
            MPI_Start(&request);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; rank == 1 && i < many; i++)
            CHECK(buf[i] == (char)byte_at(many, i));
        MPI_Request_free(&request);
        free(buf);
    }
}

/* Many requests at once that wait for their other ends, which come in another order. */
static void pending(void)
{
    enum { MANY = 2000 };
    static int out[MANY], in[MANY];
    static MPI_Request send[MANY], recv[MANY];
    int other = 1 - rank;
    for (int i = 0; i < MANY; i++) {
        MPI_Psend_init(&out[i], 1, 1, MPI_INT, other, i, MPI_COMM_WORLD, MPI_INFO_NULL, &send[i]);
        MPI_Precv_init(&in[i], 1, 1, MPI_INT, other, i, MPI_COMM_WORLD, MPI_INFO_NULL, &recv[i]);
    }
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < MANY; i++) {
            out[i] = 1000000 * rank + 10000 * round + i;
            MPI_Start(&send[i]);
            MPI_Pready(0, send[i]);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = MANY - 1; i >= 0; i--)
            MPI_Start(&recv[i]);
        MPI_Waitall(MANY, send, MPI_STATUSES_IGNORE);
        MPI_Waitall(MANY, recv, MPI_STATUSES_IGNORE);
        for (int i = 0; i < MANY; i++)
            EQUAL(in[i], 1000000 * other + 10000 * round + i);
    }
    for (int i = 0; i < MANY; i++) {
        MPI_Request_free(&send[i]);
        MPI_Request_free(&recv[i]);
    }
}

static void free_active(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int x[4] = {1, 2, 3, 4}, y[4] = {0}, flag = 0;
    MPI_Request s, r;
    MPI_Psend_init(x, 4, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
    MPI_Precv_init(y, 4, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    MPI_Start(&s);
    MPI_Start(&r);
    EQUAL(class_of(MPI_Request_free(&s)), MPI_ERR_REQUEST);
    EQUAL(class_of(MPI_Request_free(&r)), MPI_ERR_REQUEST);
    CHECK(s != MPI_REQUEST_NULL && r != MPI_REQUEST_NULL);
    /* A number that is none, and one that is ready, make none of the others ready. */
    EQUAL(class_of(MPI_Pready_range(0, 4, s)), MPI_ERR_ARG);
    EQUAL(MPI_Pready(3, s), MPI_SUCCESS);
    int list[3] = {0, 1, 3};
    EQUAL(class_of(MPI_Pready_list(3, list, s)), MPI_ERR_ARG);
    EQUAL(MPI_Pready_range(0, 2, s), MPI_SUCCESS);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(!memcmp(x, y, sizeof x));
    EQUAL(MPI_Request_free(&s), MPI_SUCCESS);
    EQUAL(MPI_Request_free(&r), MPI_SUCCESS);
    /* To nobody, too, all partitions have to be ready. */
    MPI_Psend_init(x, 4, 1, MPI_INT, MPI_PROC_NULL, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
    MPI_Start(&s);
    for (int i = 0; i < 4; i++) {
        MPI_Test(&s, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
        EQUAL(MPI_Pready(i, s), MPI_SUCCESS);
    }
    MPI_Test(&s, &flag, MPI_STATUS_IGNORE);
    CHECK(flag);
    /* Errors go to the communicator's handler, not to that of MPI_COMM_SELF. */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    EQUAL(class_of(MPI_Pready(0, s)), MPI_ERR_REQUEST);
    MPI_Start(&s);
    EQUAL(MPI_Pready(0, s), MPI_SUCCESS);
    EQUAL(class_of(MPI_Pready(0, s)), MPI_ERR_ARG);
    EQUAL(MPI_Pready_range(1, 3, s), MPI_SUCCESS);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    MPI_Request_free(&s);
    /* Of no request everything has arrived. */
    EQUAL(MPI_Parrived(MPI_REQUEST_NULL, 0, &flag), MPI_SUCCESS);
    CHECK(flag);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    const char *mode = argc > 1 ? argv[1] : "";
    if (!strcmp(mode, "rounds"))
        rounds();
    else if (!strcmp(mode, "unstarted"))
        unstarted();
    else if (!strcmp(mode, "million"))
        million();
    else if (!strcmp(mode, "pending"))
        pending();
    else
        free_active();
    return finish();
}
