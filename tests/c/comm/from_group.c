// Communicators of groups alone: with string tags, of subsets, of two groups; many threads at once,
// each with its own tag, never mix.
// run: -n 1
// run: -n 2
// run: -n 5
// cc: -pthread
// time: 20
#include "../check.h"
#include <pthread.h>

static MPI_Group world;

static MPI_Group part(int from, int step)
{
    MPI_Group group;
    int range[1][3] = {{from, size - 1, step}};
    MPI_Group_range_incl(world, 1, range, &group);
    return group;
}

static void sum_is_right(MPI_Comm comm, MPI_Group group)
{
    int n, expect, sum, one, result;
    MPI_Group of;
    MPI_Comm_group(comm, &of);
    MPI_Group_compare(of, group, &result);
    EQUAL(result, MPI_IDENT);
    MPI_Group_free(&of);
    MPI_Comm_rank(comm, &one);
    MPI_Comm_size(comm, &n);
    expect = n * (n - 1) / 2;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    EQUAL(sum, expect);
}

static void one_group(void)
{
    MPI_Comm all, odd, none;
    MPI_Errhandler handler;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Comm_create_from_group(world, "org.catena.test", info, MPI_ERRORS_RETURN, &all);
    sum_is_right(all, world);
    MPI_Comm_get_errhandler(all, &handler);
    CHECK(handler == MPI_ERRORS_RETURN);
    MPI_Info_free(&info);

    MPI_Group group = part(size > 1, 2);
    MPI_Comm_create_from_group(group, "odd", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &odd);
    CHECK((odd != MPI_COMM_NULL) == (size == 1 || rank % 2));
    if (odd != MPI_COMM_NULL) {
        sum_is_right(odd, group);
        MPI_Comm_free(&odd);
    }
    MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "", MPI_INFO_NULL, MPI_ERRORS_RETURN, &none);
    CHECK(none == MPI_COMM_NULL);

    /* The longest tag, and one that is too long. */
    char *tag = malloc(MPI_MAX_STRINGTAG_LEN + 1);
    memset(tag, 'x', MPI_MAX_STRINGTAG_LEN);
    tag[MPI_MAX_STRINGTAG_LEN] = 0;
    int rc = MPI_Comm_create_from_group(world, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &none);
    EQUAL(class_of(rc), MPI_ERR_ARG);
    tag[MPI_MAX_STRINGTAG_LEN - 1] = 0;
    MPI_Comm_create_from_group(world, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &odd);
    sum_is_right(odd, world);
    MPI_Comm_free(&odd), MPI_Comm_free(&all);
    free(tag);
    MPI_Group_free(&group);
    rc = MPI_Comm_create_from_group(world, NULL, MPI_INFO_NULL, MPI_ERRORS_RETURN, &none);
    EQUAL(class_of(rc), MPI_ERR_ARG);
    rc = MPI_Comm_create_from_group(MPI_GROUP_NULL, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &none);
    EQUAL(class_of(rc), MPI_ERR_GROUP);
    rc = MPI_Comm_create_from_group(world, "x", MPI_INFO_NULL, MPI_ERRHANDLER_NULL, &none);
    EQUAL(class_of(rc), MPI_ERR_ERRHANDLER);
}

static void two_groups(void)
{
    MPI_Comm inter, none;
    MPI_Group even = part(0, 2), odd = size > 1 ? part(1, 2) : MPI_GROUP_EMPTY;
    MPI_Group ours = rank % 2 ? odd : even, theirs = rank % 2 ? even : odd;
    int last, lead, n, result;
    MPI_Group_size(theirs, &lead), MPI_Group_size(ours, &last);
    last--, lead--;
    MPI_Group_rank(ours, &n);
    /* Only the leader has to know the other group. */
    MPI_Group known = n == last || size == 1 ? theirs : MPI_GROUP_NULL;
    MPI_Intercomm_create_from_groups(ours, last, known, lead, "two", MPI_INFO_NULL,
                                     MPI_ERRORS_RETURN, &inter);
    CHECK((inter == MPI_COMM_NULL) == (size == 1));
    if (size > 1) {
        MPI_Group over;
        MPI_Comm_remote_group(inter, &over);
        MPI_Group_compare(over, theirs, &result);
        EQUAL(result, MPI_IDENT);
        MPI_Group_free(&over);
        MPI_Comm one;
        MPI_Intercomm_merge(inter, rank % 2, &one);
        int sum;
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, one);
        EQUAL(sum, size * (size - 1) / 2);
        MPI_Comm_free(&one);
        MPI_Comm_free(&inter);
        int rc = MPI_Intercomm_create_from_groups(theirs, 0, ours, 0, "x", MPI_INFO_NULL,
                                                  MPI_ERRORS_RETURN, &none);
        EQUAL(class_of(rc), MPI_ERR_GROUP);
        rc = MPI_Intercomm_create_from_groups(ours, last + 1, theirs, 0, "x", MPI_INFO_NULL,
                                              MPI_ERRORS_RETURN, &none);
        EQUAL(class_of(rc), MPI_ERR_RANK);
        /* All fail if the leaders do. */
        rc = MPI_Intercomm_create_from_groups(ours, 0, theirs, lead + 1, "x", MPI_INFO_NULL,
                                              MPI_ERRORS_RETURN, &none);
        EQUAL(class_of(rc), n == 0 ? MPI_ERR_RANK : MPI_ERR_OTHER);
        CHECK(none == MPI_COMM_NULL);
    }
    MPI_Intercomm_create_from_groups(ours, 0, MPI_GROUP_EMPTY, 0, "x", MPI_INFO_NULL,
                                     MPI_ERRORS_RETURN, &none);
    CHECK(none == MPI_COMM_NULL);
    MPI_Group_free(&even);
    if (size > 1)
        MPI_Group_free(&odd);
}

enum { THREADS = 6, ROUNDS = 10 };

static void *work(void *arg)
{
    int me = (int) (size_t) arg;
    /* The same group and a tag of its own, or overlapping groups under one. */
    for (int round = 0; round < ROUNDS; round++) {
        char tag[32];
        snprintf(tag, sizeof tag, "thread %d", me);
        MPI_Comm comm, again;
        MPI_Comm_create_from_group(world, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
        MPI_Comm_create_group(MPI_COMM_WORLD, world, me, &again);
        int word = 100 * me + round, high, low;
        MPI_Allreduce(&word, &high, 1, MPI_INT, MPI_MAX, comm);
        MPI_Allreduce(&word, &low, 1, MPI_INT, MPI_MIN, again);
        EQUAL(high, word);
        EQUAL(low, word);
        MPI_Comm_free(&comm), MPI_Comm_free(&again);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    EQUAL(level, MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    one_group();
    two_groups();
    pthread_t thread[THREADS];
    /* Started in another order at every rank. */
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, work, (void *) (size_t) ((i + rank) % THREADS));
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    MPI_Group_free(&world);
    return finish();
}
