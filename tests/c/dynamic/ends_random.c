// Jobs that are spawned, talk with those that have spawned them, and end: at once, after a while, disconnected or not, by a
// random schedule. Nothing that was sent is lost, whoever ends first, and nobody is told that somebody has died. The argument
// is the seed; `scripts/deaths --ends` runs many.
//
// only: catena
// time: 60
// needs: libfabric.so.1
// run: -n 1 --set LINK=ofi:tcp -- 1; says 'schedule 1 is over'
// run: -n 2 --set LINK=ofi:tcp -- 5; says 'schedule 5 is over'
// run: -n 2 --set LINK=tcp -- 3; says 'schedule 3 is over'
//
// variant: ends_random_ucx
// only: catena
// time: 60
// needs: libucp.so.0
// run: -n 2 --set LINK=ucx:tcp -- 4; says 'schedule 4 is over'
// run: -n 2 --set LINK=ucx:tcp -- 10; says 'schedule 10 is over'
#include "../check.h"

enum { ROUNDS = 3, MOST = 3, MESSAGES = 30, LONGEST = 25000 };

static unsigned long long state;

static int draw(int below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (int)((state >> 33) % (unsigned)below);
}

/* Some time, of which both jobs know nothing of each other. */
static void pass(int milliseconds)
{
    for (double end = now() + milliseconds * 1e-3; now() < end;)
        ;
}

/* What is drawn for a round, alike in both jobs. */
struct plan {
    int seed, children, merge, leaves, by_child[MOST][MOST], by_parent[MOST][MOST], longest, delay[2], late;
};

static struct plan plan_of(int seed)
{
    struct plan it = {.seed = seed};
    state = (unsigned)seed * 2654435761ull + 1;
    it.children = 1 + draw(MOST);
    it.merge = draw(3) == 0;
    it.leaves = draw(3);
    it.longest = 1 << draw(15);
    for (int p = 0; p < MOST; p++)
        for (int c = 0; c < MOST; c++) {
            it.by_child[p][c] = draw(2) ? draw(MESSAGES) : 0;
            it.by_parent[p][c] = draw(2) ? draw(MESSAGES) : 0;
        }
    it.delay[0] = draw(2) ? draw(30) : 0;
    it.delay[1] = draw(2) ? draw(30) : 0;
    it.late = draw(2);
    return it;
}

static int length(const struct plan *it, int p, int c, int k)
{
    return 1 + (p * 7919 + c * 104729 + k * 1299709 + it->seed) % it->longest % LONGEST;
}

/* All messages of this process in a round: `me` of its job, with `others` in the other one. */
static void talk(const struct plan *it, MPI_Comm comm, int is_child, int me, int others, int first)
{
    static int out[MOST * MESSAGES][LONGEST], in[MOST * MESSAGES][LONGEST];
    MPI_Request requests[2 * MOST * MESSAGES];
    int n = 0, sent = 0, got = 0;
    for (int other = 0; other < others; other++) {
        int p = is_child ? other : me, c = is_child ? me : other;
        int sends = is_child ? it->by_child[p][c] : it->by_parent[p][c];
        for (int k = 0; k < sends; k++, sent++) {
            int len = length(it, p, c, k);
            for (int at = 0; at < len; at++)
                out[sent][at] = it->seed + p * 31 + c * 17 + k * 7 + at + is_child;
            MPI_Isend(out[sent], len, MPI_INT, first + other, k, comm, &requests[n++]);
        }
    }
    if (it->late)
        pass(it->delay[is_child]);
    for (int other = 0; other < others; other++) {
        int p = is_child ? other : me, c = is_child ? me : other;
        int receives = is_child ? it->by_parent[p][c] : it->by_child[p][c];
        for (int k = 0; k < receives; k++)
            MPI_Irecv(in[got++], LONGEST, MPI_INT, first + other, k, comm, &requests[n++]);
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    got = 0;
    for (int other = 0; other < others; other++) {
        int p = is_child ? other : me, c = is_child ? me : other;
        int receives = is_child ? it->by_parent[p][c] : it->by_child[p][c];
        for (int k = 0; k < receives; k++, got++)
            for (int at = 0; at < length(it, p, c, k); at++)
                EQUAL(in[got][at], it->seed + p * 31 + c * 17 + k * 7 + at + !is_child);
    }
}

/* One side of a round, up to the way in which its communicators end: freed, disconnected, or left as they are. */
static void take_part(const struct plan *it, MPI_Comm inter, int is_child)
{
    int others, me;
    MPI_Comm all = MPI_COMM_NULL;
    MPI_Comm_rank(inter, &me);
    MPI_Comm_remote_size(inter, &others);
    if (it->merge) {
        int mine;
        MPI_Intercomm_merge(inter, is_child, &all);
        MPI_Comm_size(inter, &mine);
        talk(it, all, is_child, me, others, is_child ? 0 : mine);
    } else {
        talk(it, inter, is_child, me, others, 0);
    }
    if (!it->late)
        pass(it->delay[is_child]);
    if (all != MPI_COMM_NULL && it->leaves == 0)
        MPI_Comm_disconnect(&all);
    else if (all != MPI_COMM_NULL)
        MPI_Comm_free(&all);
    if (it->leaves == 0)
        MPI_Comm_disconnect(&inter);
    else if (it->leaves == 1)
        MPI_Comm_free(&inter);
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    start(&argc, &argv);
    int seed = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        struct plan it = plan_of(seed);
        take_part(&it, parent, 1);
        MPI_Finalize();
        return 0;
    }
    for (int round = 0; round < ROUNDS; round++) {
        char text[20], *arguments[] = {text, NULL};
        struct plan it = plan_of(seed * 100 + round);
        MPI_Comm inter;
        snprintf(text, sizeof text, "%d", seed * 100 + round);
        MPI_Comm_spawn(argv[0], arguments, it.children, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                       MPI_ERRCODES_IGNORE);
        take_part(&it, inter, 0);
    }
    if (rank == 0)
        printf("schedule %d is over\n", seed);
    MPI_Finalize();
    return 0;
}
