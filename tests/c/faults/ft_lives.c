// Random lives of spawned jobs, by seed: in each step a job comes, whose processes send some messages and end: well, after they
// have disconnected, or killed in the middle. All that those who ended well have sent arrives, a death is told as one, an end is
// not, and nothing waits for ever. The argument is the seed.
//
// only: catena
// time: 60
// run: -n 3 --with-ft ulfm --set FAULT_STATUS=first -- 1; says 'schedule 1 is over'; exit 137
// run: -n 3 --with-ft ulfm --set FAULT_STATUS=first --set LINK=tcp -- 2; says 'schedule 2 is over'; exit 137
// run: -n 3 --with-ft ulfm --set FAULT_STATUS=first --set LINK=tcp -- 3; says 'schedule 3 is over'; exit 137
// run: -n 2 --with-ft ulfm --set LINK=tcp -- 4 well; says 'schedule 4 is over'
#include "../check.h"
#include <mpi-ext.h>
#include <signal.h>
#include <stdint.h>

enum { STEPS = 4, MOST = 40, LONG = 20000 };
enum { WELL, SILENT, KILLED, LIVES };

static unsigned seed;
static int well_only;

static unsigned below(unsigned n, unsigned step, unsigned what)
{
    uint64_t z = ((uint64_t)seed << 32) + step * 97u + what + 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return (z ^ z >> 31) % n;
}

/* How a child of a step lives. The last step has a death for certain, unless all is to go well. */
static int life(int step, int child)
{
    int is = below(LIVES, step, 10 + child);
    if (step == STEPS - 1 && child == 0)
        is = KILLED;
    return is == KILLED && well_only ? WELL : is;
}

static int children(int step)
{
    return 1 + below(3, step, 1);
}

/* Messages that a child sends to each parent; one that is killed is so in the middle of them. */
static int count(int step, int child)
{
    return life(step, child) == SILENT ? 0 : 1 + below(MOST, step, 20 + child);
}

static int length(int step, int child, int at)
{
    return below(8, step, 30 + child * 100 + at) ? 1 : 1 + below(LONG, step, 31 + child * 100 + at);
}

static int *numbers(int step, int child, int at)
{
    static int words[LONG];
    for (int i = 0; i < length(step, child, at); i++)
        words[i] = step * 1000003 + child * 1009 + at * 31 + i;
    return words;
}

static void child(MPI_Comm parent, int step)
{
    int parents, how = life(step, rank), all = count(step, rank);
    MPI_Request request;
    MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
    MPI_Comm_remote_size(parent, &parents);
    /* A death while others are in MPI_Init ends them. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int at = 0; at < all; at++) {
        if (how == KILLED && at == all / 2)
            raise(SIGKILL);
        for (int to = 0; to < parents; to++) {
            int *words = numbers(step, rank, at), n = length(step, rank, at), flag;
            if (how == KILLED) {
                /* Nobody has to receive it. */
                int *kept = memcpy(malloc(n * sizeof *kept), words, n * sizeof *kept);
                MPI_Isend(kept, n, MPI_INT, to, at, parent, &request);
                MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            } else {
                MPI_Send(words, n, MPI_INT, to, at, parent);
            }
        }
    }
    MPI_Finalize();
    exit(0);
}

/* Acknowledges all deaths among the children; there are some. */
static void acknowledge(MPI_Comm inter, int step)
{
    int failed = 0, at, acked;
    MPI_Group group, remote;
    MPIX_Comm_get_failed(inter, &group);
    MPI_Comm_remote_group(inter, &remote);
    MPI_Group_size(group, &failed);
    CHECK(failed > 0);
    for (int i = 0; i < failed; i++) {
        MPI_Group_translate_ranks(group, 1, &i, remote, &at);
        CHECK(at >= 0 && life(step, at) == KILLED);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&remote);
    CHECK(MPIX_Comm_ack_failed(inter, failed, &acked) == MPI_SUCCESS);
}

/* Takes messages of any source until all have come of those that end well. */
static void parent(MPI_Comm inter, int step)
{
    static int in[LONG];
    int left = 0, last[3] = {0, 0, 0}, n = children(step);
    for (int at = 0; at < n; at++)
        left += life(step, at) == KILLED ? 0 : count(step, at);
    while (left > 0) {
        MPI_Status status;
        MPI_Request request;
        int error, words;
        MPI_Irecv(in, LONG, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &request);
        while (class_of(error = MPI_Wait(&request, &status)) == MPIX_ERR_PROC_FAILED_PENDING)
            acknowledge(inter, step);
        if (error != MPI_SUCCESS) {
            /* It had matched the beginning of a message of one that died. */
            EQUAL(class_of(error), MPIX_ERR_PROC_FAILED);
            continue;
        }
        int from = status.MPI_SOURCE;
        MPI_Get_count(&status, MPI_INT, &words);
        /* A long one of one that died may have failed before. */
        CHECK(status.MPI_TAG == last[from] || (life(step, from) == KILLED && status.MPI_TAG > last[from]));
        EQUAL(words, length(step, from, status.MPI_TAG));
        CHECK(!memcmp(in, numbers(step, from, status.MPI_TAG), words * sizeof *in));
        last[from] = status.MPI_TAG + 1;
        left -= life(step, from) != KILLED;
    }
}

int main(int argc, char **argv)
{
    MPI_Comm above;
    char text[20];
    seed = argc > 1 ? atoi(argv[1]) : 0;
    well_only = argc > 2 && !strcmp(argv[2], "well");
    start(&argc, &argv);
    MPI_Comm_get_parent(&above);
    if (above != MPI_COMM_NULL)
        child(above, atoi(argv[3]));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int step = 0; step < STEPS; step++) {
        MPI_Comm inter;
        snprintf(text, sizeof text, "%d", step);
        char *args[] = {argv[1], well_only ? "well" : "all", text, NULL};
        int error = MPI_Comm_spawn(argv[0], args, children(step), MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                                   MPI_ERRCODES_IGNORE);
        EQUAL(error, MPI_SUCCESS);
        MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
        parent(inter, step);
        MPI_Comm_free(&inter);
        EQUAL(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS);
    }
    if (rank == 0)
        printf("schedule %u is over\n", seed);
    MPI_Finalize();
    return 0;
}
