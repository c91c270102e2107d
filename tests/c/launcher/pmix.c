// Catena's launcher as a PMIx server: the ranks have no other way to their job.
// run: -n 4 --pmix --pset odd=1,3 env -u CATENA_BOOT @ -- 4
// run: -n 5 --launcher-agent tests/c/here.sh --host here:2,there:3 --pmix --pset odd=1,3 --set LINK=shm+tcp env -u CATENA_BOOT @ -- 2 3
// run: -n 3 --pmix env -u CATENA_BOOT @ -- abort ; exit 7 ; says ended the job with code 7
// run: -n 3 --pmix env -u CATENA_BOOT @ -- kill ; exit 137 ; says killed by signal 9
// run: -n 3 --pmix env -u CATENA_BOOT @ -- leave ; fails ; says ended without MPI_Finalize
// run: -n 2 --pmix env -u CATENA_BOOT @ -- spawn ; says mpirun: rank 1 wants to start processes \(MPI_Comm_spawn\)
// run: -n 2 --pmix --set PMIX=/no/libpmix.so @ -- 2 ; exit 1 ; says (?s)there can be no PMIx server.*/no/libpmix.so
// only: catena
// cc: -ldl
// needs: libpmix.so.2
#include <dlfcn.h>
#include <signal.h>

#include "../check.h"

/* Each argument is the number of ranks of a host. */
static void check_node(int argc, char **argv)
{
    int first = 0, mine = 0, near;
    for (int i = 1; i < argc; i++) {
        int ranks = atoi(argv[i]);
        if (rank >= first && rank < first + ranks)
            mine = ranks;
        first += ranks;
    }
    EQUAL(first, size);
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &near);
    EQUAL(near, mine);
    MPI_Comm_free(&node);
}

/* The launcher's process sets are those that PMIx tells. */
static void check_sets(void)
{
    MPI_Session session;
    MPI_Group odd;
    MPI_Comm comm;
    int n, found = 0;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n);
    for (int i = 0; i < n; i++) {
        char name[MPI_MAX_PSET_NAME_LEN];
        int room = sizeof name;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &room, name);
        found += !strcmp(name, "odd");
    }
    EQUAL(found, rank % 2);
    if (found) {
        int members, sum;
        MPI_Group_from_session_pset(session, "odd", &odd);
        MPI_Group_size(odd, &members);
        EQUAL(members, size / 2);
        MPI_Comm_create_from_group(odd, "odd", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        EQUAL(sum, members * members);
        MPI_Comm_free(&comm);
        MPI_Group_free(&odd);
    }
    MPI_Session_finalize(&session);
}

/* New processes are refused, and the job goes on. */
static void check_spawn(void)
{
    struct {
        char *program, **argv, **env, *folder;
        int count;
        void *infos;
        size_t info_count;
    } app = {.program = "/bin/true", .count = 1};
    char job[256];
    int (*spawn)(void *, size_t, void *, size_t, char *) = NULL;
    *(void **)&spawn = dlsym(dlopen("libpmix.so.2", RTLD_LAZY), "PMIx_Spawn");
    CHECK(spawn && spawn(NULL, 0, &app, 1, job));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    CHECK(argc >= 2);
    int sum;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EQUAL(sum, size * (size - 1) / 2);
    if (atoi(argv[1])) {
        check_node(argc, argv);
        check_sets();
        return finish();
    }
    if (!strcmp(argv[1], "spawn")) {
        if (rank == 1)
            check_spawn();
        return finish();
    }
    if (rank == size - 1) {
        if (!strcmp(argv[1], "abort"))
            MPI_Abort(MPI_COMM_WORLD, 7);
        if (!strcmp(argv[1], "kill"))
            raise(SIGKILL);
        _exit(0);
    }
    MPI_Recv(&sum, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return finish();
}
