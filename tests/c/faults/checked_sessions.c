// Checked mode finds what is left of a process that uses sessions alone at its end, as a session may follow another one.
// cc: -g -O0
// run: -n 2 --check -- right ; says right ; never says catena: check
// run: -n 2 --check --set LINK=tcp -- right ; says right ; never says catena: check
// run: -n 2 --check -- leak ; says right ; says warning \[leak\]: \w+ \d+: MPI_Info_create \(checked_sessions.c:\d+\): an info object that was made here is never given back ; never says a communicator|a group
// run: -n 2 --check -- gone ; fails ; says error \[handle\]: \w+ \d+: MPI_Comm_size \S+ the argument comm is the handle of a communicator that is gone ; says given back by: MPI_Session_finalize
// run: -n 2 --check -- world ; says right ; never says catena: check
// run: -n 2 --check -- beside ; says right ; never says catena: check
// run: -n 2 --check -- beside_world ; says right ; never says catena: check
// run: -n 2 --check -- forked ; says right ; never says catena: check
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A session that leaves a group, a communicator, its copy and a window to its end. */
static MPI_Comm use(const char *tag, MPI_Info info, int *rank)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm, copy;
    MPI_Win win;
    void *memory;
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_rank(comm, rank);
    MPI_Comm_dup(comm, &copy);
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, copy, &memory, &win);
    MPI_Win_free(&win);
    MPI_Barrier(copy);
    MPI_Session_finalize(&session);
    return copy;
}

/* A session that goes on after the world model. */
static void outlive(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Init(NULL, NULL);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "long", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Finalize();
    MPI_Barrier(comm);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
}

/* Two sessions at once, or one beside the world model, each with a window, and a type with gaps. */
static void beside(int in_world)
{
    MPI_Session both[2];
    MPI_Group group;
    MPI_Comm comms[2];
    MPI_Win win;
    MPI_Datatype gaps;
    int *base, rank, numbers[8] = {0}, got[8], count = 2 - in_world;
    if (in_world)
        MPI_Init(NULL, NULL);
    for (int i = 0; i < count; i++) {
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &both[i]);
        MPI_Group_from_session_pset(both[i], "mpi://WORLD", &group);
        MPI_Comm_create_from_group(group, i ? "other" : "one", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comms[i]);
        MPI_Group_free(&group);
    }
    MPI_Comm_rank(comms[0], &rank);
    MPI_Type_vector(4, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    for (int i = 0; i < count; i++) {
        MPI_Win_allocate(sizeof numbers, sizeof *base, MPI_INFO_NULL, comms[i], &base, &win);
        MPI_Win_fence(0, win);
        MPI_Put(numbers, 1, gaps, !rank, 0, 1, gaps, win);
        MPI_Win_fence(0, win);
        MPI_Win_free(&win);
        MPI_Sendrecv(numbers, 1, gaps, !rank, 0, got, 1, gaps, !rank, 0, comms[i], MPI_STATUS_IGNORE);
    }
    MPI_Type_free(&gaps);
    for (int i = 0; i < count; i++) {
        MPI_Comm_free(&comms[i]);
        MPI_Session_finalize(&both[i]);
    }
    if (in_world)
        MPI_Finalize();
    if (rank == 0)
        puts("right");
}

int main(int argc, char **argv)
{
    int rank, size, status;
    MPI_Info info;
    if (argc > 1 && !strcmp(argv[1], "world")) {
        outlive();
        puts("right");
        return 0;
    }
    if (argc > 1 && !strncmp(argv[1], "beside", 6)) {
        beside(!strcmp(argv[1], "beside_world"));
        return 0;
    }
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    use("first", info, &rank);
    MPI_Comm gone = use("second", info, &rank);
    if (argc > 1 && !strcmp(argv[1], "forked")) {
        pid_t child = fork();
        if (child == 0)
            exit(0);
        waitpid(child, &status, 0);
    }
    if (argc > 1 && !strcmp(argv[1], "gone")) {
        MPI_Session session;
        MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
        MPI_Comm_size(gone, &size);
        MPI_Session_finalize(&session);
    }
    if (argc < 2 || strcmp(argv[1], "leak"))
        MPI_Info_free(&info);
    if (rank == 0)
        puts("right");
    return 0;
}
