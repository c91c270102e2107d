// Windows of every flavour: attributes, names, hints, groups, handles as integers, shared memory.
// run: -n 1
// run: -n 4
// run: -n 3 --set LINK=tcp
//
// variant: windows_hosts
// hosts: 2
// time: 120
// run: --host h0:2,h1:2 --launcher-agent scripts/hosts
#include "../check.h"

static int deleted;

static int drop(MPI_Win win, int key, void *value, void *extra)
{
    (void) win, (void) key, (void) extra;
    deleted += *(int *) value;
    return MPI_SUCCESS;
}

static void attribute_is(MPI_Win win, int key, long long expected)
{
    void *at;
    int flag = 0;
    EQUAL(MPI_Win_get_attr(win, key, &at, &flag), MPI_SUCCESS);
    CHECK(flag);
    if (key == MPI_WIN_SIZE)
        EQUAL(*(MPI_Aint *) at, expected);
    else
        EQUAL(*(int *) at, expected);
}

static void hint_is(MPI_Win win, const char *key, const char *expected)
{
    MPI_Info info;
    char value[256];
    int len = sizeof value, flag = 0;
    MPI_Win_get_info(win, &info);
    MPI_Info_get_string(info, key, &len, value, &flag);
    MPI_Info_free(&info);
    CHECK(flag);
    CHECK(strcmp(value, expected) == 0);
}

static void common(MPI_Win win, int flavor, MPI_Aint bytes, int unit)
{
    attribute_is(win, MPI_WIN_SIZE, bytes);
    attribute_is(win, MPI_WIN_DISP_UNIT, unit);
    attribute_is(win, MPI_WIN_CREATE_FLAVOR, flavor);
    attribute_is(win, MPI_WIN_MODEL, MPI_WIN_UNIFIED);

    char name[MPI_MAX_OBJECT_NAME];
    int len = -1;
    MPI_Win_get_name(win, name, &len);
    EQUAL(len, 0);
    MPI_Win_set_name(win, "a window");
    MPI_Win_get_name(win, name, &len);
    EQUAL(len, 8);
    CHECK(strcmp(name, "a window") == 0);

    hint_is(win, "no_locks", "false");
    hint_is(win, "accumulate_ordering", "rar,raw,war,waw");
    hint_is(win, "accumulate_ops", "same_op_no_op");
    hint_is(win, "same_size", "false");
    hint_is(win, "same_disp_unit", "false");
    hint_is(win, "mpi_accumulate_granularity", "0");

    MPI_Group group, world;
    int like;
    MPI_Win_get_group(win, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &like);
    EQUAL(like, MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&world);

    /* The same number at all members. */
    int mine = MPI_Win_toint(win), all[2] = {mine, -mine};
    CHECK(MPI_Win_fromint(mine) == win);
    MPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    EQUAL(all[0], mine);
    EQUAL(-all[1], mine);
    CHECK(MPI_Win_fromint(mine + 1000) == MPI_WIN_NULL);

    MPI_Errhandler handler;
    MPI_Win_get_errhandler(win, &handler);
    CHECK(handler == MPI_ERRORS_ARE_FATAL);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_get_errhandler(win, &handler);
    CHECK(handler == MPI_ERRORS_RETURN);
    EQUAL(MPI_Win_call_errhandler(win, MPI_ERR_OTHER), MPI_SUCCESS);

    int key, value = 7, *back = NULL, flag = 0;
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, drop, &key, NULL);
    MPI_Win_set_attr(win, key, &value);
    MPI_Win_get_attr(win, key, &back, &flag);
    CHECK(flag && back == &value);
    deleted = 0;
    MPI_Win_delete_attr(win, key);
    EQUAL(deleted, 7);
    MPI_Win_set_attr(win, key, &value);
    MPI_Win_free_keyval(&key);
    EQUAL(MPI_Win_free(&win), MPI_SUCCESS);
    EQUAL(deleted, 14);
    CHECK(win == MPI_WIN_NULL);
    CHECK(MPI_Win_fromint(mine) == MPI_WIN_NULL);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Win win;
    void *at;
    int flag;
    double *memory = malloc(64 * sizeof *memory), *base;

    MPI_Win_create(memory, 64 * sizeof *memory, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_get_attr(win, MPI_WIN_BASE, &at, &flag);
    CHECK(flag && at == (void *) memory);
    common(win, MPI_WIN_FLAVOR_CREATE, 512, 8);

    /* Each with another size, one without any. */
    MPI_Win_create(rank ? memory : NULL, 8 * rank, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    common(win, MPI_WIN_FLAVOR_CREATE, 8 * rank, 4);

    MPI_Win_allocate_c(1000, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_get_attr(win, MPI_WIN_BASE, &at, &flag);
    CHECK(flag && at == (void *) base);
    memset(base, 1, 1000);
    common(win, MPI_WIN_FLAVOR_ALLOCATE, 1000, 1);

    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_get_attr(win, MPI_WIN_BASE, &at, &flag);
    CHECK(flag && at == MPI_BOTTOM);
    common(win, MPI_WIN_FLAVOR_DYNAMIC, 0, 1);

    /* Shared, one behind the other and each by itself. */
    int shares = one_node();
    for (int apart = 0; apart < 2 && shares; apart++) {
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, "alloc_shared_noncontig", apart ? "true" : "false");
        MPI_Win_allocate_shared((rank + 1) * sizeof(int), sizeof(int), info, MPI_COMM_WORLD, &base, &win);
        MPI_Info_free(&info);
        hint_is(win, "alloc_shared_noncontig", apart ? "true" : "false");
        int *own = (int *) base, *before = NULL;
        for (int i = 0; i <= rank; i++)
            own[i] = 100 * rank + i;
        MPI_Win_fence(0, win);
        for (int r = 0; r < size; r++) {
            MPI_Aint bytes;
            int unit, *theirs;
            MPI_Win_shared_query(win, r, &bytes, &unit, &theirs);
            EQUAL(bytes, (r + 1) * sizeof(int));
            EQUAL(unit, sizeof(int));
            for (int i = 0; i <= r; i++)
                EQUAL(theirs[i], 100 * r + i);
            if (!apart && r > 0)
                CHECK(theirs == before + r);
            before = theirs;
        }
        MPI_Aint bytes, unit;
        int *first;
        MPI_Win_shared_query_c(win, MPI_PROC_NULL, &bytes, &unit, &first);
        EQUAL(bytes, sizeof(int));
        EQUAL(first[0], 0);
        /* What one stores all load. */
        MPI_Win_fence(0, win);
        if (rank == size - 1)
            first[0] = 4711;
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        EQUAL(first[0], 4711);
        common(win, MPI_WIN_FLAVOR_SHARED, (rank + 1) * sizeof(int), sizeof(int));
    }

    /* Only the last has memory, and queries of nobody find it. */
    int *some;
    MPI_Aint bytes;
    int unit;
    if (shares) {
        MPI_Win_allocate_shared(rank == size - 1 ? 12 : 0, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &some, &win);
        MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &some);
        EQUAL(bytes, 12);
        MPI_Win_free(&win);
    } else {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        int rc = MPI_Win_allocate_shared(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &some, &win);
        EQUAL(class_of(rc), MPI_ERR_RMA_SHARED);
        EQUAL(win == MPI_WIN_NULL, 1);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    }

    /* A created window over memory of MPI_Alloc_mem is loaded and stored, too. */
    int *mine;
    MPI_Alloc_mem(4000, MPI_INFO_NULL, &mine);
    mine[10] = rank;
    MPI_Win_create(mine + 10, 40, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int r = 0; r < size; r++) {
        MPI_Win_shared_query(win, r, &bytes, &unit, &some);
        CHECK(bytes == 40 || (!shares && r != rank && bytes == 0));
        if (bytes != 0)
            EQUAL(some[0], r);
    }
    MPI_Win_free(&win);
    MPI_Free_mem(mine);

    /* Of some of the processes, in another order. */
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Win_allocate(8, 8, MPI_INFO_NULL, half, &base, &win);
    long *number = (long *) base;
    *number = -1;
    int me, many;
    MPI_Comm_rank(half, &me);
    MPI_Comm_size(half, &many);
    MPI_Comm_free(&half);
    MPI_Win_fence(0, win);
    long value = rank;
    MPI_Put(&value, 1, MPI_LONG, (me + 1) % many, 0, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    EQUAL(*number, many == 1 ? rank : me == 0 ? rank % 2 : rank + 2);
    MPI_Win_free(&win);

    /* Many one after the other, and many at once. */
    for (int i = 0; i < 2000; i++) {
        MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
        MPI_Win_free(&win);
    }
    MPI_Win alive[300];
    for (int i = 0; i < 300; i++) {
        MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &alive[i]);
        *(int *) base = i;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 300; i++) {
        int it;
        MPI_Win_lock(MPI_LOCK_SHARED, (rank + i) % size, 0, alive[i]);
        MPI_Get(&it, 1, MPI_INT, (rank + i) % size, 0, 1, MPI_INT, alive[i]);
        MPI_Win_unlock((rank + i) % size, alive[i]);
        EQUAL(it, i);
    }
    for (int i = 0; i < 300; i++)
        MPI_Win_free(&alive[i]);
    free(memory);
    finish();
    return 0;
}
