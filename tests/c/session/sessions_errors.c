// Errors of sessions reach the handler of the session, of the call, or the initial one.
// run: -n 2
// run: -n 1 -- world ; fails ; says (?s)MPI_ERR_COMM.*MPI_COMM_WORLD.*exist from MPI_Init to MPI_Finalize
// run: -n 1 -- none ; fails ; says MPI_Init, MPI_Init_thread or MPI_Session_init must be called first
// run: -n 1 -- over ; fails ; says (?s)MPI_ERR_SESSION.*was finalized
// only: catena
#include "../check.h"

static int calls, last;
static MPI_Session expected;

static void on_session(MPI_Session *session, int *code, ...)
{
    calls++, last = class_of(*code);
    CHECK(*session == expected);
}

static void on_comm(MPI_Comm *comm, int *code, ...)
{
    calls++, last = class_of(*code);
    CHECK(*comm == MPI_COMM_NULL);
}

/* The handler was called once, for an error of this class, which the call returned, too. */
#define RAISED(call, class)                                                         \
    do {                                                                            \
        calls = 0;                                                                  \
        EQUAL(class_of(call), class);                                               \
        EQUAL(calls, 1);                                                            \
        EQUAL(last, class);                                                         \
    } while (0)

static void fatal(const char *how)
{
    MPI_Session session, copy;
    int n;
    if (!strcmp(how, "none"))
        MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    if (!strcmp(how, "world"))
        MPI_Comm_size(MPI_COMM_WORLD, &n);
    copy = session;
    MPI_Session_finalize(&session);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Session_get_num_psets(copy, MPI_INFO_NULL, &n);
}

/* No call takes groups of two sessions, or of a session and the world. */
static void not_together(MPI_Group a, MPI_Group b)
{
    MPI_Group mixed;
    int n, zero = 0;
    EQUAL(class_of(MPI_Group_union(a, b, &mixed)), MPI_ERR_SESSION);
    EQUAL(class_of(MPI_Group_intersection(a, b, &mixed)), MPI_ERR_SESSION);
    EQUAL(class_of(MPI_Group_difference(a, b, &mixed)), MPI_ERR_SESSION);
    EQUAL(class_of(MPI_Group_compare(a, b, &n)), MPI_ERR_SESSION);
    EQUAL(class_of(MPI_Group_translate_ranks(a, 1, &zero, b, &n)), MPI_ERR_SESSION);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        fatal(argv[1]);
    MPI_Errhandler for_sessions, for_comms, got;
    MPI_Session session, other;
    MPI_Info info;
    MPI_Group group, of_other, of_world, again, mixed;
    MPI_Comm comm;
    int n, room = 0;
    MPI_Session_create_errhandler(on_session, &for_sessions);
    MPI_Comm_create_errhandler(on_comm, &for_comms);

    /* Before there is one. */
    expected = MPI_SESSION_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "many");
    RAISED(MPI_Session_init(info, for_sessions, &session), MPI_ERR_INFO_VALUE);
    CHECK(session == MPI_SESSION_NULL);
    RAISED(MPI_Session_init(MPI_INFO_NULL, for_sessions, NULL), MPI_ERR_ARG);
    EQUAL(class_of(MPI_Session_init(info, MPI_ERRORS_RETURN, &session)), MPI_ERR_INFO_VALUE);
    MPI_Info_free(&info);

    MPI_Session_init(MPI_INFO_NULL, for_sessions, &session);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other);
    expected = session;
    MPI_Session_get_errhandler(session, &got);
    CHECK(got == for_sessions);
    MPI_Errhandler_free(&got);
    RAISED(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 99, &room, NULL), MPI_ERR_ARG);
    RAISED(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, -1, &room, NULL), MPI_ERR_ARG);
    room = 5;
    RAISED(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &room, NULL), MPI_ERR_ARG);
    RAISED(MPI_Session_get_num_psets(session, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
    RAISED(MPI_Group_from_session_pset(session, "x", &group), MPI_ERR_ARG);
    RAISED(MPI_Group_from_session_pset(session, NULL, &group), MPI_ERR_ARG);
    RAISED(MPI_Session_set_errhandler(session, for_comms), MPI_ERR_ERRHANDLER);
    RAISED(MPI_Session_detach_buffer(session, &group, &n), MPI_ERR_BUFFER);
    calls = 0;
    MPI_Session_call_errhandler(session, MPI_ERR_OTHER);
    EQUAL(calls, 1);
    EQUAL(last, MPI_ERR_OTHER);

    /* The handler that a communicator is to have. */
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Group_size(group, &size), MPI_Group_rank(group, &rank);
    RAISED(MPI_Comm_create_from_group(group, NULL, MPI_INFO_NULL, for_comms, &comm), MPI_ERR_ARG);
    RAISED(MPI_Comm_create_from_group(group, "x", MPI_INFO_NULL, for_comms, NULL), MPI_ERR_ARG);
    MPI_Comm_create_from_group(group, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    EQUAL(class_of(MPI_Send(NULL, 0, MPI_INT, size, 0, comm)), MPI_ERR_RANK);

    /* Objects of two sessions do not go together. */
    MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN);
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Group_from_session_pset(other, "mpi://SELF", &of_other);
    not_together(group, of_other);
    MPI_Comm_group(MPI_COMM_WORLD, &of_world);
    not_together(group, of_world);
    not_together(of_world, group);
    MPI_Group_free(&of_world);
    EQUAL(class_of(MPI_Comm_compare(comm, MPI_COMM_SELF, &n)), MPI_ERR_SESSION);
    EQUAL(class_of(MPI_Comm_compare(MPI_COMM_SELF, comm, &n)), MPI_ERR_SESSION);
    MPI_Comm_group(comm, &again);
    EQUAL(MPI_Group_compare(group, again, &n), MPI_SUCCESS);
    EQUAL(n, MPI_IDENT);
    MPI_Group_free(&again);

    /* Those of one do, and the empty group, which is of none, goes with all. */
    EQUAL(MPI_Group_compare(group, MPI_GROUP_EMPTY, &n), MPI_SUCCESS);
    EQUAL(n, MPI_UNEQUAL);
    EQUAL(MPI_Group_translate_ranks(group, 1, &(int){size - 1}, MPI_GROUP_EMPTY, &n), MPI_SUCCESS);
    EQUAL(n, MPI_UNDEFINED);
    EQUAL(MPI_Group_union(group, MPI_GROUP_EMPTY, &mixed), MPI_SUCCESS);
    EQUAL(MPI_Group_compare(group, mixed, &n), MPI_SUCCESS);
    EQUAL(n, MPI_IDENT);
    MPI_Group_free(&mixed);
    EQUAL(MPI_Group_union(MPI_GROUP_EMPTY, group, &mixed), MPI_SUCCESS);
    EQUAL(MPI_Group_translate_ranks(mixed, 1, &(int){size - 1}, group, &n), MPI_SUCCESS);
    EQUAL(n, size - 1);
    not_together(mixed, of_other);
    MPI_Group_free(&mixed);
    EQUAL(MPI_Group_difference(group, group, &mixed), MPI_SUCCESS);
    CHECK(mixed == MPI_GROUP_EMPTY);

    MPI_Group_free(&of_other);
    MPI_Session copy = other;
    MPI_Session_finalize(&other);
    EQUAL(class_of(MPI_Session_finalize(&copy)), MPI_ERR_SESSION);
    EQUAL(class_of(MPI_Session_finalize(&other)), MPI_ERR_SESSION);
    MPI_Finalize();
    MPI_Errhandler_free(&for_sessions), MPI_Errhandler_free(&for_comms);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    return 0;
}
