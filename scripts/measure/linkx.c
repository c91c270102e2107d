/* Two ranks, for scripts/measure/linkx: half of a round trip of 8 bytes, microseconds, the best of 20 turns;
 * and bandwidth of windows of 16 messages with one answer, MiB/s, for 64 KiB and 1 MiB, the best of 10 turns.
 * Every message is checked. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 16, LONGEST = 1 << 20 };

static char *buffers[WINDOW];

static void check(int good)
{
    if (!good) {
        fprintf(stderr, "wrong data\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static double latency(int rank, int count)
{
    char message[8];
    double began = MPI_Wtime();
    for (int turn = 0; turn < count; turn++) {
        memset(message, turn, 8);
        if (rank == 0)
            MPI_Send(message, 8, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        memset(message, ~turn, 8);
        MPI_Recv(message, 8, MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(message[7] == (char)turn);
        if (rank == 1)
            MPI_Send(message, 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    }
    return (MPI_Wtime() - began) / count / 2 * 1e6;
}

static double bandwidth(int rank, int len, int count)
{
    MPI_Request requests[WINDOW];
    char answer = 0;
    for (int at = 0; at < WINDOW; at++)
        memset(buffers[at], rank ? -1 : at, len);
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    for (int turn = 0; turn < count; turn++) {
        for (int at = 0; at < WINDOW; at++) {
            if (rank == 0)
                MPI_Isend(buffers[at], len, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &requests[at]);
            else
                MPI_Irecv(buffers[at], len, MPI_CHAR, 0, 2, MPI_COMM_WORLD, &requests[at]);
        }
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        if (rank == 0)
            MPI_Recv(&answer, 1, MPI_CHAR, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(&answer, 1, MPI_CHAR, 0, 3, MPI_COMM_WORLD);
    }
    double took = MPI_Wtime() - began;
    for (int at = 0; at < WINDOW; at++)
        check(buffers[at][0] == at && buffers[at][len - 1] == at);
    return (double)len * WINDOW * count / took / (1 << 20);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check(size == 2);
    for (int at = 0; at < WINDOW; at++)
        buffers[at] = malloc(LONGEST);
    double best = 1e9, wide[2] = {0, 0};
    for (int turn = 0; turn < 20; turn++) {
        double now = latency(rank, 1000);
        best = now < best ? now : best;
    }
    for (int turn = 0; turn < 10; turn++)
        for (int kind = 0; kind < 2; kind++) {
            double now = bandwidth(rank, kind ? LONGEST : 1 << 16, kind ? 4 : 40);
            wide[kind] = now > wide[kind] ? now : wide[kind];
        }
    if (rank == 0)
        printf("result %.3f %.1f %.1f\n", best, wide[0], wide[1]);
    MPI_Finalize();
    return 0;
}
