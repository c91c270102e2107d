// The last session of a process ends while another thread begins one: that one goes on, whatever the first waits for.
//
// Rank 1 is outside of MPI meanwhile, so that what rank 0 has sent has not all left when it calls MPI_Session_finalize, which
// waits for that over a network.
//
// only: catena
// cc: -pthread
// run: -n 2 -- 8
// run: -n 2 --set LINK=tcp -- 100
// run: -n 2 --set LINK=ofi:tcp -- 100
#include "../check.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>

enum { ROUNDS = 3, LENGTH = 4000 };

static volatile int ending, ended;
static int pid_of_1, messages;
static sigset_t signals;

static MPI_Session begin(void)
{
    MPI_Session session;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    CHECK(MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session) == MPI_SUCCESS);
    MPI_Info_free(&info);
    return session;
}

static MPI_Comm world(MPI_Session session, const char *tag)
{
    MPI_Comm comm;
    MPI_Group group;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    return comm;
}

/* Messages from rank 0 to rank 1, which first waits for a signal if `late`. */
static void use(MPI_Comm comm, int seed, int late)
{
    static unsigned char bytes[LENGTH];
    int number;
    for (int i = 0; i < messages; i++)
        if (rank == 0) {
            fill(bytes, sizeof bytes, seed + i);
            MPI_Send(bytes, sizeof bytes, MPI_BYTE, 1, i, comm);
        }
    if (rank == 1 && late)
        CHECK(sigwait(&signals, &number) == 0);
    for (int i = 0; i < messages; i++)
        if (rank == 1) {
            MPI_Recv(bytes, sizeof bytes, MPI_BYTE, 0, i, comm, MPI_STATUS_IGNORE);
            EQUAL(wrong_at(bytes, sizeof bytes, seed + i), LENGTH);
        }
}

static void *second(void *at)
{
    int round = *(int *)at, n;
    while (!ending)
        sched_yield();
    MPI_Session session = begin();
    if (rank == 0)
        kill(pid_of_1, SIGUSR1);
    while (!ended)
        sched_yield();
    CHECK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n) == MPI_SUCCESS && n >= 2);
    MPI_Comm comm = world(session, "second");
    use(comm, 1000 * round, 0);
    MPI_Comm_free(&comm);
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
    return NULL;
}

int main(int argc, char **argv)
{
    CHECK(argc > 1 && (messages = atoi(argv[1])) > 0);
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t thread;
        MPI_Session session = begin();
        MPI_Comm comm = world(session, "first");
        ending = ended = 0;
        pid_of_1 = getpid();
        MPI_Bcast(&pid_of_1, 1, MPI_INT, 1, comm);
        CHECK(pthread_create(&thread, NULL, second, &round) == 0);
        use(comm, round, 1);
        MPI_Comm_free(&comm);
        ending = 1;
        CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
        ended = 1;
        pthread_join(thread, NULL);
    }
    return 0;
}
