/* Beginning and end: MPI_Init, or a session (-I). */
#include <stdio.h>
#include <string.h>

#include "bench.h"

static MPI_Session session = MPI_SESSION_NULL;
static int provided;
static double began; /* seconds that it took */

static const struct level {
    int level;
    const char *key; /* as sessions say it */
    const char *name;
} levels[] = {
    {MPI_THREAD_SINGLE, "MPI_THREAD_SINGLE", "single"},
    {MPI_THREAD_FUNNELED, "MPI_THREAD_FUNNELED", "funneled"},
    {MPI_THREAD_SERIALIZED, "MPI_THREAD_SERIALIZED", "serialized"},
    {MPI_THREAD_MULTIPLE, "MPI_THREAD_MULTIPLE", "multiple"},
};
enum { LEVELS = sizeof levels / sizeof *levels };

const char *life_threads(void)
{
    int k = LEVELS - 1;
    while (k > 0 && levels[k].level != provided)
        k--;
    return levels[k].name;
}

bool life_has_threads(void)
{
    return provided == MPI_THREAD_MULTIPLE;
}

double life_began(void)
{
    return began;
}

/* Opens a session, for several threads or one, and returns its world, which hears errors as the
 * others do. */
MPI_Comm life_open_session(MPI_Session *made, bool threads)
{
    MPI_Comm all = MPI_COMM_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Errhandler of_session = errors_of_session();
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", levels[threads ? LEVELS - 1 : 0].key);
    if (opt.device) {
        char kinds[64];
        snprintf(kinds, sizeof kinds, "system,mpi,%s:device", memory_kind());
        MPI_Info_set(info, MEMORY_KINDS, kinds);
    }
    MPI_Session_init(info, of_session, made);
    MPI_Info_free(&info);
    MPI_Group_from_session_pset(*made, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "catena-bench", MPI_INFO_NULL, errors_of_comm(), &all);
    MPI_Group_free(&group);
    MPI_Errhandler_free(&of_session);
    return all;
}

/* The thread level of a session; the least where the library does not say it. */
static int granted(MPI_Session of)
{
    char value[64] = "";
    int length = sizeof value, found = 0, level = MPI_THREAD_SINGLE;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Session_get_info(of, &info);
    MPI_Info_get_string(info, "thread_level", &length, value, &found);
    MPI_Info_free(&info);
    for (int k = 0; found && k < LEVELS; k++)
        if (!strcmp(value, levels[k].key))
            level = levels[k].level;
    return level;
}

void life_begin(int *argc, char ***argv, bool threads)
{
    double begin = now();
    int level = threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    if (opt.session) {
        world = life_open_session(&session, threads);
    } else {
        MPI_Init_thread(argc, argv, level, &provided);
        world = MPI_COMM_WORLD;
    }
    began = now() - begin;
    if (opt.session)
        provided = granted(session);
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
