// Messages that arrive before their receive: all sizes, taken in another order than sent.
// run: -n 2
// run: -n 4
#include "../check.h"

enum { TAGS = 24 };

int main(int argc, char **argv)
{
    start(&argc, &argv);
    static const int sizes[] = {0, 8, 64, 1000, 8192, 70000};
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int n = sizes[s];
        if (rank == 0) {
            unsigned char *in = malloc(n + 1);
            MPI_Barrier(MPI_COMM_WORLD);
            for (int tag = TAGS - 1; tag >= 0; tag--)
                for (int from = 1; from < size; from++) {
                    MPI_Status status;
                    MPI_Recv(in, n, MPI_BYTE, from, tag, MPI_COMM_WORLD, &status);
                    EQUAL(status.MPI_TAG, tag);
                    EQUAL(wrong_at(in, n, from * 100u + tag), n);
                }
            free(in);
        } else {
            unsigned char *out[TAGS];
            MPI_Request sent[TAGS];
            for (int tag = 0; tag < TAGS; tag++) {
                out[tag] = malloc(n + 1);
                fill(out[tag], n, rank * 100u + tag);
                MPI_Isend(out[tag], n, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &sent[tag]);
            }
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Waitall(TAGS, sent, MPI_STATUSES_IGNORE);
            for (int tag = 0; tag < TAGS; tag++)
                free(out[tag]);
        }
    }
    return finish();
}
