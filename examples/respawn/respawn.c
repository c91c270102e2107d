/* A computation whose lost ranks come back to their places.
 *
 *     mpicc respawn.c -o respawn
 *     mpirun --with-ft ulfm -n 5 ./respawn 4
 *
 * Each rank of a ring has a number, and in each step replaces it by a sum over itself and its two neighbours.
 * About once a second a rank kills itself, as often as the first argument says; the second one is how many
 * milliseconds a step takes. The others notice it, spawn a process for the rank that is lost, and put it in
 * the same place: its neighbour on the right kept its number. Whatever dies, the numbers in the end are those
 * of a run in which nobody does. */
#include <mpi.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { STEPS_TO_A_DEATH = 100, PRIME = 1000003 };

static int deaths, pause_ms, size, rank;
/* Of the last step that all have done: its number, this rank's number, and that of the left neighbour. */
static long state[3] = {0, 0, 0};
/* The step at which this process came. */
static long born = -1;

static long next(long left, long own, long right)
{
    return (left + 2 * own + 3 * right) % PRIME;
}

static void check(int rc, const char *what)
{
    if (rc != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING];
        int len;
        MPI_Error_string(rc, text, &len);
        printf("%s: %s\n", what, text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* Makes the ring of all who are in `all`: each keeps the place that it had, and those who had none (-1) take the
 * places that are vacant. They get from their neighbours what was lost. */
static MPI_Comm close_ring(MPI_Comm all, int place)
{
    MPI_Comm ring;
    int who, vacant = 0;
    MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    MPI_Comm_rank(all, &who);
    MPI_Comm_size(all, &size);
    int *places = malloc(size * sizeof *places), *is_new = calloc(size, sizeof *is_new);
    check(MPI_Allgather(&place, 1, MPI_INT, places, 1, MPI_INT, all), "telling places");
    for (int k = 0; k < size; k++)
        is_new[k] = 1;
    for (int k = 0; k < size; k++)
        if (places[k] >= 0)
            is_new[places[k]] = 0;
    for (int k = 0; k < size; k++)
        if (places[k] < 0) {
            while (!is_new[vacant])
                vacant++;
            if (k == who)
                place = vacant;
            vacant++;
        }
    rank = place;
    check(MPI_Comm_split(all, 0, rank, &ring), "ordering the ranks");
    MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
    check(MPI_Allreduce(MPI_IN_PLACE, state, 1, MPI_LONG, MPI_MAX, ring), "telling the step");
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    if (is_new[left])
        check(MPI_Send(&state[2], 1, MPI_LONG, left, 0, ring), "giving back a number");
    if (is_new[right])
        check(MPI_Send(&state[1], 1, MPI_LONG, right, 1, ring), "giving a number to be kept");
    if (is_new[rank]) {
        check(MPI_Recv(&state[1], 1, MPI_LONG, right, 0, ring, MPI_STATUS_IGNORE), "getting its number");
        check(MPI_Recv(&state[2], 1, MPI_LONG, left, 1, ring, MPI_STATUS_IGNORE), "getting a number to be kept");
        born = state[0];
    }
    free(places);
    free(is_new);
    return ring;
}

/* The survivors of `ring` make a new one, with new processes for those that are lost. */
static MPI_Comm repair(MPI_Comm ring, char **argv)
{
    MPI_Comm left, inter, all, made;
    int alive;
    MPIX_Comm_revoke(ring);
    check(MPIX_Comm_shrink(ring, &left), "shrinking");
    MPI_Comm_free(&ring);
    MPI_Comm_set_errhandler(left, MPI_ERRORS_RETURN);
    MPI_Comm_size(left, &alive);
    if (rank == 0 || alive < size) {
        int first;
        MPI_Comm_rank(left, &first);
        if (first == 0) {
            printf("step %ld again: %d of %d ranks are alive\n", state[0], alive, size);
            fflush(stdout); /* This rank may be killed next. */
        }
    }
    check(MPI_Comm_spawn(argv[0], argv + 1, size - alive, MPI_INFO_NULL, 0, left, &inter, MPI_ERRCODES_IGNORE),
        "spawning");
    check(MPI_Intercomm_merge(inter, 0, &all), "merging");
    made = close_ring(all, rank);
    MPI_Comm_free(&all);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&left);
    return made;
}

/* One step from `state` to `after`; all have done it, or none has. */
static int step(MPI_Comm ring, long *after)
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size, good = 1;
    long of_left, of_right;
    good &= !MPI_Sendrecv(&state[1], 1, MPI_LONG, right, 2, &of_left, 1, MPI_LONG, left, 2, ring,
        MPI_STATUS_IGNORE);
    good &= !MPI_Sendrecv(&state[1], 1, MPI_LONG, left, 3, &of_right, 1, MPI_LONG, right, 3, ring,
        MPI_STATUS_IGNORE);
    after[0] = state[0] + 1;
    after[1] = good ? next(of_left, state[1], of_right) : 0;
    /* The neighbour on the right keeps it. */
    good &= !MPI_Sendrecv(&after[1], 1, MPI_LONG, right, 4, &after[2], 1, MPI_LONG, left, 4, ring,
        MPI_STATUS_IGNORE);
    if (!good)
        MPIX_Comm_revoke(ring);
    return MPIX_Comm_agree(ring, &good) == MPI_SUCCESS && good;
}

/* What rank `rank` has in the end where nobody dies. */
static long expected(long steps)
{
    long *now = malloc(size * sizeof *now), *then = malloc(size * sizeof *then);
    for (int k = 0; k < size; k++)
        now[k] = k + 1;
    for (long s = 0; s < steps; s++) {
        for (int k = 0; k < size; k++)
            then[k] = next(now[(k + size - 1) % size], now[k], now[(k + 1) % size]);
        long *swap = now;
        now = then;
        then = swap;
    }
    long mine = now[rank];
    free(now);
    free(then);
    return mine;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    deaths = argc > 1 ? atoi(argv[1]) : 4;
    pause_ms = argc > 2 ? atoi(argv[2]) : 10;
    MPI_Comm parent, all, ring;
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        state[1] = rank + 1;
        state[2] = (rank + size - 1) % size + 1;
        MPI_Comm_dup(MPI_COMM_WORLD, &ring);
        MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
    } else {
        check(MPI_Intercomm_merge(parent, 1, &all), "merging");
        ring = close_ring(all, -1);
        MPI_Comm_free(&all);
        MPI_Comm_free(&parent);
    }
    long steps = (long) (deaths + 1) * STEPS_TO_A_DEATH, after[3];
    while (state[0] < steps) {
        long death = state[0] / STEPS_TO_A_DEATH;
        if (death < deaths && state[0] % STEPS_TO_A_DEATH == STEPS_TO_A_DEATH / 2 && born < death * STEPS_TO_A_DEATH
            && rank == (death * 3 + 1) % size)
            raise(SIGKILL);
        struct timespec time = {pause_ms / 1000, pause_ms % 1000 * 1000000L};
        nanosleep(&time, NULL);
        if (step(ring, after)) {
            for (int k = 0; k < 3; k++)
                state[k] = after[k];
        } else {
            ring = repair(ring, argv);
        }
    }
    int right = state[1] == expected(steps), all_right = 0;
    check(MPI_Allreduce(&right, &all_right, 1, MPI_INT, MPI_LAND, ring), "comparing");
    if (rank == 0) {
        printf("%d ranks after %ld steps: the numbers are %s\n", size, steps, all_right ? "right" : "wrong");
        fflush(stdout);
    }
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return all_right ? 0 : 1;
}
