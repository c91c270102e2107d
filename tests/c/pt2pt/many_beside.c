// A message and a probe take as long beside 10,000 objects of any kind as beside one: nothing that is polled walks over them.
// What is compared is the best of many short rounds, and what fails is a walk, which makes it a hundred times as long.
// run: -n 2
// run: --set LINK=tcp -n 2
// time: 120
// only: catena
#include "../../../crates/bench/program/beside.c"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* More than this times as long is a walk; a second look decides. */
static const double most = 3;

int rank, size;
MPI_Comm world;

void *must(void *memory)
{
    if (!memory)
        MPI_Abort(MPI_COMM_WORLD, 3);
    return memory;
}

void pair_up(struct task *t, int pairs)
{
    t->pairs = pairs;
    t->first = t->rank == 0;
    t->peer = 1 - t->rank;
}

double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* Microseconds of the best round. */
static double best(const struct bench *b)
{
    struct task t = {.bench = b, .comm = world, .rank = rank, .size = size, .peer = -1, .parts = 1};
    double least = 1;
    b->prepare(&t);
    b->open(&t);
    /* All of them had their turn now. */
    for (int i = 0; i < 1000; i++)
        b->run(&t, 10);
    for (int i = 0; i < 100; i++) {
        MPI_Barrier(world);
        double begin = now();
        b->run(&t, 20);
        double took = (now() - begin) / 20;
        least = took < least ? took : least;
    }
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE, MPI_MAX, world);
    b->close(&t);
    b->finish(&t);
    return 1e6 * least;
}

/* The row of the same kind that has another number of them. */
static const struct bench *sibling(const struct bench *b, const char *ours, const char *theirs)
{
    char name[64];
    const char *at = strstr(b->name, ours);
    snprintf(name, sizeof name, "%.*s%s%s", (int)(at - b->name), b->name, theirs, at + strlen(ours));
    for (const struct bench *it = beside; it->name; it++)
        if (!strcmp(it->name, name))
            return it;
    return NULL;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    world = MPI_COMM_WORLD;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    int walks = 0, kinds = 0;
    for (const struct bench *b = beside; b->name; b++) {
        if (!strstr(b->name, "_10000_"))
            continue;
        const struct bench *one = sibling(b, "_10000_", "_1_");
        double few = best(one), many = best(b);
        for (int again = 0; again < 2 && many > most * few; again++)
            few = best(one), many = best(b);
        if (rank == 0 && many > most * few)
            fprintf(stderr, "%s takes %.3f us, and %s %.3f\n", b->name, many, one->name, few);
        walks += many > most * few;
        kinds++;
    }
    if (rank == 0)
        printf("%d of %d take longer\n", walks, kinds);
    MPI_Finalize();
    return walks || kinds < 20;
}
