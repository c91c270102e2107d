// Errors of operations that outlive the handle of their communicator: its error handler is called, once, and the job lives.
// run: -n 2
// run: --set LINK=tcp -n 2
#include "../check.h"

static int called, heard;

static void note(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    called++;
    heard = class_of(*code);
}

static int other, long_enough[4] = {1, 2, 3, 4}, x[4], y;
static MPI_Comm comm;

static void open_comm(void)
{
    MPI_Errhandler handler;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(note, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
    called = heard = 0;
}

/* The message that is too long leaves when the receiver has freed its handle. */
static void send_too_much(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(long_enough, 4, MPI_INT, other, 1, comm);
    MPI_Comm_free(&comm);
}

/* Meanwhile others are made and freed. */
static void crowd(void)
{
    for (int i = 0; i < 300; i++) {
        MPI_Comm one;
        MPI_Comm_dup(MPI_COMM_SELF, &one);
        MPI_Comm_free(&one);
    }
}

static void expect(int code, const char *what)
{
    if (class_of(code) != MPI_ERR_TRUNCATE || called != 1 || heard != MPI_ERR_TRUNCATE) {
        fprintf(stderr, "%s: class %d, the handler was called %d times, with %d\n", what, class_of(code), called, heard);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

enum kind { RECV, PERSISTENT, IMRECV, MRECV, PAIR, ALL, PARTITIONED, TWO, KINDS };

static void receive(enum kind kind)
{
    MPI_Request r = MPI_REQUEST_NULL, two[2];
    MPI_Message message;
    MPI_Status status;
    int code, flag = 0;
    switch (kind) {
    case RECV:
    case TWO:
        MPI_Irecv(&y, 1, MPI_INT, other, 1, comm, &r);
        break;
    case PERSISTENT:
        MPI_Recv_init(&y, 1, MPI_INT, other, 1, comm, &r);
        MPI_Start(&r);
        break;
    case PAIR:
        MPI_Isendrecv(x, 0, MPI_INT, MPI_PROC_NULL, 0, &y, 1, MPI_INT, other, 1, comm, &r);
        break;
    case ALL:
        MPI_Irecv(&y, 1, MPI_INT, other, 1, comm, &two[0]);
        MPI_Irecv(x, 4, MPI_INT, rank, 2, MPI_COMM_WORLD, &two[1]);
        break;
    default:;
    }
    if (kind == IMRECV || kind == MRECV) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Mprobe(other, 1, comm, &message, &status);
        MPI_Comm_free(&comm);
        crowd();
        if (kind == MRECV) {
            expect(MPI_Mrecv(&y, 1, MPI_INT, &message, &status), "MPI_Mrecv");
            return;
        }
        MPI_Imrecv(&y, 1, MPI_INT, &message, &r);
    } else {
        MPI_Comm_free(&comm);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (kind == ALL) {
        MPI_Send(x, 1, MPI_INT, rank, 2, MPI_COMM_WORLD);
        MPI_Status both[2];
        code = MPI_Waitall(2, two, both);
        EQUAL(class_of(code), MPI_ERR_IN_STATUS);
        EQUAL(class_of(both[0].MPI_ERROR), MPI_ERR_TRUNCATE);
        EQUAL(called, 1);
        return;
    }
    if (kind == TWO) {
        /* It is complete before others are made, which get the numbers of those that were freed. */
        while (!flag)
            MPI_Request_get_status(r, &flag, &status);
        for (int i = 0; i < 3000; i++) {
            MPI_Comm one;
            MPI_Comm_dup(MPI_COMM_SELF, &one);
            MPI_Comm_free(&one);
        }
    } else {
        crowd();
    }
    code = MPI_Wait(&r, &status);
    expect(code, "MPI_Wait");
    if (kind == PERSISTENT)
        EQUAL(MPI_Request_free(&r), MPI_SUCCESS);
}

static void partitioned(void)
{
    MPI_Request r;
    if (rank) {
        MPI_Psend_init(long_enough, 4, 1, MPI_INT, other, 1, comm, MPI_INFO_NULL, &r);
        MPI_Start(&r);
        MPI_Pready_range(0, 3, r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPI_Comm_free(&comm);
    } else {
        MPI_Precv_init(&y, 1, 1, MPI_INT, other, 1, comm, MPI_INFO_NULL, &r);
        MPI_Start(&r);
        MPI_Comm_free(&comm);
        crowd();
        expect(MPI_Wait(&r, MPI_STATUS_IGNORE), "a partitioned receive");
    }
    MPI_Request_free(&r);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    other = 1 - rank;
    for (enum kind kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < 3; i++) {
            open_comm();
            if (kind == PARTITIONED)
                partitioned();
            else if (rank)
                send_too_much();
            else
                receive(kind);
        }
    return finish();
}
