// A collective that was started moves on while the process is in some other call that blocks, until
// one member, which waits for the collective first, lets it go.
// run: -n 2
// run: -n 3
// run: -n 4
// run: -n 2 --set COLL_DIRECT=unlimited
// run: -n 5 --set COLL_NODE_STARTED=0
#include "../check.h"

enum { MOST = 1 << 18, WAYS = 6, KINDS = 7 };

static int *in, *out;

static void begin(int kind, int n, int root, MPI_Comm comm, MPI_Request *request)
{
    for (int i = 0; i < n * size; i++) {
        in[i] = 1000 * rank + i;
        out[i] = kind == 0 && rank == root ? i + 1 : -1;
    }
    switch (kind) {
    case 0: MPI_Ibcast(out, n, MPI_INT, root, comm, request); break;
    case 1: MPI_Igather(in, n, MPI_INT, out, n, MPI_INT, root, comm, request); break;
    case 2: MPI_Iscatter(in, n, MPI_INT, out, n, MPI_INT, root, comm, request); break;
    case 3: MPI_Ialltoall(in, n, MPI_INT, out, n, MPI_INT, comm, request); break;
    case 4: MPI_Iallreduce(in, out, n, MPI_INT, MPI_SUM, comm, request); break;
    case 5: MPI_Iscan(in, out, n, MPI_INT, MPI_SUM, comm, request); break;
    default: MPI_Ibarrier(comm, request); break;
    }
}

static int answer(int kind, int n, int root, int i)
{
    int from = i / n;
    switch (kind) {
    case 0: return i + 1;
    case 1: return 1000 * from + i % n;
    case 2: return 1000 * root + rank * n + i;
    case 3: return 1000 * from + rank * n + i % n;
    case 4: return 500 * size * (size - 1) + size * i;
    default: return 500 * rank * (rank + 1) + (rank + 1) * i;
    }
}

static void finish_one(int kind, int n, int root, MPI_Request *request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
    int blocks = kind == 1 || kind == 3 ? size : 1;
    for (int i = 0; i < n * blocks && kind != 6 && (kind != 1 || rank == root); i++)
        EQUAL(out[i], answer(kind, n, root, i));
}

/* What blocks until `leader` calls it, too, or answers it. */
static void block(int way, int leader, MPI_Comm comm, MPI_Comm other)
{
    MPI_Comm made;
    int word = 0, is_leader = rank == leader;
    switch (way) {
    case 0:
        if (is_leader)
            for (int r = 0; r < size; r++)
                r != rank ? MPI_Send(&word, 1, MPI_INT, r, 0, comm) : 0;
        else
            MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, MPI_STATUS_IGNORE);
        break;
    case 1:
        for (int r = 0; r < size && is_leader; r++)
            r != rank ? MPI_Recv(in, MOST, MPI_INT, r, 0, other, MPI_STATUS_IGNORE) : 0;
        if (!is_leader)
            MPI_Ssend(&word, 1, MPI_INT, leader, 0, other);
        break;
    case 2: MPI_Barrier(other); break;
    case 3: MPI_Bcast(&word, 1, MPI_INT, leader, other); break;
    case 4:
        MPI_Comm_dup(other, &made);
        MPI_Comm_free(&made);
        break;
    default:
        if (is_leader)
            for (int r = 0; r < size; r++)
                r != rank ? MPI_Send(&word, 1, MPI_INT, r, 7, comm) : 0;
        else {
            MPI_Probe(leader, 7, comm, MPI_STATUS_IGNORE);
            MPI_Recv(&word, 1, MPI_INT, leader, 7, comm, MPI_STATUS_IGNORE);
        }
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    const int sizes[] = {1, 3000, MOST};
    MPI_Comm comm, other;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    in = malloc(MOST * sizeof *in * size);
    out = malloc(MOST * sizeof *out * size);
    for (int k = 0; k < 3; k++) {
        /* The first call of a communicator makes its board, too. */
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int kind = 0; kind < KINDS; kind++)
            for (int way = 0; way < WAYS; way++) {
                int leader = (kind + way) % size, root = way % size, n = sizes[k];
                MPI_Request request;
                begin(kind, n, root, comm, &request);
                if (rank == leader)
                    finish_one(kind, n, root, &request);
                block(way, leader, comm, other);
                if (rank != leader)
                    finish_one(kind, n, root, &request);
            }
        MPI_Comm_free(&comm);
    }
    MPI_Comm_free(&other);
    free(in);
    free(out);
    return finish();
}
