// Every kind of wrong argument gets its error class when errors return (MPICH crashes on some).
// run: -n 2
// only: catena
#include "../check.h"

#define RAISES(call, class)                                                     \
    do {                                                                        \
        int rc_ = (call);                                                       \
        if (class_of(rc_) != (class)) {                                         \
            char t_[MPI_MAX_ERROR_STRING];                                      \
            int l_;                                                             \
            MPI_Error_string(rc_, t_, &l_);                                     \
            fprintf(stderr, "%s:%d: %s: class %d, not %s: %s\n", __FILE__, __LINE__, #call, \
                    class_of(rc_), #class, t_);                                 \
            wrong++;                                                            \
        }                                                                       \
    } while (0)

static int wrong;

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm w = MPI_COMM_WORLD;
    int x[8] = {0}, y[64] = {0}, flag, n;
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Status s;
    MPI_Datatype raw;

    /* Ranks. */
    RAISES(MPI_Send(x, 1, MPI_INT, size, 0, w), MPI_ERR_RANK);
    RAISES(MPI_Send(x, 1, MPI_INT, -77, 0, w), MPI_ERR_RANK);
    RAISES(MPI_Send(x, 1, MPI_INT, MPI_ANY_SOURCE, 0, w), MPI_ERR_RANK);
    RAISES(MPI_Recv(x, 1, MPI_INT, size, 0, w, &s), MPI_ERR_RANK);
    RAISES(MPI_Irecv(x, 1, MPI_INT, -99, 0, w, &r), MPI_ERR_RANK);
    RAISES(MPI_Isend(x, 1, MPI_INT, 1 << 30, 0, w, &r), MPI_ERR_RANK);
    RAISES(MPI_Probe(size, 0, w, &s), MPI_ERR_RANK);
    RAISES(MPI_Iprobe(size + 5, 0, w, &flag, &s), MPI_ERR_RANK);
    RAISES(MPI_Sendrecv(x, 1, MPI_INT, size, 0, y, 1, MPI_INT, 0, 0, w, &s), MPI_ERR_RANK);
    RAISES(MPI_Send_init(x, 1, MPI_INT, size, 0, w, &r), MPI_ERR_RANK);

    /* Tags. */
    RAISES(MPI_Send(x, 1, MPI_INT, 0, -5, w), MPI_ERR_TAG);
    RAISES(MPI_Send(x, 1, MPI_INT, 0, MPI_ANY_TAG, w), MPI_ERR_TAG);
    RAISES(MPI_Recv(x, 1, MPI_INT, 0, -5, w, &s), MPI_ERR_TAG);
    RAISES(MPI_Probe(0, -9, w, &s), MPI_ERR_TAG);

    /* Counts. */
    RAISES(MPI_Send(x, -1, MPI_INT, 0, 0, w), MPI_ERR_COUNT);
    RAISES(MPI_Recv(x, -1, MPI_INT, 0, 0, w, &s), MPI_ERR_COUNT);
    RAISES(MPI_Bcast(x, -1, MPI_INT, 0, w), MPI_ERR_COUNT);
    RAISES(MPI_Allreduce(x, y, -2, MPI_INT, MPI_SUM, w), MPI_ERR_COUNT);
    RAISES(MPI_Type_contiguous(-1, MPI_INT, &raw), MPI_ERR_COUNT);

    /* Datatypes. */
    RAISES(MPI_Send(x, 1, MPI_DATATYPE_NULL, 0, 0, w), MPI_ERR_TYPE);
    RAISES(MPI_Recv(x, 1, MPI_DATATYPE_NULL, 0, 0, w, &s), MPI_ERR_TYPE);
    RAISES(MPI_Bcast(x, 1, MPI_DATATYPE_NULL, 0, w), MPI_ERR_TYPE);
    MPI_Type_contiguous(2, MPI_INT, &raw);
    RAISES(MPI_Send(x, 1, raw, 0, 0, w), MPI_ERR_TYPE); /* not committed */
    MPI_Type_free(&raw);
    RAISES(MPI_Type_size(MPI_DATATYPE_NULL, &n), MPI_ERR_TYPE);

    /* Communicators. */
    RAISES(MPI_Send(x, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
    RAISES(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
    RAISES(MPI_Comm_size(MPI_COMM_NULL, &n), MPI_ERR_COMM);
    MPI_Comm null = MPI_COMM_NULL;
    RAISES(MPI_Comm_free(&null), MPI_ERR_COMM);

    /* Roots. */
    RAISES(MPI_Bcast(x, 1, MPI_INT, size, w), MPI_ERR_ROOT);
    RAISES(MPI_Bcast(x, 1, MPI_INT, -1, w), MPI_ERR_ROOT);
    RAISES(MPI_Reduce(x, y, 1, MPI_INT, MPI_SUM, size, w), MPI_ERR_ROOT);
    RAISES(MPI_Gather(x, 1, MPI_INT, y, 1, MPI_INT, -8, w), MPI_ERR_ROOT);
    RAISES(MPI_Scatter(x, 1, MPI_INT, y, 1, MPI_INT, 1 << 20, w), MPI_ERR_ROOT);

    /* Operations. */
    RAISES(MPI_Allreduce(x, y, 1, MPI_INT, MPI_OP_NULL, w), MPI_ERR_OP);
    RAISES(MPI_Allreduce(x, y, 1, MPI_DOUBLE, MPI_BAND, w), MPI_ERR_OP);

    /* Buffers. */
    RAISES(MPI_Send(NULL, 1, MPI_INT, 0, 0, w), MPI_ERR_BUFFER);
    RAISES(MPI_Send(MPI_IN_PLACE, 1, MPI_INT, 0, 0, w), MPI_ERR_BUFFER);
    RAISES(MPI_Recv(NULL, 1, MPI_INT, 0, 0, w, &s), MPI_ERR_BUFFER);
    RAISES(MPI_Allreduce(x, x, 1, MPI_INT, MPI_SUM, w), MPI_ERR_BUFFER); /* aliased */
    RAISES(MPI_Bsend(x, 1, MPI_INT, 0, 0, w), MPI_ERR_BUFFER);           /* none attached */

    /* Groups. */
    MPI_Group g, h;
    MPI_Comm_group(w, &g);
    int bad[2] = {0, size}, twice[2] = {0, 0};
    RAISES(MPI_Group_incl(g, 2, bad, &h), MPI_ERR_RANK);
    RAISES(MPI_Group_incl(g, 2, twice, &h), MPI_ERR_RANK);
    RAISES(MPI_Group_size(MPI_GROUP_NULL, &n), MPI_ERR_GROUP);
    MPI_Group_free(&g);

    /* Requests: null ones are fine to wait for. */
    EQUAL(MPI_Wait(&r, &s), MPI_SUCCESS);
    EQUAL(s.MPI_SOURCE, MPI_ANY_SOURCE);
    RAISES(MPI_Cancel(&r), MPI_ERR_REQUEST);
    RAISES(MPI_Request_free(&r), MPI_ERR_REQUEST);
    RAISES(MPI_Start(&r), MPI_ERR_REQUEST);

    /* After all that, messages still pass. */
    MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 0, &n, 1, MPI_INT, 1 - rank, 0, w, &s);
    EQUAL(n, 1 - rank);
    if (wrong)
        MPI_Abort(w, 1);
    return finish();
}
