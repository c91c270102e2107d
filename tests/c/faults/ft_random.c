// Random schedules by seed: in each group of five, one to three members are killed, before, in the middle of, or
// after what they do with the others, which is agreement, revocation, shrinking, messages and
// collectives. What succeeds is right, survivors agree, and nothing waits for ever. The arguments are the first
// group's seed and, if there are more steps than 10, their number; the other groups have the seeds after it.
//
// only: catena
// time: 60
// run: -n 5 --with-ft ulfm --set FAULT_STATUS=first -- 1; exit 137; says 'schedule 1 is over'
// run: -n 15 --with-ft ulfm --set FAULT_STATUS=first -- 2; exit 137; says 'schedule 2 is over'; says 'schedule 3 is over'; says 'schedule 4 is over'
// run: -n 15 --with-ft ulfm --set FAULT_STATUS=first -- 5; exit 137; says 'schedule 5 is over'; says 'schedule 6 is over'; says 'schedule 7 is over'
// run: -n 15 --with-ft ulfm --set FAULT_STATUS=first --set COLL_NODE=false -- 8; exit 137; says 'schedule 8 is over'; says 'schedule 9 is over'; says 'schedule 10 is over'
// run: -n 15 --with-ft ulfm --set FAULT_STATUS=first -- 11 40; exit 137; says 'schedule 11 is over'; says 'schedule 12 is over'; says 'schedule 13 is over'
// run: -n 15 --with-ft ulfm --set FAULT_STATUS=first -- 2024018; exit 137; says 'schedule 2024018 is over'; says 'schedule 2024020 is over'
#include "../check.h"
#include <mpi-ext.h>
#include <signal.h>
#include <stdint.h>

#define MEMBERS 5
#define LONG (1 << 16)

static unsigned seed;
static int me, step, steps = 10;
static MPI_Comm comm;

/* A number below `n`, the same at all members: of this schedule, this step, and `what`. */
static unsigned below(unsigned n, unsigned at, unsigned what)
{
    uint64_t z = ((uint64_t)seed << 32) + at * 97u + what + 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return (z ^ z >> 31) % n;
}

enum { BEFORE, IN_CALL, AFTER, IN_AGREEMENT, IN_SHRINK, AFTER_REVOKE, WAYS };

/* Whether a member dies in a step, and how; WAYS if it does not. */
static int way(int member, int step)
{
    int deaths = 1 + below(3, 1000, 0), victim;
    for (int i = 0; i < deaths; i++) {
        // All different.
        victim = (below(MEMBERS, 1001, 0) + i * (1 + below(MEMBERS - 1, 1001, 1))) % MEMBERS;
        if (victim == member && below(steps, 1002 + i, 0) == (unsigned)step)
            return below(WAYS, 1002 + i, 1);
    }
    return WAYS;
}

static int is_victim(void)
{
    int is = 0;
    for (int at = 0; at < steps; at++)
        is |= way(me, at) != WAYS;
    return is;
}

/* Whether a member dies while all shrink in this step, which all know beforehand. */
static int one_dies_in_shrink(void)
{
    int one = 0;
    for (int member = 0; member < MEMBERS; member++)
        one |= way(member, step) == IN_SHRINK;
    return one;
}

/* Dies now, or a little later wherever it is then. */
static void die(int later)
{
    if (!later)
        raise(SIGKILL);
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    struct itimerspec at = {.it_value = {0, 1 + (long)below(400000, 1010, step)}};
    timer_t timer;
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_settime(timer, 0, &at, NULL) == 0);
}

/* A call may fail for a death or a revocation, and for nothing else. */
static int well(int code)
{
    if (code != MPI_SUCCESS && code != MPIX_ERR_PROC_FAILED && code != MPIX_ERR_REVOKED) {
        char text[MPI_MAX_ERROR_STRING];
        int len;
        MPI_Error_string(code, text, &len);
        fprintf(stderr, "rank %d, step %d: %s\n", rank, step, text);
        CHECK(!"another error than those of deaths and revocations");
    }
    return code == MPI_SUCCESS;
}

/* All members that are alive have the same value. */
static void same(MPI_Comm of, int value)
{
    int all = value, none = ~value;
    well(MPIX_Comm_agree(of, &all));
    well(MPIX_Comm_agree(of, &none));
    EQUAL(all, value);
    EQUAL(none, ~value);
}

/* Something that all members do together; whether it went well here. */
static int act(int n, int at)
{
    static int from[LONG * MEMBERS], to[LONG * MEMBERS];
    int root = below(n, step, 1), length = below(2, step, 2) ? 1 + below(8, step, 3) : LONG, ok;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm copy = MPI_COMM_NULL;
    for (int i = 0; i < length * n; i++)
        from[i] = at + step;
    switch (below(11, step, 4)) {
    case 0:
        return well(MPI_Barrier(comm));
    case 1:
        if ((ok = well(MPI_Allreduce(from, to, length, MPI_INT, MPI_SUM, comm))))
            EQUAL(to[length - 1], n * (n - 1) / 2 + n * step);
        return ok;
    case 2:
        if ((ok = well(MPI_Bcast(from, length, MPI_INT, root, comm))))
            EQUAL(from[length - 1], root + step);
        return ok;
    case 3:
        if ((ok = well(MPI_Allgather(from, length, MPI_INT, to, length, MPI_INT, comm))))
            for (int i = 0; i < n; i++)
                EQUAL(to[length * i], i + step);
        return ok;
    case 4:
        if ((ok = well(MPI_Alltoall(from, length, MPI_INT, to, length, MPI_INT, comm))))
            for (int i = 0; i < n; i++)
                EQUAL(to[length * i], i + step);
        return ok;
    case 5:
        if ((ok = well(MPI_Reduce(from, to, length, MPI_INT, MPI_SUM, root, comm))) && at == root)
            EQUAL(to[0], n * (n - 1) / 2 + n * step);
        return ok;
    case 6:
        ok = well(MPI_Iallreduce(from, to, length, MPI_INT, MPI_SUM, comm, &request));
        if (ok && (ok = well(MPI_Wait(&request, MPI_STATUS_IGNORE))))
            EQUAL(to[0], n * (n - 1) / 2 + n * step);
        return ok;
    case 7:
        ok = well(MPI_Sendrecv(from, length, MPI_INT, (at + 1) % n, step, to, length, MPI_INT,
            (at + n - 1) % n, step, comm, MPI_STATUS_IGNORE));
        if (ok)
            EQUAL(to[length - 1], (at + n - 1) % n + step);
        return ok;
    case 8:
        // The revocation reaches all, whatever they do.
        if (at == root)
            MPIX_Comm_revoke(comm);
        while (well(MPI_Allreduce(from, to, 1, MPI_INT, MPI_SUM, comm)))
            ;
        return 0;
    case 9:
        if ((ok = well(MPI_Comm_dup(comm, &copy))))
            MPI_Comm_free(&copy);
        return ok;
    default:
        to[0] = ~(1 << at);
        ok = well(MPIX_Comm_iagree(comm, to, &request)) && well(MPI_Wait(&request, MPI_STATUS_IGNORE));
        if (ok)
            EQUAL(to[0], ~((1 << n) - 1));
        return ok;
    }
}

/* The members that are alive have a new communicator. */
static void shrink(int how)
{
    MPI_Comm left;
    MPI_Group of_left, of_world;
    int n, world[MEMBERS], ranks[MEMBERS], mask = 0;
    if (below(2, step, 6))
        MPIX_Comm_revoke(comm);
    if (how == IN_SHRINK)
        die(1);
    CHECK(MPIX_Comm_shrink(comm, &left) == MPI_SUCCESS);
    MPI_Comm_set_errhandler(left, MPI_ERRORS_RETURN);
    MPI_Comm_free(&comm);
    comm = left;
    MPI_Comm_size(comm, &n);
    MPI_Comm_group(comm, &of_left);
    MPI_Comm_group(MPI_COMM_WORLD, &of_world);
    for (int i = 0; i < n; i++)
        ranks[i] = i;
    MPI_Group_translate_ranks(of_left, n, ranks, of_world, world);
    for (int i = 0; i < n; i++)
        mask |= 1 << world[i] % MEMBERS;
    MPI_Group_free(&of_left);
    MPI_Group_free(&of_world);
    CHECK(mask & 1 << me);
    same(comm, mask);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    me = rank % MEMBERS;
    seed = strtoul(argv[1], NULL, 0) + rank / MEMBERS;
    if (argc > 2)
        steps = atoi(argv[2]);
    CHECK(MPI_Comm_split(MPI_COMM_WORLD, rank / MEMBERS, rank, &comm) == MPI_SUCCESS);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    for (step = 0; step < steps; step++) {
        int n, at, ok, code, flag, how = way(me, step);
        MPI_Comm_size(comm, &n);
        MPI_Comm_rank(comm, &at);
        if (how == BEFORE || how == IN_CALL)
            die(how == IN_CALL);
        flag = ok = act(n, at);
        if (how == AFTER || how == IN_AGREEMENT)
            die(how == IN_AGREEMENT);
        code = MPIX_Comm_agree(comm, &flag);
        // Right at all or wrong at all.
        CHECK(!flag || ok);
        int wrong = !well(code) || !flag;
        same(comm, wrong << 1 | flag);
        if (how == AFTER_REVOKE) {
            MPIX_Comm_revoke(comm);
            die(0);
        }
        if (wrong || one_dies_in_shrink() || below(4, step, 7) == 0)
            shrink(how);
    }
    if (is_victim())
        pause();
    printf("schedule %u is over\n", seed);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
