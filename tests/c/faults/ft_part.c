// A call that makes a communicator never waits for a member that is alive and takes no part in it, once another member has
// died. The living one has freed the communicator, or its session or its job has ended.
//
// only: catena
// run: -n 4 --with-ft ulfm --set FAULT_STATUS=first -- freed; exit 137; says 'nobody waits'
// run: -n 7 --with-ft ulfm --set FAULT_STATUS=first --set LINK=tcp -- freed; exit 137; says 'nobody waits'
// run: -n 4 --with-ft ulfm --set FAULT_STATUS=first -- session; exit 137; says 'nobody waits'
// run: -n 7 --with-ft ulfm --set FAULT_STATUS=first --set LINK=tcp -- session; exit 137; says 'nobody waits'
// run: -n 1 --with-ft ulfm --set FAULT_STATUS=first -- job; exit 137; says 'nobody waits'
// run: -n 1 --with-ft ulfm --set FAULT_STATUS=first --set LINK=tcp -- job; exit 137; says 'nobody waits'
// run: -n 1 --with-ft ulfm --set FAULT_STATUS=first -- job kept; exit 137; says 'nobody waits'
#include "../check.h"
#include "deaths.h"
#include <mpi-ext.h>
#include <sched.h>
#include <signal.h>

enum { VICTIM = 2, MOST = 16 };

static int pids[MOST];

/* One dies, and all others but rank 0 know of it. Rank 0 has not looked. */
static void lose_one(MPI_Comm comm)
{
    int pid = getpid();
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    CHECK(size <= MOST);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    EQUAL(MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, comm), MPI_SUCCESS);
    EQUAL(MPI_Barrier(comm), MPI_SUCCESS);
    if (rank == VICTIM)
        raise(SIGKILL);
    while (rank != 0 && !deaths(comm))
        sched_yield();
}

/* Rank 0 makes the call when the others have gone. */
static void call_alone(MPI_Comm comm)
{
    MPI_Comm made;
    for (int other = 1; other < size; other++)
        while (!has_ended(pids[other]))
            sched_yield();
    EQUAL(MPI_Comm_dup(comm, &made), MPIX_ERR_PROC_FAILED);
    EQUAL(MPI_Comm_split(comm, 0, 0, &made), MPIX_ERR_PROC_FAILED);
    printf("nobody waits\n");
}

/* The others have freed the communicator, and serve rank 0 while they wait for it elsewhere. */
static void freed(void)
{
    MPI_Comm comm, made;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    lose_one(comm);
    if (rank == 0) {
        EQUAL(MPI_Comm_dup(comm, &made), MPIX_ERR_PROC_FAILED);
        printf("nobody waits\n");
    }
    EQUAL(MPI_Comm_free(&comm), MPI_SUCCESS);
    MPI_Finalize();
}

static void session(void)
{
    MPI_Session session;
    MPI_Group all;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    MPI_Comm_create_from_group(all, "ft_part", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Group_free(&all);
    lose_one(comm);
    if (rank == 0)
        call_alone(comm);
    MPI_Session_finalize(&session);
}

/* Rank 0 is a job of its own, the others are what it has spawned. */
static void job(char *self, int is_kept)
{
    MPI_Comm between, all;
    MPI_Init(NULL, NULL);
    MPI_Comm_get_parent(&between);
    const int is_parent = between == MPI_COMM_NULL;
    if (is_parent) {
        char *arguments[] = {"job", is_kept ? "kept" : NULL, NULL};
        MPI_Comm_spawn(self, arguments, 3, MPI_INFO_NULL, 0, MPI_COMM_SELF, &between, MPI_ERRCODES_IGNORE);
    }
    MPI_Intercomm_merge(between, !is_parent, &all);
    MPI_Comm_free(&between);
    lose_one(all);
    if (is_parent)
        call_alone(all);
    if (!is_kept)
        MPI_Comm_free(&all);
    MPI_Finalize();
}

int main(int argc, char **argv)
{
    if (strcmp(argv[1], "session") == 0) {
        session();
    } else if (strcmp(argv[1], "job") == 0) {
        job(argv[0], argc > 2);
    } else {
        start(&argc, &argv);
        freed();
    }
    return 0;
}
