/* Beginning and communicators. `hello` does nothing but begin and end: who starts it times it. */
#include "bench.h"

#include <stdio.h>

static double sample_init(struct task *t, int rounds)
{
    (void)t;
    return life_began() * rounds;
}

static void nothing(struct task *t, int rounds)
{
    (void)t;
    (void)rounds;
}

/* Whether a communicator that was made is what it should be: how it compares with the one it was made of, or its number
 * of ranks, and whether its ranks hear one another. What is wrong stays in `wrong` until it is asked for. */
static char wrong[96];
enum { SOME = -1 }; /* as many ranks as it says */

static void look_at(const struct task *t, MPI_Comm made, int alike, int ranks)
{
    int is = MPI_UNEQUAL, all = 0, mine = 1;
    if (made == MPI_COMM_NULL) {
        snprintf(wrong, sizeof wrong, "rank %d: there is no communicator", t->rank);
        return;
    }
    if (alike != MPI_UNEQUAL)
        MPI_Comm_compare(t->comm, made, &is);
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, made);
    if (ranks == SOME)
        MPI_Comm_size(made, &ranks);
    if (alike != MPI_UNEQUAL && is != alike)
        snprintf(wrong, sizeof wrong, "rank %d: the communicator compares as %d and should as %d", t->rank, is, alike);
    else if (all != ranks)
        snprintf(wrong, sizeof wrong, "rank %d: the communicator has %d ranks that hear one another, of %d", t->rank, all,
                 ranks);
}

static bool is_right(struct task *t, char *error, size_t room)
{
    (void)t;
    snprintf(error, room, "%s", wrong);
    bool good = !*wrong;
    *wrong = 0;
    return good;
}

/* A session, and the world made from it, beside what there is already. */
static void session(struct task *t, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        MPI_Session one = MPI_SESSION_NULL;
        MPI_Comm all = life_open_session(&one, false);
        if (t->inspect)
            look_at(t, all, MPI_UNEQUAL, t->size);
        if (all != MPI_COMM_NULL)
            MPI_Comm_free(&all);
        if (one != MPI_SESSION_NULL)
            MPI_Session_finalize(&one);
    }
}

/* Each is freed at once. ALIKE, RANKS: see look_at. */
#define COMM_CALL(name, ALIKE, RANKS, call)                                                        \
    static void name(struct task *t, int rounds)                                                   \
    {                                                                                              \
        for (int i = 0; i < rounds; i++) {                                                         \
            MPI_Comm made = MPI_COMM_NULL;                                                         \
            call;                                                                                  \
            if (t->inspect)                                                                        \
                look_at(t, made, ALIKE, RANKS);                                                    \
            if (made != MPI_COMM_NULL)                                                             \
                MPI_Comm_free(&made);                                                              \
        }                                                                                          \
    }

static MPI_Group everybody;

static void open_group(struct task *t)
{
    MPI_Comm_group(t->comm, &everybody);
}

static void close_group(struct task *t)
{
    (void)t;
    MPI_Group_free(&everybody);
}

COMM_CALL(comm_dup, MPI_CONGRUENT, t->size, MPI_Comm_dup(t->comm, &made))
COMM_CALL(comm_idup, MPI_CONGRUENT, t->size, MPI_Comm_idup(t->comm, &made, &t->request);
          MPI_Wait(&t->request, MPI_STATUS_IGNORE))
COMM_CALL(comm_split, MPI_UNEQUAL, (t->size + 1 - t->rank % 2) / 2, MPI_Comm_split(t->comm, t->rank % 2, t->rank, &made))
COMM_CALL(comm_split_type, MPI_UNEQUAL, SOME, MPI_Comm_split_type(t->comm, MPI_COMM_TYPE_SHARED, t->rank,
                                               MPI_INFO_NULL, &made))
COMM_CALL(comm_create, MPI_CONGRUENT, t->size, MPI_Comm_create(t->comm, everybody, &made))
COMM_CALL(comm_create_group, MPI_CONGRUENT, t->size, MPI_Comm_create_group(t->comm, everybody, 0, &made))

#define ROW(NAME, FAMILY, OPTIONS, ...)                                                            \
    {.name = NAME, .family = FAMILY, .options = OPTIONS, .unit = US, .ranks = 1, __VA_ARGS__}

const struct bench startup[] = {
    ROW("hello", "startup", "I", .needs = "launcher"),
    ROW("init", "startup", "I", .run = nothing, .sample = sample_init),
    ROW("session", "startup", "ixcI", .run = session, .check = is_right),
    ROW("comm_dup", "communicator", "ixcI", .run = comm_dup, .check = is_right),
    ROW("comm_idup", "communicator", "ixcI", .run = comm_idup, .check = is_right),
    ROW("comm_split", "communicator", "ixcI", .run = comm_split, .check = is_right),
    ROW("comm_split_type", "communicator", "ixcI", .run = comm_split_type, .check = is_right),
    ROW("comm_create", "communicator", "ixcI", .run = comm_create, .check = is_right, .open = open_group,
        .close = close_group),
    ROW("comm_create_group", "communicator", "ixcI", .run = comm_create_group, .check = is_right, .open = open_group,
        .close = close_group),
    {.name = NULL},
};
