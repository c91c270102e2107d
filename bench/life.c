/* Beginning and end: MPI_Init, or a session (-I). */
#include "bench.h"

int rank, size;
MPI_Comm world;
static MPI_Session session = MPI_SESSION_NULL;
static int provided;

const char *life_threads(void)
{
    return provided == MPI_THREAD_MULTIPLE ? "multiple"
           : provided == MPI_THREAD_SERIALIZED ? "serialized"
           : provided == MPI_THREAD_FUNNELED ? "funneled" : "single";
}

/* The world as a session sees it. */
static void open_session(void)
{
    MPI_Group group;
    MPI_Errhandler handler = errors_of_session();
    MPI_Session_init(MPI_INFO_NULL, handler, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "catena-bench", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &world);
    MPI_Group_free(&group);
    MPI_Errhandler_free(&handler);
}

void life_begin(int *argc, char ***argv, bool threads)
{
    int level = threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    if (opt.session) {
        open_session();
    } else {
        MPI_Init_thread(argc, argv, level, &provided);
        world = MPI_COMM_WORLD;
        errors_listen(MPI_COMM_SELF);
    }
    errors_listen(world);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
}

void life_end(void)
{
    if (!opt.session) {
        MPI_Finalize();
        return;
    }
    MPI_Comm_free(&world);
    MPI_Session_finalize(&session);
}
