// Messages do not overtake: wildcards see each sender's messages in the order sent.
// run: -n 2
// run: -n 4
// run: -n 8
#include "../check.h"

enum { N = 600 };

int main(int argc, char **argv)
{
    start(&argc, &argv);
    /* Small and large messages take different protocols, and must still keep their order. */
    enum { BIG = 5000 };
    static int data[BIG];
    if (rank == 0) {
        int next[64] = {0};
        MPI_Request posted[8];
        static int room[8][BIG];
        int total = N * (size - 1), done = 0;
        /* Blocking receives, any source and any tag. */
        for (; done < total / 2; done++) {
            MPI_Status s;
            int count;
            MPI_Recv(data, BIG, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
            MPI_Get_count(&s, MPI_INT, &count);
            EQUAL(data[0], next[s.MPI_SOURCE]);
            EQUAL(s.MPI_TAG, next[s.MPI_SOURCE] % 32);
            EQUAL(count, data[0] % 7 ? 1 : BIG);
            EQUAL(data[count - 1], data[0]);
            next[s.MPI_SOURCE]++;
        }
        /* Then several posted at once: they complete in the order in which they match. */
        while (done < total) {
            int batch = total - done < 8 ? total - done : 8;
            MPI_Status s[8];
            for (int i = 0; i < batch; i++)
                MPI_Irecv(room[i], BIG, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                          &posted[i]);
            MPI_Waitall(batch, posted, s);
            for (int i = 0; i < batch; i++) {
                EQUAL(room[i][0], next[s[i].MPI_SOURCE]);
                next[s[i].MPI_SOURCE]++;
            }
            done += batch;
        }
        for (int from = 1; from < size; from++)
            EQUAL(next[from], N);
    } else {
        for (int i = 0; i < N; i++) {
            int count = i % 7 ? 1 : BIG;
            data[0] = data[count - 1] = i;
            MPI_Send(data, count, MPI_INT, 0, i % 32, MPI_COMM_WORLD);
        }
    }
    return finish();
}
