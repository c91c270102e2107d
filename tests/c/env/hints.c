// Hints: those that the library follows are told as in use, all others are not, wherever they come
// from.
// run: -n 1
// run: -n 3
// only: catena
#include "../check.h"

/* Assertions of the standard, one of them with a value that is none, and keys that nobody knows. */
static const char *const ignored[][2] = {
    {"mpi_assert_no_any_tag", "true"},
    {"mpi_assert_no_any_source", "true"},
    {"mpi_assert_exact_length", "perhaps"},
    {"mpi_assert_allow_overtaking", "true"},
    {"mpi_assert_strict_persistent_collective_ordering", "true"},
    {"mpi_assert_memory_alloc_kinds", "system"},
    {"mpi_memory_alloc_kinds", "cuda"},
    {"colour", "green"},
};

static MPI_Info hints(void)
{
    MPI_Info info;
    MPI_Info_create(&info);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        MPI_Info_set(info, ignored[i][0], ignored[i][1]);
    return info;
}

/* The value of a key in `info` is `value`. */
static void has(MPI_Info info, const char *key, const char *value)
{
    char text[64];
    int flag, room = sizeof text;
    MPI_Info_get_string(info, key, &room, text, &flag);
    CHECK(flag && !strcmp(text, value));
}

/* It follows `key` if given; beside that it tells the kinds of memory, and nothing else. */
static void follows(MPI_Comm comm, const char *key, const char *value)
{
    MPI_Info used;
    int n;
    MPI_Comm_get_info(comm, &used);
    MPI_Info_get_nkeys(used, &n);
    EQUAL(n, key ? 2 : 1);
    has(used, "mpi_memory_alloc_kinds", "mpi,system");
    if (key)
        has(used, key, value);
    MPI_Info_free(&used);
}

static void communicators(MPI_Info info)
{
    MPI_Comm comm, made;
    MPI_Group group;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_info(comm, info);
    follows(comm, NULL, NULL);
    MPI_Comm_dup_with_info(comm, info, &made);
    follows(made, NULL, NULL);
    MPI_Comm_free(&made);
    MPI_Comm_idup_with_info(comm, info, &made, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    follows(made, NULL, NULL);
    MPI_Comm_free(&made);
    MPI_Comm_group(comm, &group);
    MPI_Comm_create_from_group(group, "hints", info, MPI_ERRORS_ARE_FATAL, &made);
    follows(made, NULL, NULL);
    MPI_Comm_free(&made);
    MPI_Group_free(&group);
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    MPI_Dist_graph_create_adjacent(comm, 1, &last, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, info,
                                   1, &made);
    follows(made, NULL, NULL);
    MPI_Comm_free(&made);

    /* What a communicator was split by, as it was asked for. */
    MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory");
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_HW_GUIDED, 0, info, &made);
    follows(made, "mpi_hw_resource_type", "mpi_shared_memory");
    MPI_Comm_set_info(made, MPI_INFO_ENV);
    follows(made, "mpi_hw_resource_type", "mpi_shared_memory");
    MPI_Comm_free(&made);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, info, &made);
    follows(made, NULL, NULL);
    MPI_Comm_free(&made);
    MPI_Info_delete(info, "mpi_hw_resource_type");
    MPI_Info_set(info, "mpi_pset_name", "mpi://WORLD");
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &made);
    follows(made, "mpi_pset_name", "mpi://WORLD");
    MPI_Comm_free(&made);
    MPI_Info_delete(info, "mpi_pset_name");
    MPI_Comm_free(&comm);
}

static void sessions(MPI_Info info)
{
    MPI_Session session;
    MPI_Info used;
    int n;
    MPI_Info_set(info, "thread_level", "MPI_THREAD_SINGLE");
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Info_delete(info, "thread_level");
    MPI_Session_get_info(session, &used);
    MPI_Info_get_nkeys(used, &n);
    EQUAL(n, 2);
    has(used, "mpi_memory_alloc_kinds", "mpi,system");
    has(used, "thread_level", "MPI_THREAD_SINGLE");
    MPI_Info_free(&used);
    MPI_Session_finalize(&session);
}

/* Memory is aligned as is asked for, by more than the library would by itself. */
static void memory(MPI_Info info)
{
    const char *const wanted[] = {"16384", "1", "none", "-4", "65536"};
    const size_t least[] = {16384, 1, 1, 1, 65536};
    for (int i = 0; i < 5; i++) {
        char *at[8];
        MPI_Info_set(info, "mpi_minimum_memory_alignment", wanted[i]);
        for (int k = 0; k < 8; k++) {
            MPI_Alloc_mem(100, info, &at[k]);
            EQUAL((size_t) at[k] % least[i], 0);
            memset(at[k], k, 100);
        }
        for (int k = 0; k < 8; k++)
            MPI_Free_mem(at[k]);
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Info info = hints();
    communicators(info);
    sessions(info);
    memory(info);
    MPI_Info_free(&info);
    return finish();
}
