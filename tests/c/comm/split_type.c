// Splits by what members share: memory, hardware resources, process sets.
// run: -n 1
// run: -n 4
// run: -n 5
// run: -n 4 --set LINK=tcp
// only: catena
#define _GNU_SOURCE
#include "../check.h"
#include <sched.h>

static MPI_Comm split(int type, const char *key, const char *value)
{
    MPI_Comm made;
    MPI_Info info = MPI_INFO_NULL;
    if (key) {
        MPI_Info_create(&info);
        MPI_Info_set(info, key, value);
    }
    EQUAL(MPI_Comm_split_type(MPI_COMM_WORLD, type, -rank, info, &made), MPI_SUCCESS);
    if (key)
        MPI_Info_free(&info);
    return made;
}

static MPI_Comm by(const char *resource)
{
    return split(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", resource);
}

/* It has n members, in the order of their keys: turned round. */
static void has(MPI_Comm comm, int n)
{
    int size, me, above, highest;
    CHECK(comm != MPI_COMM_NULL);
    MPI_Comm_size(comm, &size);
    EQUAL(size, n);
    MPI_Comm_rank(comm, &me);
    highest = rank;
    MPI_Bcast(&highest, 1, MPI_INT, 0, comm);
    above = me == 0 ? rank == highest : rank < highest;
    CHECK(above);
    MPI_Comm_free(&comm);
}

/* A window of shared memory can be made of those that share it, who are alone where all messages go over a network. */
static void memory(int together)
{
    MPI_Comm near = split(MPI_COMM_TYPE_SHARED, NULL, NULL);
    MPI_Win win;
    int *mine, members, sum = 0, me, disp;
    MPI_Aint bytes;
    MPI_Comm_size(near, &members);
    EQUAL(members, together);
    MPI_Win_allocate_shared(sizeof *mine, sizeof *mine, MPI_INFO_NULL, near, &mine, &win);
    MPI_Win_lock_all(0, win);
    *mine = rank + 1;
    MPI_Win_sync(win);
    MPI_Barrier(near);
    MPI_Win_sync(win);
    for (me = 0; me < members; me++) {
        int *other;
        MPI_Win_shared_query(win, me, &bytes, &disp, &other);
        sum += *other;
    }
    EQUAL(sum, members == size ? size * (size + 1) / 2 : rank + 1);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    has(near, together);
    has(by("mpi_shared_memory"), together);
    has(split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_hw_resource_type", "mpi_shared_memory"), together);
}

static void guided(int together)
{
    /* Whatever a program may take for a node groups the same members. */
    has(by("hwloc://Machine"), together);
    CHECK(split(MPI_COMM_TYPE_HW_GUIDED, NULL, NULL) == MPI_COMM_NULL);
    CHECK(split(MPI_COMM_TYPE_HW_GUIDED, "something", "else") == MPI_COMM_NULL);
    CHECK(by("hwloc://Toaster") == MPI_COMM_NULL);
    CHECK(split(MPI_COMM_TYPE_HW_GUIDED, "mpi_pset_name", "mpi://WORLD") == MPI_COMM_NULL);
    CHECK(split(MPI_COMM_TYPE_RESOURCE_GUIDED, NULL, NULL) == MPI_COMM_NULL);
    CHECK(split(MPI_UNDEFINED, NULL, NULL) == MPI_COMM_NULL);

    has(split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://WORLD"), size);
    has(split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://SELF"), 1);
    CHECK(split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "nobody") == MPI_COMM_NULL);

    /* Some do not take part; some want something else. */
    MPI_Comm some = split(rank ? MPI_COMM_TYPE_SHARED : MPI_UNDEFINED, NULL, NULL);
    CHECK((some == MPI_COMM_NULL) == (rank == 0));
    if (rank)
        has(some, together == size ? size - 1 : 1);
    some = split(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type",
                 rank ? "mpi_shared_memory" : "hwloc://PU");
    if (size > 1)
        CHECK(some == MPI_COMM_NULL);
    else if (some != MPI_COMM_NULL)
        MPI_Comm_free(&some);
}

/* Every rank on one CPU, two CPUs in all. */
static void bound(int together)
{
    cpu_set_t all, mine;
    int cpus[2], n = 0;
    sched_getaffinity(0, sizeof all, &all);
    for (int cpu = 0; cpu < CPU_SETSIZE && n < 2; cpu++)
        if (CPU_ISSET(cpu, &all))
            cpus[n++] = cpu;
    if (n < 2)
        return;
    if (CPU_COUNT(&all) > 1)
        CHECK(by("hwloc://PU") == MPI_COMM_NULL);
    CPU_ZERO(&mine);
    CPU_SET(cpus[rank % 2], &mine);
    sched_setaffinity(0, sizeof mine, &mine);
    int there = together == size ? (size + 1 - rank % 2) / 2 : 1;
    has(by("hwloc://PU"), there);
    has(by("pu"), there);

    MPI_Info info;
    MPI_Get_hw_resource_info(&info);
    char text[MPI_MAX_INFO_VAL];
    int room = sizeof text, flag;
    MPI_Info_get_string(info, "hwloc://PU", &room, text, &flag);
    CHECK(flag && !strcmp(text, "true"));
    MPI_Info_free(&info);

    /* The largest resource that tells members apart; after it, nothing does, or a smaller one. */
    MPI_Comm comm = MPI_COMM_WORLD, next;
    int before = size, depth = 0, now;
    for (;; depth++) {
        MPI_Info_create(&info);
        MPI_Comm_split_type(comm, MPI_COMM_TYPE_HW_UNGUIDED, 0, info, &next);
        room = sizeof text;
        MPI_Info_get_string(info, "mpi_hw_resource_type", &room, text, &flag);
        CHECK(flag == (next != MPI_COMM_NULL));
        MPI_Info_free(&info);
        if (comm != MPI_COMM_WORLD)
            MPI_Comm_free(&comm);
        comm = next;
        if (comm == MPI_COMM_NULL)
            break;
        MPI_Comm_size(comm, &now);
        CHECK(now < before);
        before = now;
    }
    EQUAL(before, there);
    EQUAL(depth, size > 1);

    /* Who may run on both is nowhere. */
    if (rank == 0) {
        CPU_SET(cpus[1], &mine);
        sched_setaffinity(0, sizeof mine, &mine);
    }
    comm = by("hwloc://PU");
    CHECK((comm == MPI_COMM_NULL) == (rank == 0));
    if (rank)
        has(comm, rank % 2 || together < size ? there : there - 1);
}

static void errors(void)
{
    MPI_Comm made;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory");
    MPI_Info_set(info, "mpi_pset_name", "mpi://WORLD");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int rc = MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &made);
    EQUAL(class_of(rc), MPI_ERR_INFO);
    rc = MPI_Comm_split_type(MPI_COMM_WORLD, 12345, 0, info, &made);
    EQUAL(class_of(rc), MPI_ERR_ARG);
    CHECK(made == MPI_COMM_NULL);
    MPI_Info_free(&info);
    rc = MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, info, &made);
    EQUAL(rc, MPI_SUCCESS);
    MPI_Comm_free(&made);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int together = one_node() ? size : 1;
    memory(together);
    guided(together);
    bound(together);
    errors();
    return finish();
}
