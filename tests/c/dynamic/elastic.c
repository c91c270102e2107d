// A job that grows and shrinks while it runs: every process goes from one version of the job's
// process set to the next, and who is no member any more leaves. Rank 0 has it changed, as a user would.
//
// only: catena
// time: 60
// run: -n 2 --elastic --timeout 40
// run: -n 1 --elastic --timeout 40
#include "../check.h"
#include <unistd.h>

enum { VERSIONS = 4 };
static MPI_Session session;

/* The set of that version: how many processes it has, or 0 if there is none; and its group. */
static int set_of(int version, MPI_Group *group)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "catena://elastic/%d", version);
    int sets, found = 0, size = 0;
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets);
    for (int i = 0; i < sets; i++) {
        char name[MPI_MAX_PSET_NAME_LEN];
        int room = sizeof name;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &room, name);
        found |= !strcmp(name, wanted);
    }
    if (found) {
        MPI_Group_from_session_pset(session, wanted, group);
        MPI_Group_size(*group, &size);
    }
    return size;
}

/* As a user types it: the parent of a rank of this host is its launcher. */
static void change(const char *verb, int count)
{
    char line[128];
    snprintf(line, sizeof line, "catena %s %d %d >/dev/null", verb, (int)getppid(), count);
    EQUAL(system(line), 0);
}

int main(void)
{
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group group;
    int version = 1, size;
    while (!(size = set_of(version, &group)))
        version++;
    int born = version, first = size;
    for (;; version++) {
        int rank, told;
        MPI_Comm comm;
        MPI_Comm_create_from_group(group, "elastic", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
        MPI_Group_rank(group, &rank);
        MPI_Comm_rank(comm, &told);
        EQUAL(told, rank);
        MPI_Comm_size(comm, &told);
        EQUAL(told, size);
        int sum = 0, mine = rank + 1;
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
        EQUAL(sum, size * (size + 1) / 2);
        MPI_Bcast(&first, 1, MPI_INT, 0, comm);
        MPI_Group_free(&group);
        if (version == VERSIONS) {
            MPI_Comm_free(&comm);
            break;
        }
        if (rank == 0 && born == 1)
            change(version == 2 ? "shrink" : "grow", version == 2 ? 1 : 2);
        /* The others hear of it as soon as they look. */
        MPI_Barrier(comm);
        while (!(size = set_of(version + 1, &group)))
            ;
        EQUAL(size, first + (version == 1 ? 2 : version == 2 ? 1 : 3));
        MPI_Comm_free(&comm);
        MPI_Group_rank(group, &rank);
        if (rank == MPI_UNDEFINED) {
            MPI_Group_free(&group);
            MPI_Session_finalize(&session);
            return 0;
        }
    }
    MPI_Session_finalize(&session);
    return 0;
}
