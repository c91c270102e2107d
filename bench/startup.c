/* Beginning and communicators. `hello` does nothing but begin and end: who starts it times it. */
#include "bench.h"

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

/* A session, and the world made from it, beside what there is already. */
static void session(struct task *t, int rounds)
{
    (void)t;
    for (int i = 0; i < rounds; i++) {
        MPI_Session one = MPI_SESSION_NULL;
        MPI_Comm all = life_open_session(&one, false);
        if (all != MPI_COMM_NULL)
            MPI_Comm_free(&all);
        if (one != MPI_SESSION_NULL)
            MPI_Session_finalize(&one);
    }
}

/* Each is freed at once. */
#define COMM_CALL(name, call)                                                                      \
    static void name(struct task *t, int rounds)                                                   \
    {                                                                                              \
        for (int i = 0; i < rounds; i++) {                                                         \
            MPI_Comm made = MPI_COMM_NULL;                                                         \
            call;                                                                                  \
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

COMM_CALL(comm_dup, MPI_Comm_dup(t->comm, &made))
COMM_CALL(comm_idup, MPI_Comm_idup(t->comm, &made, &t->request);
          MPI_Wait(&t->request, MPI_STATUS_IGNORE))
COMM_CALL(comm_split, MPI_Comm_split(t->comm, t->rank % 2, t->rank, &made))
COMM_CALL(comm_split_type, MPI_Comm_split_type(t->comm, MPI_COMM_TYPE_SHARED, t->rank,
                                               MPI_INFO_NULL, &made))
COMM_CALL(comm_create, MPI_Comm_create(t->comm, everybody, &made))
COMM_CALL(comm_create_group, MPI_Comm_create_group(t->comm, everybody, 0, &made))

#define ROW(NAME, FAMILY, OPTIONS, ...)                                                            \
    {.name = NAME, .family = FAMILY, .options = OPTIONS, .unit = US, .ranks = 1, __VA_ARGS__}

const struct bench startup[] = {
    ROW("hello", "startup", "I", .needs = "launcher"),
    ROW("init", "startup", "I", .run = nothing, .sample = sample_init),
    ROW("session", "startup", "ixI", .run = session),
    ROW("comm_dup", "communicator", "ixI", .run = comm_dup),
    ROW("comm_idup", "communicator", "ixI", .run = comm_idup),
    ROW("comm_split", "communicator", "ixI", .run = comm_split),
    ROW("comm_split_type", "communicator", "ixI", .run = comm_split_type),
    ROW("comm_create", "communicator", "ixI", .run = comm_create, .open = open_group,
        .close = close_group),
    ROW("comm_create_group", "communicator", "ixI", .run = comm_create_group, .open = open_group,
        .close = close_group),
    {.name = NULL},
};
