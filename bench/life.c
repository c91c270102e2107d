/* Beginning and end: MPI_Init, or a session (-I). */
#include "bench.h"

int rank, size;
MPI_Comm world;
static MPI_Session session = MPI_SESSION_NULL;
static int provided;
static double began; /* seconds that it took */

const char *life_threads(void)
{
    return provided == MPI_THREAD_MULTIPLE ? "multiple"
           : provided == MPI_THREAD_SERIALIZED ? "serialized"
           : provided == MPI_THREAD_FUNNELED ? "funneled" : "single";
}

double life_began(void)
{
    return began;
}

/* Opens a session and returns its world, which hears errors as the others do. */
MPI_Comm life_open_session(MPI_Session *made)
{
    MPI_Comm all = MPI_COMM_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Errhandler of_session = errors_of_session();
    MPI_Session_init(MPI_INFO_NULL, of_session, made);
    MPI_Group_from_session_pset(*made, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "catena-bench", MPI_INFO_NULL, errors_of_comm(), &all);
    MPI_Group_free(&group);
    MPI_Errhandler_free(&of_session);
    return all;
}

void life_begin(int *argc, char ***argv, bool threads)
{
    double begin = now();
    int level = threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    if (opt.session) {
        world = life_open_session(&session);
    } else {
        MPI_Init_thread(argc, argv, level, &provided);
        world = MPI_COMM_WORLD;
    }
    began = now() - begin;
    errors_listen(world);
    if (!opt.session)
        errors_listen(MPI_COMM_SELF);
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
