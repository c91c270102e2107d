// A call whose arguments are wrong begins nothing: no message leaves whose request would be lost, no message is taken whose
// handle would be, no request of an array is started or completed when another one is none.
// run: -n 2
// only: catena
#include "../check.h"

#define WRONG(call, class) EQUAL(class_of(call), class)

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Comm_set_errhandler(w, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int x = 17, y = 0, flag = -1, other = 1 - rank, index = -1;
    MPI_Status status;
    MPI_Message message = MPI_MESSAGE_NULL;

    /* Requests that cannot be told. */
    WRONG(MPI_Isend(&x, 1, MPI_INT, other, 1, w, NULL), MPI_ERR_ARG);
    WRONG(MPI_Issend(&x, 1, MPI_INT, other, 1, w, NULL), MPI_ERR_ARG);
    WRONG(MPI_Irsend(&x, 1, MPI_INT, other, 1, w, NULL), MPI_ERR_ARG);
    WRONG(MPI_Isendrecv(&x, 1, MPI_INT, other, 1, &y, 1, MPI_INT, other, 1, w, NULL), MPI_ERR_ARG);
    WRONG(MPI_Irecv(&y, 1, MPI_INT, other, MPI_ANY_TAG, w, NULL), MPI_ERR_ARG);
    WRONG(MPI_Send_init(&x, 1, MPI_INT, other, 1, w, NULL), MPI_ERR_ARG);
    WRONG(MPI_Psend_init(&x, 1, 1, MPI_INT, other, 1, w, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
    WRONG(MPI_Ibarrier(w, NULL), MPI_ERR_ARG);
    WRONG(MPI_Iallreduce(&x, &y, 1, MPI_INT, MPI_SUM, w, NULL), MPI_ERR_ARG);
    /* None of them has sent or posted anything: the next message is this one. */
    MPI_Sendrecv(&x, 1, MPI_INT, other, 2, &y, 1, MPI_INT, other, MPI_ANY_TAG, w, &status);
    EQUAL(status.MPI_TAG, 2);
    EQUAL(y, 17);
    MPI_Barrier(w);

    /* A message stays, if it cannot be said that there is one. */
    MPI_Send(&x, 1, MPI_INT, rank, 3, w);
    WRONG(MPI_Improbe(rank, 3, w, NULL, &message, &status), MPI_ERR_ARG);
    WRONG(MPI_Improbe(rank, 3, w, &flag, NULL, &status), MPI_ERR_ARG);
    WRONG(MPI_Mprobe(rank, 3, w, NULL, &status), MPI_ERR_ARG);
    WRONG(MPI_Iprobe(rank, 3, w, NULL, &status), MPI_ERR_ARG);
    MPI_Mprobe(rank, 3, w, &message, &status);
    WRONG(MPI_Imrecv(&y, 1, MPI_INT, &message, NULL), MPI_ERR_ARG);
    CHECK(message != MPI_MESSAGE_NULL);
    y = 0;
    EQUAL(MPI_Mrecv(&y, 1, MPI_INT, &message, &status), MPI_SUCCESS);
    EQUAL(y, 17);

    /* None is started if one cannot be. */
    MPI_Request r[3], none = (MPI_Request)(uintptr_t)0x123450;
    MPI_Send_init(&x, 1, MPI_INT, rank, 4, w, &r[0]);
    MPI_Recv_init(&y, 1, MPI_INT, rank, 4, w, &r[1]);
    r[2] = none;
    WRONG(MPI_Startall(3, r), MPI_ERR_REQUEST);
    WRONG(MPI_Startall(-1, r), MPI_ERR_COUNT);
    r[2] = MPI_REQUEST_NULL;
    WRONG(MPI_Startall(3, r), MPI_ERR_REQUEST);
    MPI_Iprobe(rank, 4, w, &flag, &status);
    CHECK(!flag);
    EQUAL(MPI_Startall(2, r), MPI_SUCCESS);
    WRONG(MPI_Startall(2, r), MPI_ERR_REQUEST);
    EQUAL(MPI_Waitall(2, r, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    EQUAL(MPI_Request_free(&r[0]), MPI_SUCCESS);
    EQUAL(MPI_Request_free(&r[1]), MPI_SUCCESS);

    /* None is completed if one is none, or if it cannot be said which. */
    MPI_Isend(&x, 1, MPI_INT, rank, 5, w, &r[0]);
    MPI_Irecv(&y, 1, MPI_INT, rank, 5, w, &r[1]);
    r[2] = none;
    WRONG(MPI_Waitall(3, r, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
    WRONG(MPI_Waitall(-1, r, MPI_STATUSES_IGNORE), MPI_ERR_COUNT);
    WRONG(MPI_Waitany(2, r, NULL, &status), MPI_ERR_ARG);
    WRONG(MPI_Testany(2, r, &index, NULL, &status), MPI_ERR_ARG);
    WRONG(MPI_Testany(2, r, NULL, &flag, &status), MPI_ERR_ARG);
    WRONG(MPI_Test(&r[0], NULL, &status), MPI_ERR_ARG);
    WRONG(MPI_Testall(2, r, NULL, MPI_STATUSES_IGNORE), MPI_ERR_ARG);
    WRONG(MPI_Waitsome(2, r, NULL, &index, MPI_STATUSES_IGNORE), MPI_ERR_ARG);
    WRONG(MPI_Waitsome(2, r, &flag, NULL, MPI_STATUSES_IGNORE), MPI_ERR_ARG);
    CHECK(r[0] != MPI_REQUEST_NULL && r[1] != MPI_REQUEST_NULL);
    EQUAL(MPI_Waitall(2, r, MPI_STATUSES_IGNORE), MPI_SUCCESS);

    /* What has to take requests that are null or inactive. */
    MPI_Request null = MPI_REQUEST_NULL;
    EQUAL(MPI_Wait(&null, &status), MPI_SUCCESS);
    EQUAL(status.MPI_SOURCE, MPI_ANY_SOURCE);
    flag = 0;
    EQUAL(MPI_Test(&null, &flag, &status), MPI_SUCCESS);
    CHECK(flag);
    flag = 0;
    EQUAL(MPI_Parrived(null, 0, &flag), MPI_SUCCESS);
    CHECK(flag);
    flag = 0;
    EQUAL(MPI_Request_get_status(null, &flag, &status), MPI_SUCCESS);
    CHECK(flag);
    flag = 0;
    EQUAL(MPI_Request_get_status_all(1, &null, &flag, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    CHECK(flag);
    flag = 0;
    EQUAL(MPI_Request_get_status_any(1, &null, &index, &flag, &status), MPI_SUCCESS);
    CHECK(flag && index == MPI_UNDEFINED);
    EQUAL(MPI_Request_get_status_some(1, &null, &flag, &index, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    EQUAL(flag, MPI_UNDEFINED);
    return finish();
}
