// Control variables: what is read is in force, and what is written comes to be.
// only: catena
// run: -n 2 --set LINK=shm
// run: -n 2 --set LINK=shm --set COLL_NODE=false -- messages
#include "../check.h"

static MPI_T_cvar_handle open_cvar(const char *name)
{
    int at, count = 0;
    MPI_T_cvar_handle h = MPI_T_CVAR_HANDLE_NULL;
    EQUAL(MPI_T_cvar_get_index(name, &at), MPI_SUCCESS);
    EQUAL(MPI_T_cvar_handle_alloc(at, NULL, &h, &count), MPI_SUCCESS);
    EQUAL(count, 1);
    return h;
}

static unsigned long long counted(MPI_T_pvar_session s, const char *name)
{
    int at, count;
    unsigned long long value;
    MPI_T_pvar_handle h;
    EQUAL(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &at), MPI_SUCCESS);
    EQUAL(MPI_T_pvar_handle_alloc(s, at, NULL, &h, &count), MPI_SUCCESS);
    EQUAL(MPI_T_pvar_start(s, h), MPI_SUCCESS);
    int sum, one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EQUAL(sum, size);
    EQUAL(MPI_T_pvar_read(s, h, &value), MPI_SUCCESS);
    EQUAL(MPI_T_pvar_handle_free(s, &h), MPI_SUCCESS);
    return value;
}

static void bad_handles(void)
{
    int count, n;
    MPI_T_cvar_handle h = MPI_T_CVAR_HANDLE_NULL, gone;
    EQUAL(MPI_T_cvar_read(h, &count), MPI_T_ERR_INVALID_HANDLE);
    EQUAL(MPI_T_cvar_write(h, &count), MPI_T_ERR_INVALID_HANDLE);
    EQUAL(MPI_T_cvar_handle_free(&h), MPI_T_ERR_INVALID_HANDLE);
    EQUAL(MPI_T_cvar_handle_free(NULL), MPI_T_ERR_INVALID);
    MPI_T_cvar_get_num(&n);
    EQUAL(MPI_T_cvar_handle_alloc(n, NULL, &h, &count), MPI_T_ERR_INVALID_INDEX);
    EQUAL(MPI_T_cvar_handle_alloc(0, NULL, NULL, &count), MPI_T_ERR_INVALID);
    h = open_cvar("CATENA_SHM_CELLS");
    EQUAL(MPI_T_cvar_read(h, NULL), MPI_T_ERR_INVALID);
    EQUAL(MPI_T_cvar_write(h, NULL), MPI_T_ERR_INVALID);
    gone = h;
    EQUAL(MPI_T_cvar_handle_free(&h), MPI_SUCCESS);
    CHECK(h == MPI_T_CVAR_HANDLE_NULL);
    EQUAL(MPI_T_cvar_read(gone, &count), MPI_T_ERR_INVALID_HANDLE);
}

int main(int argc, char **argv)
{
    int provided, flag = -1, choice;
    unsigned long long bytes = 0;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    bad_handles();
    MPI_T_cvar_handle eager = open_cvar("CATENA_SHM_EAGER_MAX");
    MPI_T_cvar_handle board = open_cvar("CATENA_COLL_NODE");
    MPI_T_cvar_handle algorithm = open_cvar("CATENA_COLL_ALLREDUCE");

    /* Until MPI_Init. */
    EQUAL(MPI_T_cvar_read(eager, &bytes), MPI_SUCCESS);
    EQUAL(bytes, 64 << 10);
    bytes = 1ull << 40;
    EQUAL(MPI_T_cvar_write(eager, &bytes), MPI_T_ERR_INVALID);
    bytes = 100;
    EQUAL(MPI_T_cvar_write(eager, &bytes), MPI_SUCCESS);
    start(&argc, &argv);
    bytes = 200;
    EQUAL(MPI_T_cvar_write(eager, &bytes), MPI_T_ERR_CVAR_SET_NEVER);
    EQUAL(MPI_T_cvar_read(eager, &bytes), MPI_SUCCESS);
    EQUAL(bytes, 100);
    MPI_T_pvar_session s;
    EQUAL(MPI_T_pvar_session_create(&s), MPI_SUCCESS);
    int at, count;
    MPI_T_pvar_handle announced;
    MPI_T_pvar_get_index("sent_rendezvous_messages", MPI_T_PVAR_CLASS_COUNTER, &at);
    MPI_T_pvar_handle_alloc(s, at, NULL, &announced, &count);
    MPI_T_pvar_start(s, announced);
    char out[101] = {0}, in[101];
    for (int n = 100; n <= 101; n++) /* the limit is in force */
        MPI_Sendrecv(out, n, MPI_BYTE, 1 - rank, 0, in, n, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    EQUAL(MPI_T_pvar_read(s, announced, &bytes), MPI_SUCCESS);
    EQUAL(bytes, 1);

    /* At any time. */
    EQUAL(MPI_T_cvar_read(board, &flag), MPI_SUCCESS);
    EQUAL(flag, argc == 1);
    EQUAL(counted(s, "coll_allreduce_board"), argc == 1);
    flag = 2;
    EQUAL(MPI_T_cvar_write(board, &flag), MPI_T_ERR_INVALID);
    flag = -1;
    EQUAL(MPI_T_cvar_write(board, &flag), MPI_T_ERR_INVALID);
    flag = argc != 1;
    EQUAL(MPI_T_cvar_write(board, &flag), MPI_SUCCESS);
    EQUAL(counted(s, "coll_allreduce_board"), argc != 1);

    /* Every algorithm by its name; plans that were made before are forgotten. */
    char cvar[256], name[128], pvar[256];
    int index, items, len = sizeof cvar;
    MPI_T_enum e;
    MPI_T_cvar_get_index("CATENA_COLL_ALLREDUCE", &index);
    MPI_T_cvar_get_info(index, cvar, &len, 0, 0, &e, 0, 0, 0, 0);
    MPI_T_enum_get_info(e, &items, NULL, NULL);
    CHECK(items > 2);
    for (int i = 1; i < items; i++) {
        len = sizeof name;
        MPI_T_enum_get_item(e, i, &choice, name, &len);
        snprintf(pvar, sizeof pvar, "coll_allreduce_%s", name);
        EQUAL(MPI_T_cvar_write(algorithm, &choice), MPI_SUCCESS);
        EQUAL(MPI_T_cvar_read(algorithm, &flag), MPI_SUCCESS);
        EQUAL(flag, choice);
        /* The first needs more elements than one, the others more nodes. */
        if (strcmp(name, "rabenseifner") && strcmp(name, "hierarchical") && strcmp(name, "multi_leader"))
            EQUAL(counted(s, pvar), 1);
    }
    EQUAL(MPI_T_pvar_session_free(&s), MPI_SUCCESS);
    EQUAL(MPI_T_finalize(), MPI_SUCCESS);
    return finish();
}
