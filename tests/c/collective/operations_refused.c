// Every predefined operation in every call that combines, on every kind of type: what is not defined is refused by all
// members alike with MPI_ERR_OP, and nothing waits. Accumulates of other types, requests outside of passive epochs, and
// MPI_DATATYPE_NULL for blocks that are all empty.
// run: -n 2
// run: --set LINK=tcp -n 3
#include "../check.h"

enum { INTEGER, REAL, COMPLEX, LOGICAL, BYTES, PAIR, KINDS };

static const struct { MPI_Datatype type; int kind; } TYPES[] = {
    { MPI_INT, INTEGER }, { MPI_UNSIGNED_LONG, INTEGER }, { MPI_INT8_T, INTEGER }, { MPI_AINT, INTEGER },
    { MPI_FLOAT, REAL }, { MPI_DOUBLE, REAL }, { MPI_C_DOUBLE_COMPLEX, COMPLEX },
    { MPI_C_BOOL, LOGICAL }, { MPI_BYTE, BYTES }, { MPI_DOUBLE_INT, PAIR }, { MPI_2INT, PAIR },
};

enum { TYPES_N = sizeof TYPES / sizeof *TYPES };

/* MPI-5, 6.9.2 and 12.3.4: by the operation, which kinds of type it takes. */
static const struct { MPI_Op op; unsigned kinds; int one_sided; } OPS[] = {
    { MPI_MAX, 1 << INTEGER | 1 << REAL, 0 }, { MPI_MIN, 1 << INTEGER | 1 << REAL, 0 },
    { MPI_SUM, 1 << INTEGER | 1 << REAL | 1 << COMPLEX, 0 }, { MPI_PROD, 1 << INTEGER | 1 << REAL | 1 << COMPLEX, 0 },
    { MPI_LAND, 1 << INTEGER | 1 << LOGICAL, 0 }, { MPI_LOR, 1 << INTEGER | 1 << LOGICAL, 0 },
    { MPI_LXOR, 1 << INTEGER | 1 << LOGICAL, 0 },
    { MPI_BAND, 1 << INTEGER | 1 << BYTES, 0 }, { MPI_BOR, 1 << INTEGER | 1 << BYTES, 0 },
    { MPI_BXOR, 1 << INTEGER | 1 << BYTES, 0 },
    { MPI_MINLOC, 1 << PAIR, 0 }, { MPI_MAXLOC, 1 << PAIR, 0 },
    { MPI_REPLACE, ~0u, 1 }, { MPI_NO_OP, ~0u, 1 },
};

enum { OPS_N = sizeof OPS / sizeof *OPS };

static long double in[64], out[64];

/* One call of each way to combine; a request that it makes is completed. */
static int call(int way, MPI_Datatype type, MPI_Op op, int n)
{
    static const int counts[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    static const int none[8];
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Request r = MPI_REQUEST_NULL;
    int code;
    switch (way) {
    case 0: return MPI_Reduce(in, out, n, type, op, 0, world);
    case 1: return MPI_Allreduce(in, out, n, type, op, world);
    case 2: return MPI_Scan(in, out, n, type, op, world);
    case 3: return MPI_Exscan(in, out, n, type, op, world);
    case 4: return MPI_Reduce_scatter(in, out, n ? counts : none, type, op, world);
    case 5: return MPI_Reduce_scatter_block(in, out, n, type, op, world);
    case 6: return MPI_Reduce_local(in, out, n, type, op);
    case 7: code = MPI_Ireduce(in, out, n, type, op, 0, world, &r); break;
    case 8: code = MPI_Iallreduce(in, out, n, type, op, world, &r); break;
    case 9: code = MPI_Iscan(in, out, n, type, op, world, &r); break;
    case 10: code = MPI_Iexscan(in, out, n, type, op, world, &r); break;
    case 11: code = MPI_Ireduce_scatter(in, out, n ? counts : none, type, op, world, &r); break;
    case 12: code = MPI_Ireduce_scatter_block(in, out, n, type, op, world, &r); break;
    case 13: code = MPI_Allreduce_init(in, out, n, type, op, world, MPI_INFO_NULL, &r);
        if (code == MPI_SUCCESS) {
            MPI_Start(&r);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
            MPI_Request_free(&r);
        }
        return code;
    default: return MPI_Allreduce(MPI_IN_PLACE, out, n, type, op, world);
    }
    return code == MPI_SUCCESS ? MPI_Wait(&r, MPI_STATUS_IGNORE) : code;
}

static void reductions(void)
{
    for (int o = 0; o < OPS_N; o++)
        for (int t = 0; t < TYPES_N; t++)
            for (int way = 0; way < 15; way++)
                for (int n = 0; n < 2; n++) {
                    int good = !OPS[o].one_sided && OPS[o].kinds >> TYPES[t].kind & 1;
                    int class = class_of(call(way, TYPES[t].type, OPS[o].op, n));
                    if (class != (good ? MPI_SUCCESS : MPI_ERR_OP))
                        fprintf(stderr, "operation %d, type %d, way %d, %d elements\n", o, t, way, n);
                    EQUAL(class, good ? MPI_SUCCESS : MPI_ERR_OP);
                }
}

static void accumulates(void)
{
    MPI_Win win;
    void *memory;
    MPI_Request request = MPI_REQUEST_NULL;
    int x = 1;
    float f = 2;
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_fence(0, win);
    /* Requests are for passive epochs (12.3.5). */
    EQUAL(class_of(MPI_Rput(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &request)), MPI_ERR_RMA_SYNC);
    EQUAL(class_of(MPI_Rget(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &request)), MPI_ERR_RMA_SYNC);
    EQUAL(class_of(MPI_Raccumulate(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win, &request)), MPI_ERR_RMA_SYNC);
    EQUAL(class_of(MPI_Rget_accumulate(&x, 1, MPI_INT, &x, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win, &request)),
          MPI_ERR_RMA_SYNC);
    CHECK(request == MPI_REQUEST_NULL);
    /* Both sides have elements of one predefined type (12.3.4). */
    EQUAL(class_of(MPI_Accumulate(&x, 1, MPI_INT, 0, 0, 1, MPI_FLOAT, MPI_SUM, win)), MPI_ERR_TYPE);
    EQUAL(class_of(MPI_Accumulate(&x, 1, MPI_INT, 0, 0, 1, MPI_FLOAT, MPI_REPLACE, win)), MPI_ERR_TYPE);
    EQUAL(class_of(MPI_Get_accumulate(&x, 1, MPI_INT, &f, 1, MPI_FLOAT, 0, 0, 1, MPI_INT, MPI_SUM, win)), MPI_ERR_TYPE);
    EQUAL(class_of(MPI_Get_accumulate(NULL, 0, MPI_INT, &f, 1, MPI_FLOAT, 0, 0, 1, MPI_INT, MPI_NO_OP, win)),
          MPI_ERR_TYPE);
    EQUAL(class_of(MPI_Accumulate(&x, 1, MPI_INT, 0, 0, 1, MPI_INT32_T, MPI_SUM, win)), MPI_SUCCESS);
    /* Nothing else is refused, and nothing else taken, than for reductions. */
    for (int o = 0; o < OPS_N; o++)
        for (int t = 0; t < TYPES_N; t++) {
            MPI_Datatype type = TYPES[t].type;
            int kinds = OPS[o].kinds >> TYPES[t].kind & 1;
            int no_op = OPS[o].op == MPI_NO_OP;
            EQUAL(class_of(MPI_Accumulate(in, 1, type, 0, 0, 1, type, OPS[o].op, win)),
                  kinds && !no_op ? MPI_SUCCESS : MPI_ERR_OP);
            EQUAL(class_of(MPI_Get_accumulate(in, 1, type, out, 1, type, 0, 0, 1, type, OPS[o].op, win)),
                  kinds ? MPI_SUCCESS : MPI_ERR_OP);
            MPI_Win_fence(0, win);
        }
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* Blocks that are all empty have no type. */
static void nothing(void)
{
    int none[8] = { 0 }, some[8] = { 1, 1, 1, 1, 1, 1, 1, 1 }, at[8], from[8], to[8];
    MPI_Datatype no[8], types[8];
    MPI_Request r;
    for (int i = 0; i < 8; i++)
        no[i] = MPI_DATATYPE_NULL, types[i] = MPI_INT, at[i] = i, from[i] = rank;
    EQUAL(MPI_Alltoallv(from, none, at, MPI_DATATYPE_NULL, to, none, at, MPI_DATATYPE_NULL, MPI_COMM_WORLD), 0);
    EQUAL(MPI_Alltoallw(from, none, none, no, to, none, none, no, MPI_COMM_WORLD), 0);
    EQUAL(MPI_Ialltoallw(from, none, none, no, to, none, none, no, MPI_COMM_WORLD, &r), 0);
    EQUAL(MPI_Wait(&r, MPI_STATUS_IGNORE), 0);
    /* Only rank 0 sends, and only to rank 1. */
    int sends[8] = { 0 }, receives[8] = { 0 };
    sends[1] = rank == 0, receives[0] = rank == 1;
    to[0] = -1;
    for (int i = 0; i < size; i++)
        types[i] = sends[i] ? MPI_INT : MPI_DATATYPE_NULL, no[i] = receives[i] ? MPI_INT : MPI_DATATYPE_NULL;
    EQUAL(MPI_Alltoallw(from, sends, none, types, to, receives, none, no, MPI_COMM_WORLD), 0);
    EQUAL(to[0], rank == 1 ? 0 : -1);
    EQUAL(MPI_Alltoallv(from, sends, at, rank ? MPI_DATATYPE_NULL : MPI_INT, to, receives, at,
                        rank == 1 ? MPI_INT : MPI_DATATYPE_NULL, MPI_COMM_WORLD), 0);
    EQUAL(to[0], rank == 1 ? 0 : -1);
    EQUAL(MPI_Gatherv(from, 0, MPI_INT, to, none, at, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD), 0);
    EQUAL(MPI_Scatterv(from, none, at, MPI_DATATYPE_NULL, to, 0, MPI_INT, 0, MPI_COMM_WORLD), 0);
    EQUAL(MPI_Allgatherv(from, 0, MPI_INT, to, none, at, MPI_DATATYPE_NULL, MPI_COMM_WORLD), 0);
    /* Blocks that are not empty have one. */
    EQUAL(class_of(MPI_Alltoallv(from, some, at, MPI_DATATYPE_NULL, to, some, at, MPI_INT, MPI_COMM_WORLD)),
          MPI_ERR_TYPE);
    for (int i = 0; i < size; i++)
        no[i] = MPI_DATATYPE_NULL, types[i] = MPI_INT;
    EQUAL(class_of(MPI_Alltoallw(from, some, none, types, to, some, none, no, MPI_COMM_WORLD)), MPI_ERR_TYPE);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    reductions();
    accumulates();
    nothing();
    return finish();
}
