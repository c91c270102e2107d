// A session that ends with communicators left waits for their members, in whatever order these end
// theirs; without, for nobody. Processes that have no session are not waited for,
// nor are their addresses.
// run: -n 4
// run: -n 2 -- gone
// run: -n 2 -- silent ; exit 1 ; says rank 0 .* ended without MPI_Finalize \(or MPI_Session_finalize\)
// run: --set LINK=tcp -n 2 -- silent ; exit 1 ; says rank 0 .* ended without MPI_Finalize \(or MPI_Session_finalize\)
// run: -n 4 -- some
// run: -n 4 -- alone
// run: --host a:2,b:2 --launcher-agent tests/c/here.sh --set LINK=shm+tcp -- pair ; exit 3
// run: --host a:2,b:2 --launcher-agent tests/c/here.sh --set LINK=tcp -- pair ; exit 3
// time: 20
// only: catena
#include "../check.h"

static MPI_Comm comm_of(MPI_Session session, MPI_Group world, int first, int last, const char *tag)
{
    MPI_Group group;
    MPI_Comm comm;
    int range[1][3] = {{first, last, 1}};
    MPI_Group_range_incl(world, 1, range, &group);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    return comm;
}

/* Leaves communicators of all kinds, not made in one order everywhere. */
static void leave_many(MPI_Session session, MPI_Group world)
{
    MPI_Comm_free(&(MPI_Comm){comm_of(session, world, 0, 3, "freed")});
    if (rank % 2)
        comm_of(session, world, rank, rank, "own");
    MPI_Comm all = comm_of(session, world, 0, 3, "all"), inner, dup, two;
    comm_of(session, world, rank / 2 * 2, rank / 2 * 2 + 1, "pairs");
    if (rank % 2 == 0)
        comm_of(session, world, rank, rank, "own");
    MPI_Comm_dup(all, &dup);
    MPI_Comm_split(dup, rank % 2, 0, &inner);
    MPI_Intercomm_create(inner, 0, dup, 1 - rank % 2, 7, &two);
    /* Nobody waits for this message to leave. */
    static int big[100000], got[100000];
    MPI_Request in, out;
    big[99999] = 100 + rank;
    MPI_Irecv(got, 100000, MPI_INT, 3 - rank, 0, all, &in);
    MPI_Isend(big, 100000, MPI_INT, 3 - rank, 0, all, &out);
    MPI_Request_free(&out);
    MPI_Wait(&in, MPI_STATUS_IGNORE);
    EQUAL(got[99999], 103 - rank);
}

/* What a process sent arrives when it has ended its session, and itself. */
static void send_and_end(MPI_Session session, MPI_Group world)
{
    MPI_Comm both = comm_of(session, world, 0, 1, "both");
    char text[3000];
    int pid = getpid();
    if (rank == 0) {
        MPI_Send(&pid, 1, MPI_INT, 1, 0, both);
        fill(text, sizeof text, 5);
        MPI_Send(text, sizeof text, MPI_BYTE, 1, 1, both);
    } else {
        MPI_Recv(&pid, 1, MPI_INT, 0, 0, both, MPI_STATUS_IGNORE);
        while (!has_ended(pid))
            ;
        MPI_Recv(text, sizeof text, MPI_BYTE, MPI_ANY_SOURCE, 1, both, MPI_STATUS_IGNORE);
        EQUAL(wrong_at(text, sizeof text, 5), sizeof text);
    }
    MPI_Comm_free(&both);
    MPI_Session_finalize(&session);
}

/* The first and the last talk over a network, though the others never use MPI. */
static void talk_and_abort(MPI_Group world)
{
    MPI_Group ends;
    MPI_Comm both;
    MPI_Group_incl(world, 2, (int[]){0, 3}, &ends);
    MPI_Comm_create_from_group(ends, "ends", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &both);
    for (int i = 0; i < 100; i++) {
        MPI_Allreduce(&rank, &size, 1, MPI_INT, MPI_SUM, both);
        EQUAL(size, 3);
    }
    MPI_Abort(both, 3);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    MPI_Session one, two;
    MPI_Group world, again;
    if (!strcmp(how, "some")) {
        /* Ranks without a session only have the world model, and end first or last. */
        start(&argc, &argv);
        if (rank % 2) {
            MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &one);
            MPI_Group_from_session_pset(one, "mpi://SELF", &world);
            MPI_Comm own;
            MPI_Comm_create_from_group(world, "", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &own);
            MPI_Barrier(own);
            if (rank == 1)
                MPI_Session_finalize(&one);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Finalize();
        if (rank == 3)
            MPI_Session_finalize(&one);
        return 0;
    }
    rank = atoi(getenv("CATENA_RANK"));
    if (!strcmp(how, "alone") && rank != 2)
        return 0;
    if (!strcmp(how, "pair") && rank % 3)
        for (;;)
            pause(); /* until the others abort the job */
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &one);
    MPI_Group_from_session_pset(one, "mpi://WORLD", &world);
    if (!strcmp(how, "pair")) {
        talk_and_abort(world);
        return 0;
    }
    if (!strcmp(how, "alone")) {
        MPI_Comm own = comm_of(one, world, 2, 2, "alone");
        MPI_Allreduce(&rank, &size, 1, MPI_INT, MPI_SUM, own);
        EQUAL(size, 2);
        MPI_Session_finalize(&one);
        return 0;
    }
    if (!strcmp(how, "silent")) {
        /* The launcher is not content with the first end when there was a second beginning. */
        MPI_Group_free(&world);
        MPI_Session_finalize(&one);
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &one);
        MPI_Group_from_session_pset(one, "mpi://WORLD", &world);
        MPI_Comm both = comm_of(one, world, 0, 1, "both");
        if (rank == 0)
            exit(0);
        MPI_Barrier(both);
    }
    if (!strcmp(how, "gone")) {
        send_and_end(one, world);
        return 0;
    }
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &two);
    MPI_Group_from_session_pset(two, "mpi://WORLD", &again);
    leave_many(one, world);
    comm_of(two, again, 0, 3, "again");
    MPI_Session_finalize(&one);
    MPI_Session_finalize(&two);
    /* The communicators went with their sessions, and their tags are free. */
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &one);
    MPI_Group_from_session_pset(one, "mpi://WORLD", &world);
    leave_many(one, world);
    MPI_Session_finalize(&one);
    return 0;
}
