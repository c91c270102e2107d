// Processes that are spawned: they and their parents talk over the intercommunicator, merge it,
// make other communicators of it, and part.
//
// run: -n 1
// run: -n 3
// run: -n 2 -- threads
// run: -n 2 -- multiple
// run: -n 2 -- nested; says 'grandchild 0 of 1'
// run: -n 2 -- again
//
// variant: spawn_hosts
// Parents and children are on several hosts. Where the parents are on one host, the first of them opens a network
// when its children come.
// hosts: 2
// time: 120
// run: -n 1 --host h0:1,h1:2 --launcher-agent scripts/hosts
// run: -n 3 --host h0:2,h1:1 --launcher-agent scripts/hosts
// run: -n 2 --host h0:1,h1:3 --launcher-agent scripts/hosts -- threads
// run: -n 2 --host h0:2,h1:3 --launcher-agent scripts/hosts -- multiple
// run: -n 1 --host h0:1,h1:4 --launcher-agent scripts/hosts -- nested; says 'grandchild 0 of 1'
// run: -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts -- again
// run: -n 2 --host h1:2,h0:2 --launcher-agent scripts/hosts -- again
#include "../check.h"

/* A message of each length both ways between the two groups, all to all. */
static void talk(MPI_Comm inter)
{
    static const int lengths[] = {0, 1, 8, 1000, 70000, 300000};
    int remote, me;
    MPI_Comm_remote_size(inter, &remote);
    MPI_Comm_rank(inter, &me);
    for (unsigned k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        int n = lengths[k];
        char *out = malloc(n + 1), *in = malloc((size_t)remote * (n + 1));
        memset(out, me + 1 + k, n);
        MPI_Request requests[64];
        CHECK(2 * remote <= 64);
        for (int r = 0; r < remote; r++) {
            MPI_Irecv(in + (size_t)r * (n + 1), n, MPI_CHAR, r, k, inter, &requests[2 * r]);
            MPI_Isend(out, n, MPI_CHAR, r, k, inter, &requests[2 * r + 1]);
        }
        MPI_Waitall(2 * remote, requests, MPI_STATUSES_IGNORE);
        for (int r = 0; r < remote; r++)
            for (int at = 0; at < n; at++)
                if (in[(size_t)r * (n + 1) + at] != (char)(r + 1 + k))
                    EQUAL(in[(size_t)r * (n + 1) + at], r + 1 + k);
        free(out);
        free(in);
    }
}

/* Both groups as one, the parents first: collectives, splits, duplicates. */
static void merge(MPI_Comm inter, int is_child)
{
    int mine, remote;
    MPI_Comm_size(inter, &mine);
    MPI_Comm_remote_size(inter, &remote);
    MPI_Comm all, copy, half;
    MPI_Intercomm_merge(inter, is_child, &all);
    int r, n, sum = 0;
    MPI_Comm_rank(all, &r);
    MPI_Comm_size(all, &n);
    EQUAL(n, mine + remote);
    if (is_child)
        CHECK(r >= remote);
    else
        CHECK(r < mine);
    int one = r + 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
    EQUAL(sum, n * (n + 1) / 2);
    static double big[40000], got[40000];
    for (int i = 0; i < 40000; i++)
        big[i] = r;
    MPI_Allreduce(big, got, 40000, MPI_DOUBLE, MPI_MAX, all);
    EQUAL(got[39999], n - 1);
    MPI_Comm_dup(all, &copy);
    MPI_Comm_split(copy, r % 2, -r, &half);
    int last = r;
    MPI_Bcast(&last, 1, MPI_INT, 0, half);
    CHECK(last >= r && last % 2 == r % 2);
    MPI_Group world, of_all, both;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_group(all, &of_all);
    MPI_Group_intersection(world, of_all, &both);
    int common;
    MPI_Group_size(both, &common);
    EQUAL(common, mine);
    MPI_Group_free(&world);
    MPI_Group_free(&of_all);
    MPI_Group_free(&both);
    MPI_Comm_free(&half);
    MPI_Comm_free(&copy);
    /* MPI_ANY_SOURCE over both jobs. */
    if (r == 0) {
        int seen = 0;
        for (int k = 1; k < n; k++) {
            int word;
            MPI_Status status;
            MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 9, all, &status);
            EQUAL(word, status.MPI_SOURCE);
            seen += word;
        }
        EQUAL(seen, n * (n - 1) / 2);
    } else {
        MPI_Send(&r, 1, MPI_INT, 0, 9, all);
    }
    MPI_Comm_free(&all);
}

static void child(MPI_Comm parent, const char *how, char *self)
{
    char name[MPI_MAX_OBJECT_NAME];
    int len, flag, *value;
    MPI_Comm_get_name(parent, name, &len);
    CHECK(!strcmp(name, "MPI_COMM_PARENT"));
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &flag);
    CHECK(flag);
    if (!strcmp(how, "second"))
        EQUAL(*value, 1);
    else
        EQUAL(*value, 0);
    talk(parent);
    merge(parent, 1);
    if (!strcmp(how, "nested")) {
        MPI_Comm inter;
        char *argv[] = {"grandchild", NULL};
        int code = -1;
        MPI_Comm_spawn(self, argv, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, &code);
        EQUAL(code, MPI_SUCCESS);
        talk(inter);
        merge(inter, 0);
        MPI_Comm_disconnect(&inter);
    } else if (!strcmp(how, "grandchild")) {
        printf("grandchild %d of %d\n", rank, size);
        fflush(stdout);
    }
    MPI_Comm_disconnect(&parent);
    CHECK(parent == MPI_COMM_NULL);
    MPI_Comm_get_parent(&parent);
    CHECK(parent == MPI_COMM_NULL);
}

/* Spawns `n` children from all of the world; their argument is `how`. */
static MPI_Comm spawn(const char *self, int n, char *how, int root)
{
    MPI_Comm inter;
    char *argv[] = {how, NULL};
    int codes[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
    MPI_Comm_spawn(self, argv, n, MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter, codes);
    for (int k = 0; k < n; k++)
        EQUAL(codes[k], MPI_SUCCESS);
    EQUAL(codes[n], -1);
    int remote, is_inter;
    MPI_Comm_test_inter(inter, &is_inter);
    CHECK(is_inter);
    MPI_Comm_remote_size(inter, &remote);
    EQUAL(remote, n);
    return inter;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "plain";
    int level;
    MPI_Init_thread(&argc, &argv, strcmp(how, "threads") ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        child(parent, how, argv[0]);
        MPI_Finalize();
        return 0;
    }
    if (!strcmp(how, "multiple")) {
        char *commands[] = {argv[0], argv[0]}, *first[] = {"first", NULL}, *second[] = {"second", NULL};
        char **argvs[] = {first, second};
        int counts[] = {1, 2}, codes[3] = {-1, -1, -1};
        MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
        MPI_Comm inter;
        MPI_Comm_spawn_multiple(2, commands, argvs, counts, infos, 1, MPI_COMM_WORLD, &inter, codes);
        for (int k = 0; k < 3; k++)
            EQUAL(codes[k], MPI_SUCCESS);
        talk(inter);
        merge(inter, 0);
        MPI_Comm_disconnect(&inter);
    } else {
        int rounds = strcmp(how, "again") ? 1 : 5;
        for (int round = 0; round < rounds; round++) {
            int root = round % size;
            MPI_Comm inter = spawn(argv[0], 2, strcmp(how, "nested") ? "plain" : "nested", root);
            talk(inter);
            merge(inter, 0);
            MPI_Comm_disconnect(&inter);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
