/* Heat that spreads over a plate, on a number of ranks that changes while it does.
 *
 *     mpicc heat.c -o heat -lm
 *     mpirun --elastic -n 2 ./heat 200000 &
 *     catena grow $! 2
 *     catena shrink $! 1
 *
 * Where nobody sits at the keyboard, rank 0 does so itself: with a second argument T it doubles the ranks
 * after T steps, and halves them after 2 T.
 *
 * The plate has N rows and columns, its edge is cold. Each step gives every point the mean of its four
 * neighbours. Two waves of heat fade so by a known factor, which is how every number is checked in the end,
 * whichever ranks it has been on. The ranks have blocks of rows. When the job has a new state they
 * go there together: those that are in both sets, those that come and those that leave agree on which rows
 * each has and wants, and exchange them in one call. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 384, WIDTH = N + 2, LOOK = 100 };

/* Rows of the plate, from 1 to N. */
struct rows {
    int first, count;
};

/* What a rank has of the plate: its rows, and one above and one below that are others' or the edge. */
struct part {
    struct rows rows;
    double *now, *next;
};

static MPI_Session session;

/* The state of the job with that number, as a group and its size; 0 if there is none yet. */
static int state(int number, MPI_Group *group)
{
    char name[MPI_MAX_PSET_NAME_LEN], wanted[64];
    int sets, size = 0;
    snprintf(wanted, sizeof wanted, "catena://elastic/%d", number);
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets);
    for (int i = 0; i < sets && !size; i++) {
        int room = sizeof name;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &room, name);
        if (!strcmp(name, wanted)) {
            MPI_Group_from_session_pset(session, wanted, group);
            MPI_Group_size(*group, &size);
        }
    }
    return size;
}

/* The rows of a rank; the last ranks have none if there are more ranks than rows. */
static struct rows share(int rank, int size)
{
    int block = (N + size - 1) / size, first = rank * block < N ? rank * block : N;
    return (struct rows){first + 1, first + block < N ? block : N - first};
}

/* How many rows two blocks have in common, and the first of them. */
static int common(struct rows a, struct rows b, int *first)
{
    int enda = a.first + a.count, endb = b.first + b.count, end = enda < endb ? enda : endb;
    *first = a.first > b.first ? a.first : b.first;
    return *first < end ? end - *first : 0;
}

static struct part empty_part(struct rows rows)
{
    size_t points = (size_t)(rows.count + 2) * WIDTH;
    return (struct part){rows, calloc(points, sizeof(double)), calloc(points, sizeof(double))};
}

static void drop(struct part *part)
{
    free(part->now);
    free(part->next);
}

/* Every rank of `comm` has some rows and wants others: it gets them. */
static void move_rows(MPI_Comm comm, struct part *part, struct rows wanted)
{
    int size, mine[4] = {part->rows.first, part->rows.count, wanted.first, wanted.count};
    MPI_Comm_size(comm, &size);
    int(*all)[4] = malloc(size * sizeof *all), *counts = calloc(4 * size, sizeof *counts);
    int *out = counts, *from = out + size, *in = from + size, *to = in + size;
    MPI_Allgather(mine, 4, MPI_INT, all, 4, MPI_INT, comm);
    for (int rank = 0; rank < size; rank++) {
        struct rows has = {all[rank][0], all[rank][1]}, wants = {all[rank][2], all[rank][3]};
        int first;
        if ((out[rank] = common(part->rows, wants, &first)))
            from[rank] = first - part->rows.first + 1;
        if ((in[rank] = common(has, wanted, &first)))
            to[rank] = first - wanted.first + 1;
    }
    struct part moved = empty_part(wanted);
    MPI_Datatype row;
    MPI_Type_contiguous(WIDTH, MPI_DOUBLE, &row);
    MPI_Type_commit(&row);
    MPI_Alltoallv(part->now, out, from, row, moved.now, in, to, row, comm);
    MPI_Type_free(&row);
    free(all);
    free(counts);
    drop(part);
    *part = moved;
}

/* One step; `up` and `down` are the ranks that have the rows above and below. */
static void sweep(MPI_Comm comm, struct part *part, int up, int down)
{
    int n = part->rows.count;
    double *now = part->now, *last = now + (size_t)n * WIDTH;
    MPI_Sendrecv(now + WIDTH, WIDTH, MPI_DOUBLE, up, 1, last + WIDTH, WIDTH, MPI_DOUBLE, down, 1, comm,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(last, WIDTH, MPI_DOUBLE, down, 2, now, WIDTH, MPI_DOUBLE, up, 2, comm, MPI_STATUS_IGNORE);
    for (int i = 1; i <= n; i++) {
        const double *here = now + (size_t)i * WIDTH, *above = here - WIDTH, *below = here + WIDTH;
        double *to = part->next + (size_t)i * WIDTH;
        for (int j = 1; j <= N; j++)
            to[j] = 0.25 * (above[j] + below[j] + here[j - 1] + here[j + 1]);
    }
    part->now = part->next;
    part->next = now;
}

/* What a point has after some steps: each wave has faded by its own factor. */
static double right(int i, int j, int steps)
{
    double h = acos(-1) / (N + 1), wave = sin(i * h) * sin(j * h), other = sin(2 * i * h) * sin(j * h);
    return pow(cos(h), steps) * wave + pow((cos(h) + cos(2 * h)) / 2, steps) * other;
}

/* The largest error of this rank's points, as a part of the largest value. */
static double error(const struct part *part, int steps)
{
    double most = 0, largest = 0;
    for (int i = 1; i <= part->rows.count; i++)
        for (int j = 1; j <= N; j++) {
            double is = part->now[(size_t)i * WIDTH + j], should = right(part->rows.first + i - 1, j, steps);
            most = fmax(most, fabs(is - should));
            largest = fmax(largest, fabs(should));
        }
    return largest ? most / largest : 0;
}

/* As a user types it: the parent of rank 0 is mpirun. */
static void ask(const char *verb, int count)
{
    char line[128];
    snprintf(line, sizeof line, "catena %s %d %d", verb, (int)getppid(), count);
    if (system(line))
        fprintf(stderr, "heat: '%s' has failed\n", line);
}

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 1000, turn = argc > 2 ? atoi(argv[2]) : 0;
    int number = 1, size, rank, step = 0;
    MPI_Group group;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    /* Whoever comes later begins with the first state that it is in. */
    while (!(size = state(number, &group)))
        number++;
    int first_size = size;
    struct part part = empty_part((struct rows){1, 0});

    for (;;) {
        MPI_Comm comm;
        MPI_Comm_create_from_group(group, "heat", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
        MPI_Group_free(&group);
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        MPI_Bcast(&step, 1, MPI_INT, 0, comm);
        if (number == 1) {
            drop(&part);
            part = empty_part(share(rank, size));
            for (int i = 1; i <= part.rows.count; i++)
                for (int j = 1; j <= N; j++)
                    part.now[(size_t)i * WIDTH + j] = right(part.rows.first + i - 1, j, 0);
        } else {
            move_rows(comm, &part, share(rank, size));
        }
        struct rows rows = part.rows;
        int up = rows.count && rows.first > 1 ? rank - 1 : MPI_PROC_NULL;
        int down = rows.count && rows.first + rows.count <= N ? rank + 1 : MPI_PROC_NULL;

        int next = 0, from = step;
        double begin = MPI_Wtime();
        while (!next && step < steps) {
            sweep(comm, &part, up, down);
            step++;
            if (rank == 0 && turn && step == turn)
                ask("grow", first_size);
            if (rank == 0 && turn && step == 2 * turn)
                ask("shrink", first_size);
            if (step % LOOK == 0) {
                if (rank == 0 && (next = state(number + 1, &group)))
                    MPI_Group_free(&group);
                MPI_Bcast(&next, 1, MPI_INT, 0, comm);
            }
        }
        if (rank == 0 && step > from)
            printf("steps %d to %d: %d ranks, %.3f ms each\n", from, step, size,
                   (MPI_Wtime() - begin) * 1e3 / (step - from));
        fflush(stdout);
        if (!next) {
            double mine = error(&part, step), worst;
            MPI_Reduce(&mine, &worst, 1, MPI_DOUBLE, MPI_MAX, 0, comm);
            if (rank == 0)
                printf("%d steps: the heat is %s, to a part of %.0e\n", step,
                       worst < 1e-9 ? "right" : "wrong", worst);
            MPI_Comm_free(&comm);
            break;
        }
        /* The others hear of it as soon as they look. */
        number++;
        while (!(next = state(number, &group)))
            ;
        int later;
        MPI_Group_rank(group, &later);
        /* Those that leave give their rows to those that stay. */
        if (next < size)
            move_rows(comm, &part, later == MPI_UNDEFINED ? (struct rows){1, 0} : share(later, next));
        MPI_Comm_free(&comm);
        if (later == MPI_UNDEFINED) {
            MPI_Group_free(&group);
            break;
        }
    }
    drop(&part);
    MPI_Session_finalize(&session);
    return 0;
}
