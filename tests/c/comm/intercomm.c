// Intercommunicators: made, named, used point to point, duplicated, split, merged, freed.
// run: -n 2
// run: -n 4
// run: -n 5
// time: 20
#include "../check.h"

static MPI_Comm half, inter; /* my half of the world by parity, and both joined */
static int mine, ours, theirs; /* rank and size of this half, size of the other */

/* The rank in the world of rank r of the other half. */
static int over_there(int r)
{
    return 2 * r + 1 - rank % 2;
}

static void create(void)
{
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_rank(half, &mine);
    MPI_Comm_size(half, &ours);
    theirs = size - ours;
    /* The last of the half leads; only it knows the way. */
    int leader = ours - 1, other = over_there(theirs - 1);
    MPI_Comm peer = mine == leader ? MPI_COMM_WORLD : MPI_COMM_NULL;
    MPI_Intercomm_create(half, leader, peer, mine == leader ? other : -7, 17, &inter);
}

static void queries(void)
{
    int flag, n, result, r;
    MPI_Comm_test_inter(inter, &flag);
    CHECK(flag);
    MPI_Comm_size(inter, &n);
    EQUAL(n, ours);
    MPI_Comm_rank(inter, &r);
    EQUAL(r, mine);
    MPI_Comm_remote_size(inter, &n);
    EQUAL(n, theirs);
    MPI_Group here, there, world, both;
    MPI_Comm_group(inter, &here);
    MPI_Comm_remote_group(inter, &there);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    int zero = 0, at;
    MPI_Group_translate_ranks(there, 1, &zero, world, &at);
    EQUAL(at, over_there(0));
    MPI_Group_union(here, there, &both);
    MPI_Group_compare(both, world, &result);
    CHECK(result == MPI_SIMILAR || (size == 2 && result == MPI_IDENT));
    MPI_Group_intersection(here, there, &both);
    CHECK(both == MPI_GROUP_EMPTY);
    MPI_Group_free(&here), MPI_Group_free(&there), MPI_Group_free(&world);
    MPI_Comm_compare(inter, half, &result);
    EQUAL(result, MPI_UNEQUAL);
    MPI_Comm_compare(inter, inter, &result);
    EQUAL(result, MPI_IDENT);
}

/* Everyone sends to everyone on the other side, in every mode. */
static void p2p(MPI_Comm comm)
{
    int there, me;
    MPI_Comm_remote_size(comm, &there);
    MPI_Comm_rank(comm, &me);
    enum { N = 40000 };
    int *out = malloc(N * sizeof *out), *in = malloc(N * sizeof *in), word;
    static char space[1 << 16];
    MPI_Buffer_attach(space, sizeof space);
    for (int r = 0; r < there; r++) {
        MPI_Request q[4];
        MPI_Isend(&rank, 1, MPI_INT, r, 1, comm, &q[0]);
        MPI_Issend(&rank, 1, MPI_INT, r, 2, comm, &q[1]);
        MPI_Bsend(&rank, 1, MPI_INT, r, 3, comm);
        for (int i = 0; i < N; i++)
            out[i] = rank + i;
        MPI_Isend(out, N, MPI_INT, r, 4, comm, &q[2]);
        MPI_Send_init(&rank, 1, MPI_INT, r, 5, comm, &q[3]);
        MPI_Start(&q[3]);
        MPI_Status s;
        MPI_Message m;
        for (int tag = 1; tag <= 3; tag++) {
            MPI_Recv(&word, 1, MPI_INT, r, tag, comm, &s);
            EQUAL(s.MPI_SOURCE, r);
            EQUAL(s.MPI_TAG, tag);
        }
        MPI_Mprobe(r, 4, comm, &m, &s);
        MPI_Mrecv(in, N, MPI_INT, &m, &s);
        EQUAL(s.MPI_SOURCE, r);
        EQUAL(in[N - 1], in[0] + N - 1);
        EQUAL(in[0], word);
        MPI_Probe(r, MPI_ANY_TAG, comm, &s);
        EQUAL(s.MPI_TAG, 5);
        MPI_Recv(&word, 1, MPI_INT, r, 5, comm, MPI_STATUS_IGNORE);
        EQUAL(word, in[0]);
        MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
        MPI_Request_free(&q[3]);
    }
    /* From anyone over there. */
    MPI_Request q[64];
    int sum = 0;
    for (int r = 0; r < there; r++)
        MPI_Isend(&me, 1, MPI_INT, r, 6, comm, &q[r]);
    for (int r = 0; r < there; r++) {
        MPI_Status s;
        MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 6, comm, &s);
        EQUAL(word, s.MPI_SOURCE);
        sum += word;
    }
    EQUAL(sum, there * (there - 1) / 2);
    MPI_Waitall(there, q, MPI_STATUSES_IGNORE);
    MPI_Buffer_detach(&out, &word);
    free(in);
}

static void merge(MPI_Comm comm, int here, int there, int me)
{
    MPI_Comm one;
    int r, n, sum, result;
    for (int high = 0; high < 2; high++) {
        MPI_Intercomm_merge(comm, high ? rank % 2 : 1 - rank % 2, &one);
        MPI_Comm_rank(one, &r);
        MPI_Comm_size(one, &n);
        EQUAL(n, here + there);
        EQUAL(r, high == rank % 2 ? there + me : me);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, one);
        MPI_Comm_test_inter(one, &result);
        CHECK(!result);
        MPI_Comm_free(&one);
    }
    /* Undecided: some order, the same everywhere. */
    MPI_Intercomm_merge(comm, 1, &one);
    MPI_Comm_rank(one, &r);
    int last = r == here + there - 1 ? rank : 0, all;
    MPI_Allreduce(&last, &all, 1, MPI_INT, MPI_SUM, one);
    MPI_Comm_free(&one);
}

static void derive(void)
{
    MPI_Comm dup, part, none;
    int n, result;
    MPI_Comm_dup(inter, &dup);
    MPI_Comm_compare(inter, dup, &result);
    EQUAL(result, MPI_CONGRUENT);
    p2p(dup);
    merge(dup, ours, theirs, mine);

    /* Turned round. */
    MPI_Comm_split(inter, 3, -mine, &part);
    MPI_Comm_rank(part, &n);
    EQUAL(n, ours - 1 - mine);
    MPI_Comm_compare(inter, part, &result);
    EQUAL(result, size > 2 ? MPI_SIMILAR : MPI_CONGRUENT);
    p2p(part);
    MPI_Comm_free(&part);

    /* A color that the other side does not have, and nobody. */
    MPI_Comm_split(inter, rank % 2, 0, &part);
    CHECK(part == MPI_COMM_NULL);
    MPI_Comm_split(inter, mine == 0 ? 0 : MPI_UNDEFINED, 0, &part);
    CHECK((part != MPI_COMM_NULL) == (mine == 0));
    if (part != MPI_COMM_NULL) {
        MPI_Comm_remote_size(part, &n);
        EQUAL(n, 1);
        p2p(part);
        MPI_Comm_disconnect(&part);
    }

    /* The first of each side. */
    MPI_Group here, first;
    int zero = 0;
    MPI_Comm_group(inter, &here);
    MPI_Group_incl(here, 1, &zero, &first);
    MPI_Comm_create(inter, first, &part);
    CHECK((part != MPI_COMM_NULL) == (mine == 0));
    if (part != MPI_COMM_NULL) {
        p2p(part);
        MPI_Comm_free(&part);
    }
    MPI_Comm_create(inter, rank % 2 ? first : MPI_GROUP_EMPTY, &none);
    CHECK(none == MPI_COMM_NULL);
    MPI_Group_free(&first), MPI_Group_free(&here);

    // The part of a node: there is none if it has members of one side only.
    MPI_Comm node;
    MPI_Group near, far, both;
    int there;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_group(node, &near), MPI_Comm_remote_group(inter, &far);
    MPI_Group_intersection(near, far, &both);
    MPI_Group_size(both, &there);
    MPI_Comm_split_type(inter, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part);
    CHECK((part != MPI_COMM_NULL) == (there > 0));
    if (part != MPI_COMM_NULL) {
        MPI_Comm_remote_size(part, &n);
        EQUAL(n, there);
        MPI_Comm_free(&part);
    }
    MPI_Group_free(&near), MPI_Group_free(&far), MPI_Group_free(&both);
    MPI_Comm_free(&node);
    MPI_Comm_free(&dup);
}

#define FAILS(call, class)                                                           \
    do {                                                                             \
        made = MPI_COMM_WORLD;                                                       \
        EQUAL(class_of(call), class);                                                \
        CHECK(made == MPI_COMM_NULL);                                                \
    } while (0)

static void errors(void)
{
    MPI_Comm made, self;
    MPI_Comm_dup(MPI_COMM_SELF, &self);
    MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    FAILS(MPI_Intercomm_create(inter, 0, MPI_COMM_WORLD, 0, 1, &made), MPI_ERR_COMM);
    FAILS(MPI_Intercomm_create(half, ours, MPI_COMM_WORLD, 0, 1, &made), MPI_ERR_RANK);
    FAILS(MPI_Intercomm_create(half, -1, MPI_COMM_WORLD, 0, 1, &made), MPI_ERR_RANK);
    FAILS(MPI_Intercomm_create(self, 0, MPI_COMM_NULL, 0, 1, &made), MPI_ERR_COMM);
    FAILS(MPI_Intercomm_create(self, 0, MPI_COMM_WORLD, size, 1, &made), MPI_ERR_RANK);
    FAILS(MPI_Intercomm_create(self, 0, MPI_COMM_WORLD, 0, -1, &made), MPI_ERR_TAG);
    /* Joined with itself. */
    FAILS(MPI_Intercomm_create(self, 0, MPI_COMM_WORLD, rank, 1, &made), MPI_ERR_COMM);
    FAILS(MPI_Intercomm_merge(half, 0, &made), MPI_ERR_COMM);
    FAILS(MPI_Intercomm_merge(MPI_COMM_NULL, 0, &made), MPI_ERR_COMM);
    /* A leader that fails takes its group with it. */
    MPI_Comm peer = mine == 0 ? MPI_COMM_NULL : MPI_COMM_WORLD;
    FAILS(MPI_Intercomm_create(half, 0, peer, 0, 1, &made), mine == 0 ? MPI_ERR_COMM : MPI_ERR_OTHER);
    /* They do not agree. */
    int high = mine == 0;
    if (ours > 1 || theirs > 1)
        FAILS(MPI_Intercomm_merge(inter, high, &made), MPI_ERR_NOT_SAME);
    int x, n;
    FAILS((made = MPI_COMM_NULL, MPI_Send(&x, 1, MPI_INT, theirs, 0, inter)), MPI_ERR_RANK);
    EQUAL(class_of(MPI_Comm_remote_size(half, &n)), MPI_ERR_COMM);
    MPI_Comm_free(&self);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    create();
    queries();
    p2p(inter);
    derive();
    errors();
    p2p(inter);
    merge(inter, ours, theirs, mine);
    MPI_Comm_free(&half);
    MPI_Comm_free(&inter);
    CHECK(inter == MPI_COMM_NULL);
    return finish();
}
