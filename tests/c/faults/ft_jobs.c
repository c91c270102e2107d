// Random schedules of deaths by seed, among processes that spawn others and talk to them: a parent or a child is killed before
// MPI_Comm_spawn, in it, in a call of both jobs, or when they part. What is left of the parents goes on with the next step;
// what succeeds is right, and nothing waits for ever. The arguments are the seed and the number of steps.
//
// only: catena
// time: 60
// run: -n 4 --with-ft ulfm --set FAULT_STATUS=survivors -- 1 6; says 'schedule 1 is over'
// run: -n 4 --with-ft ulfm --set FAULT_STATUS=survivors -- 2 6; says 'schedule 2 is over'
// run: -n 4 --with-ft ulfm --set FAULT_STATUS=survivors --set LINK=tcp -- 3 6; says 'schedule 3 is over'
#include "../check.h"
#include <mpi-ext.h>
#include <signal.h>
#include <stdint.h>

enum { CALLS = 6, MOST = 16, AGREE = 4, MEET = 5 };
/* When somebody dies: before the call, before or after MPI_Init of the child, and then in each call that both jobs make. */
enum { BEFORE, BEFORE_INIT, AFTER_INIT, IN_CALLS, WAYS = IN_CALLS + CALLS + 2 };

static unsigned seed;
static int steps, step;

/* A number below `n`, the same at all: of this schedule, this step, and `what`. */
static unsigned below(unsigned n, unsigned what)
{
    uint64_t z = ((uint64_t)seed << 32) + step * 97u + what + 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return (z ^ z >> 31) % n;
}

/* Whether this step kills a parent, and which; else it is a child. The last parent is spared. */
static int kills_parent(void)
{
    return below(2, 1);
}

static int is_victim(int is_parent, int of, int number)
{
    if (kills_parent() != is_parent || (is_parent && of < 2))
        return 0;
    return (int)below(of, 2) == number;
}

static int when(void)
{
    return below(WAYS, 3);
}

static void die_at(int moment, int victim)
{
    if (victim && when() == moment)
        raise(SIGKILL);
}

/* Whether a call succeeded; of errors only those of deaths may be. */
static int good(int code, const char *call)
{
    int class = class_of(code);
    if (class != MPI_SUCCESS && class != MPIX_ERR_PROC_FAILED && class != MPIX_ERR_REVOKED && class != MPI_ERR_SPAWN && class != MPI_ERR_PORT) {
        char text[MPI_MAX_ERROR_STRING];
        int n;
        MPI_Error_string(code, text, &n);
        fprintf(stderr, "schedule %u, step %d, %s: %s\n", seed, step, call, text);
        CHECK(!"an error of a death");
    }
    return class == MPI_SUCCESS;
}

/* They meet once more, at a port of the children, if all of a job have heard of it. Who waits there for a group that does not come
   any more waits a second. */
static int meet(MPI_Comm inter, MPI_Comm home, int is_child, int ok)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm other = MPI_COMM_NULL;
    MPI_Info info;
    int root = MPI_PROC_NULL, number, one = 1, sum = 0, others = 0, all;
    if (ok) {
        MPI_Comm_rank(inter, &number);
        MPI_Comm_remote_size(inter, &others);
        if (is_child && number == 0) {
            root = MPI_ROOT;
            MPI_Open_port(MPI_INFO_NULL, port);
        }
        ok = good(MPI_Bcast(port, sizeof port, MPI_CHAR, is_child ? root : 0, inter), "MPI_Bcast");
    }
    all = ok;
    good(MPIX_Comm_agree(home, &all), "MPIX_Comm_agree");
    ok = ok && all;
    MPI_Info_create(&info);
    MPI_Info_set(info, "timeout", "1");
    if (ok && is_child)
        ok = good(MPI_Comm_accept(port, info, 0, home, &other), "MPI_Comm_accept");
    else if (ok)
        ok = good(MPI_Comm_connect(port, info, 0, home, &other), "MPI_Comm_connect");
    MPI_Info_free(&info);
    if (ok) {
        MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN);
        ok = good(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, other), "MPI_Allreduce");
        CHECK(!ok || sum == others);
        if (!ok)
            MPIX_Comm_revoke(other);
        MPI_Comm_free(&other);
    }
    if (root == MPI_ROOT)
        MPI_Close_port(port);
    return ok;
}

/* What both jobs do with each other, if they have met. One that fails has all others fail, and takes part in the agreements of
   its own job alone, `home`: these need all who live. */
static void talk(MPI_Comm inter, MPI_Comm home, int victim, int is_child)
{
    MPI_Comm all = MPI_COMM_NULL, twin = MPI_COMM_NULL;
    int one = 1, sum = 0, flag, others = 0, ok = inter != MPI_COMM_NULL, me = 0, both = 0, agreed;
    if (ok) {
        MPI_Comm_remote_size(inter, &others);
        MPI_Comm_rank(inter, &me);
        MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    }
    for (int call = 0; call < CALLS; call++) {
        unsigned what = below(7, 10 + call);
        die_at(IN_CALLS + call, victim);
        if (!ok && what != AGREE && what != MEET)
            continue;
        switch (what) {
        case 0:
            ok = good(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter), "MPI_Allreduce");
            CHECK(!ok || sum == others);
            break;
        case 1:
            if (all != MPI_COMM_NULL)
                MPI_Comm_free(&all);
            ok = good(MPI_Intercomm_merge(inter, is_child, &all), "MPI_Intercomm_merge");
            if (ok) {
                MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
                ok = good(MPI_Barrier(all), "MPI_Barrier");
            }
            break;
        case 2:
            if (twin != MPI_COMM_NULL)
                MPI_Comm_free(&twin);
            ok = good(MPI_Comm_dup(inter, &twin), "MPI_Comm_dup");
            break;
        case 3:
            if (me == 0)
                ok = good(MPI_Sendrecv(&one, 1, MPI_INT, 0, 1, &both, 1, MPI_INT, MPI_ANY_SOURCE, 1, inter, MPI_STATUS_IGNORE),
                    "MPI_Sendrecv");
            CHECK(!ok || me || both == 1);
            break;
        case AGREE:
            flag = 1 << call;
            agreed = good(MPIX_Comm_agree(home, &flag), "MPIX_Comm_agree");
            EQUAL(flag, 1 << call);
            ok = ok && agreed;
            break;
        case MEET:
            ok = meet(inter, home, is_child, ok);
            break;
        default:
            ok = good(MPI_Barrier(inter), "MPI_Barrier");
        }
        if (!ok && inter != MPI_COMM_NULL) {
            MPIX_Comm_revoke(inter);
            if (all != MPI_COMM_NULL)
                MPIX_Comm_revoke(all);
        }
    }
    die_at(IN_CALLS + CALLS, victim);
    if (all != MPI_COMM_NULL)
        MPI_Comm_free(&all);
    if (twin != MPI_COMM_NULL)
        MPI_Comm_free(&twin);
    if (inter == MPI_COMM_NULL)
        return;
    if (ok && below(2, 5))
        good(MPI_Comm_disconnect(&inter), "MPI_Comm_disconnect");
    else
        MPI_Comm_free(&inter);
    die_at(IN_CALLS + CALLS + 1, victim);
}

/* The arguments of a child: seed, steps, step, how many they are, and the parent that one of them kills. */
static int child(char **argv)
{
    MPI_Comm parent;
    step = atoi(argv[3]);
    int n = atoi(argv[4]), prey = atoi(argv[5]);
    if (prey && when() == BEFORE_INIT)
        kill(prey, SIGKILL);
    /* All children of the step die, as none knows its number yet. */
    if (!kills_parent() && when() == BEFORE_INIT)
        raise(SIGKILL);
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (prey && when() == AFTER_INIT)
        kill(prey, SIGKILL);
    MPI_Comm_get_parent(&parent);
    int victim = is_victim(0, n, rank);
    die_at(AFTER_INIT, victim);
    if (parent != MPI_COMM_NULL)
        talk(parent, MPI_COMM_WORLD, victim, 1);
    MPI_Finalize();
    return 0;
}

int main(int argc, char **argv)
{
    CHECK(argc > 2);
    seed = atoi(argv[1]), steps = atoi(argv[2]);
    if (argc > 5)
        return child(argv);
    MPI_Comm comm, left, inter;
    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (step = 0; step < steps; step++) {
        int me, of, pid = getpid(), pids[MOST];
        MPI_Comm_rank(comm, &me);
        MPI_Comm_size(comm, &of);
        CHECK(of <= MOST);
        int victim = is_victim(1, of, me), children = 1 + below(2, 4), prey = 0;
        if (good(MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, comm), "MPI_Allgather") && kills_parent() && of > 1)
            prey = pids[below(of, 2)];
        die_at(BEFORE, victim);
        char words[5][16], *more[6] = {argv[1], argv[2], words[0], words[1], words[2], NULL};
        snprintf(words[0], sizeof words[0], "%d", step);
        snprintf(words[1], sizeof words[1], "%d", children);
        snprintf(words[2], sizeof words[2], "%d", prey);
        if (!good(MPI_Comm_spawn(argv[0], more, children, MPI_INFO_NULL, below(of, 6), comm, &inter, MPI_ERRCODES_IGNORE),
                "MPI_Comm_spawn"))
            inter = MPI_COMM_NULL;
        talk(inter, comm, victim, 0);
        /* Some may not know yet of a death. */
        MPIX_Comm_revoke(comm);
        CHECK(good(MPIX_Comm_shrink(comm, &left), "MPIX_Comm_shrink"));
        MPI_Comm_free(&comm);
        comm = left;
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    }
    MPI_Comm_rank(comm, &rank);
    if (rank == 0)
        printf("schedule %u is over\n", seed);
    fflush(stdout);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
