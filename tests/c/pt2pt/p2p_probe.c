// Probe, Iprobe and the matched forms; a matched message is seen by nobody else.
// run: -n 2
// run: -n 4
#include "../check.h"

static void sender(void)
{
    static int data[20000];
    for (int n = 1; n <= 20000; n = n * 3 + 1) {
        for (int i = 0; i < n; i++)
            data[i] = rank + n + i;
        for (int kind = 0; kind < 4; kind++)
            MPI_Send(data, n, MPI_INT, 0, kind, MPI_COMM_WORLD);
    }
}

static void verify(const int *data, int n, int from)
{
    for (int i = 0; i < n; i++)
        EQUAL(data[i], from + n + i);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    if (rank) {
        sender();
    } else {
        static int data[20000];
        MPI_Status s, t;
        MPI_Message m;
        MPI_Request r;
        int flag, count, more;
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, &s);
        CHECK(!flag);
        MPI_Improbe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, &m, &s);
        CHECK(!flag && m == MPI_MESSAGE_NULL);
        for (int from = 1; from < size; from++)
            for (int n = 1; n <= 20000; n = n * 3 + 1) {
                MPI_Probe(from, 0, MPI_COMM_WORLD, &s);
                EQUAL(s.MPI_SOURCE, from);
                MPI_Get_count(&s, MPI_INT, &count);
                EQUAL(count, n);
                MPI_Recv(data, count, MPI_INT, from, 0, MPI_COMM_WORLD, &t);
                verify(data, n, from);

                do
                    MPI_Iprobe(from, 1, MPI_COMM_WORLD, &flag, &s);
                while (!flag);
                MPI_Get_count(&s, MPI_INT, &count);
                EQUAL(count, n);
                MPI_Recv(data, count, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                verify(data, n, from);

                MPI_Mprobe(from, 2, MPI_COMM_WORLD, &m, &s);
                MPI_Get_count(&s, MPI_INT, &count);
                EQUAL(count, n);
                MPI_Iprobe(from, 2, MPI_COMM_WORLD, &more, &t);
                if (more) { /* the next round's message at most, never the matched one */
                    MPI_Get_count(&t, MPI_INT, &count);
                    EQUAL(count, n * 3 + 1);
                }
                MPI_Mrecv(data, n, MPI_INT, &m, &s);
                CHECK(m == MPI_MESSAGE_NULL);
                EQUAL(s.MPI_TAG, 2);
                verify(data, n, from);

                do
                    MPI_Improbe(from, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &m, &s);
                while (!flag);
                EQUAL(s.MPI_TAG, 3);
                MPI_Imrecv(data, n, MPI_INT, &m, &r);
                CHECK(m == MPI_MESSAGE_NULL);
                MPI_Wait(&r, &s);
                EQUAL(s.MPI_SOURCE, from);
                verify(data, n, from);
            }
        MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &m, &s);
        CHECK(m == MPI_MESSAGE_NO_PROC);
        EQUAL(s.MPI_SOURCE, MPI_PROC_NULL);
        MPI_Mrecv(data, 1, MPI_INT, &m, &s);
        EQUAL(s.MPI_SOURCE, MPI_PROC_NULL);
        MPI_Probe(MPI_PROC_NULL, 4, MPI_COMM_WORLD, &s);
        EQUAL(s.MPI_SOURCE, MPI_PROC_NULL);
        /* Where nothing moves, no type is needed. */
        MPI_Recv(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 4, MPI_COMM_WORLD, &s);
        EQUAL(s.MPI_SOURCE, MPI_PROC_NULL);
        MPI_Send(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 4, MPI_COMM_WORLD);
    }
    return finish();
}
