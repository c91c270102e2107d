// Checked mode says nothing of variables that have the same place in the stack, of which one fits; and of those that are
// optimized it finds what is wrong.
// cc: -g -O2
// run: -n 2 --check -- ; says right ; never says catena: check
//
// variant: checked_slots_fail
// run: -n 2 --check -- short ; says error \[bounds\]: rank \d: MPI_Bcast \S+ its buffer buffer is in the variable few of 40 bytes, but 11 elements of MPI_INT
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define WORLD MPI_COMM_WORLD
static int rank, next, last;

union number { int i[4]; double d[2]; float f[4]; };

/* Each variable is in use for a while only. */
static void one_after_the_other(void)
{
    {
        int a[100];
        for (int i = 0; i < 100; i++)
            a[i] = i;
        MPI_Bcast(a, 100, MPI_INT, 0, WORLD);
    }
    {
        double b[50];
        for (int i = 0; i < 50; i++)
            b[i] = i;
        MPI_Bcast(b, 50, MPI_DOUBLE, 0, WORLD);
    }
    {
        float c[120];
        for (int i = 0; i < 120; i++)
            c[i] = i;
        MPI_Bcast(c, 120, MPI_FLOAT, 0, WORLD);
    }
}

static inline void pass(const void *from, void *to, int count, MPI_Datatype type)
{
    MPI_Request request;
    MPI_Irecv(to, count, type, last, 0, WORLD, &request);
    MPI_Send(from, count, type, next, 0, WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The same in a function with branches, in which the compiler puts what it can upon each other. */
static int in_branches(int which)
{
    MPI_Status status[8];
    int sum = 0;
    switch (which) {
    case 0: {
        union number u, w;
        memset(&u, 0, sizeof u);
        pass(&u, &w, 4, MPI_FLOAT);
        long number = 3, got;
        pass(&number, &got, 1, MPI_LONG);
        struct { float value; int index; } pair = {1, 2}, other;
        pass(&pair, &other, 1, MPI_FLOAT_INT);
        int two[2] = {1, 2}, others[2];
        pass(two, others, 1, MPI_2INT);
        sum = got + other.index + others[0];
        break;
    }
    case 1: {
        int counts[64], zeros[64] = {0}, places[64], size, one = 5, all[64];
        MPI_Comm_size(WORLD, &size);
        for (int i = 0; i < size; i++)
            counts[i] = 1, places[i] = i;
        MPI_Alltoallv(&one, counts, zeros, MPI_INT, all, counts, places, MPI_INT, WORLD);
        char text[6] = "hello", in[6];
        pass(text, in, 6, MPI_CHAR);
        sum = all[0] + in[0];
        break;
    }
    case 2: {
        double mine = 1, most;
        MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, WORLD);
        sum = most;
        break;
    }
    case 3: {
        int done = 1, flag;
        MPI_Allreduce(&done, &flag, 1, MPI_INT, MPI_MIN, WORLD);
        MPI_Sendrecv(&done, 1, MPI_INT, next, 0, &flag, 1, MPI_INT, last, 0, WORLD, status);
        sum = flag;
        break;
    }
    case 4: {
        double grid[8][8];
        memset(grid, 0, sizeof grid);
        MPI_Bcast(grid[3], 8, MPI_DOUBLE, 0, WORLD);
        sum = grid[3][0];
        break;
    }
    }
    return sum;
}

int main(int argc, char **argv)
{
    int size, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    next = (rank + 1) % size;
    last = (rank + size - 1) % size;
    if (argc > 1 && !strcmp(argv[1], "short")) {
        int few[10];
        memset(few, 0, sizeof few);
        MPI_Bcast(few, 11, MPI_INT, 0, WORLD);
        sum = few[3];
    }
    one_after_the_other();
    for (int i = 0; i < 5; i++)
        sum += in_branches(i);
    if (rank == 0)
        puts(sum >= 0 ? "right" : "");
    MPI_Finalize();
    return 0;
}
