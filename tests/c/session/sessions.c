// Sessions: what they are granted, their groups and communicators, beside the world model, before
// it and after it, again and again.
// run: -n 1
// run: -n 2
// run: -n 5
// alone: 
#include "../check.h"

static MPI_Session begin(const char *level)
{
    MPI_Session session;
    MPI_Info hints = MPI_INFO_NULL, got;
    if (level) {
        MPI_Info_create(&hints);
        MPI_Info_set(hints, "thread_level", level);
        MPI_Info_set(hints, "mpi_memory_alloc_kinds", "system,mpi:alloc_mem,cuda");
    }
    MPI_Session_init(hints, MPI_ERRORS_ARE_FATAL, &session);
    CHECK(session != MPI_SESSION_NULL);
    EQUAL(MPI_Session_fromint(MPI_Session_toint(session)) == session, 1);

    char text[MPI_MAX_INFO_VAL];
    int room = sizeof text, flag;
    MPI_Session_get_info(session, &got);
    MPI_Info_get_string(got, "thread_level", &room, text, &flag);
    CHECK(flag && !strncmp(text, "MPI_THREAD_", 11));
    if (level && !strcmp(level, "MPI_THREAD_MULTIPLE"))
        CHECK(!strcmp(text, level));
    room = sizeof text;
    MPI_Info_get_string(got, "mpi_memory_alloc_kinds", &room, text, &flag);
    CHECK(flag && strstr(text, "system") && !strstr(text, "cuda"));
    CHECK(!strstr(text, "alloc_mem") == !level);
    MPI_Info_free(&got);
    if (level)
        MPI_Info_free(&hints);
    return session;
}

static MPI_Comm comm_of(MPI_Session session, const char *set, const char *tag)
{
    MPI_Group group;
    MPI_Comm comm;
    MPI_Group_from_session_pset(session, set, &group);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    return comm;
}

/* The kinds of memory that a communicator is told are its session's. */
static void check_memory(MPI_Comm comm, int asked)
{
    char text[MPI_MAX_INFO_VAL];
    int room = sizeof text, flag;
    MPI_Info info;
    MPI_Comm_get_info(comm, &info);
    MPI_Info_get_string(info, "mpi_memory_alloc_kinds", &room, text, &flag);
    CHECK(flag && strstr(text, "system"));
    CHECK(!strstr(text, "alloc_mem") == !asked);
    MPI_Info_free(&info);
}

/* Messages of every kind of length, both ways at once, from anybody; collectives; a child. */
static void use(MPI_Comm comm)
{
    MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &size);
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    static unsigned char out[200000], in[200000];
    size_t lengths[] = {0, 8, 3000, 200000};
    for (int i = 0; i < 4; i++) {
        MPI_Request request;
        MPI_Status status;
        fill(out, lengths[i], rank);
        MPI_Isend(out, lengths[i], MPI_BYTE, next, i, comm, &request);
        MPI_Recv(in, lengths[i], MPI_BYTE, MPI_ANY_SOURCE, i, comm, &status);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        EQUAL(status.MPI_SOURCE, last);
        EQUAL(wrong_at(in, lengths[i], last), lengths[i]);
    }
    int sum;
    MPI_Comm child;
    MPI_Comm_split(comm, rank % 2, -rank, &child);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, child);
    int expect = 0;
    for (int i = rank % 2; i < size; i += 2)
        expect += i;
    EQUAL(sum, expect);
    MPI_Comm_free(&child);
}

static void on_error(MPI_Session *session, int *code, ...)
{
    CHECK(!session && !code);
}

static void world_is_unknown(void)
{
    int flag, n;
    MPI_Initialized(&flag);
    EQUAL(flag, 0);
    MPI_Session session = begin(NULL);
    MPI_Initialized(&flag);
    EQUAL(flag, 0);
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n);
    CHECK(n >= 2);
    MPI_Session_finalize(&session);
    CHECK(session == MPI_SESSION_NULL);
}

int main(int argc, char **argv)
{
    /* Allowed before anything else. */
    MPI_Info info;
    MPI_Errhandler handler;
    int keyval;
    MPI_Info_create(&info), MPI_Info_free(&info);
    MPI_Session_create_errhandler(on_error, &handler);
    MPI_Errhandler_free(&handler);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);

    world_is_unknown();

    /* One after the other; the tags are the same each time. */
    for (int i = 0; i < 3; i++) {
        MPI_Session session = begin(i == 1 ? "MPI_THREAD_MULTIPLE" : NULL);
        MPI_Comm all = comm_of(session, "mpi://WORLD", "tag");
        MPI_Comm own = comm_of(session, "mpi://SELF", "");
        use(all);
        check_memory(all, i == 1);
        MPI_Comm_set_attr(all, keyval, &rank);
        use(own);
        MPI_Comm_size(own, &size);
        EQUAL(size, 1);
        MPI_Comm_free(&own);
        MPI_Comm_disconnect(&all);
        MPI_Session_finalize(&session);
    }

    /* Two at once, with the world model beginning and ending in between. */
    MPI_Session one = begin("MPI_THREAD_FUNNELED"), two = begin(NULL);
    MPI_Comm first = comm_of(one, "mpi://WORLD", "one");
    MPI_Comm second = comm_of(two, "mpi://world", "two");
    int level, flag;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    EQUAL(level, MPI_THREAD_SERIALIZED);
    MPI_Query_thread(&level);
    EQUAL(level, MPI_THREAD_SERIALIZED);
    MPI_Is_thread_main(&flag);
    EQUAL(flag, 1);
    MPI_Comm_free_keyval(&keyval);
    use(first);
    use(MPI_COMM_WORLD);
    check_memory(MPI_COMM_WORLD, 0);
    MPI_Comm_free(&first);
    MPI_Session_finalize(&one);
    use(second);
    use(MPI_COMM_WORLD);
    MPI_Finalize();
    MPI_Finalized(&flag);
    EQUAL(flag, 1);
    use(second);
    MPI_Comm_free(&second);
    MPI_Session_finalize(&two);

    /* And after everything has ended. */
    MPI_Session late = begin(NULL);
    MPI_Comm again = comm_of(late, "mpi://WORLD", "one");
    use(again);
    MPI_Comm_free(&again);
    MPI_Session_finalize(&late);
    return 0;
}
