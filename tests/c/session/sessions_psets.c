// Process sets: those that every job has, those of the command line, and mistakes in it.
// run: -n 4 --pset odd=1,3 --pset user://all=0-3 --pset last=3,3 -- 4
// run: -n 1 -- 1
// run: -n 2 --pset x=0,2 -- 2 ; exit 2 ; says --pset x: rank 2 is not in this job, whose ranks are 0 to 1
// run: -n 2 --pset x -- 2 ; exit 2 ; says write NAME=RANKS
// run: -n 2 --pset mpi://x=0 -- 2 ; exit 2 ; says given already
// run: -n 2 @ -- 4 : -n 2 --pset odd=1,3 --pset user://all=0-3 --pset last=3 @ -- 4
// only: catena
#include "../check.h"

static MPI_Session session;

static int number_of(const char *name)
{
    int n, found = -1;
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n);
    for (int i = 0; i < n; i++) {
        char text[MPI_MAX_PSET_NAME_LEN];
        int room = 0;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &room, NULL);
        CHECK(room > 1 && room <= MPI_MAX_PSET_NAME_LEN);
        int needed = room;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &room, text);
        EQUAL(room, needed);
        EQUAL(strlen(text), needed - 1);
        room = 4;
        char start[5] = "????";
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &room, start);
        EQUAL(room, needed);
        CHECK(!strncmp(start, text, 3) && !start[3]);
        if (!strcmp(text, name))
            found = i;
    }
    return found;
}

/* This process is in the set, with that rank, and the set has so many members. */
static void is_in(const char *name, int me, int members)
{
    MPI_Group group;
    MPI_Info info;
    char text[16];
    int flag, room = sizeof text, got;
    CHECK(number_of(name) >= 0);
    MPI_Session_get_pset_info(session, name, &info);
    MPI_Info_get_string(info, "mpi_size", &room, text, &flag);
    CHECK(flag);
    EQUAL(atoi(text), members);
    MPI_Info_free(&info);
    MPI_Group_from_session_pset(session, name, &group);
    MPI_Group_size(group, &got);
    EQUAL(got, members);
    MPI_Group_rank(group, &got);
    EQUAL(got, me);
    MPI_Comm comm;
    MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Allreduce(&me, &got, 1, MPI_INT, MPI_SUM, comm);
    EQUAL(got, members * (members - 1) / 2);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
}

static void is_not_in(const char *name)
{
    MPI_Group group = MPI_GROUP_EMPTY;
    MPI_Info info;
    EQUAL(number_of(name), -1);
    MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN);
    EQUAL(class_of(MPI_Group_from_session_pset(session, name, &group)), MPI_ERR_ARG);
    CHECK(group == MPI_GROUP_NULL);
    EQUAL(class_of(MPI_Session_get_pset_info(session, name, &info)), MPI_ERR_ARG);
    MPI_Session_set_errhandler(session, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    rank = atoi(getenv("CATENA_RANK")), size = atoi(argv[1]);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    EQUAL(number_of("mpi://WORLD"), 0);
    EQUAL(number_of("mpi://SELF"), 1);
    is_in("mpi://WORLD", rank, size);
    is_in("mpi://SELF", 0, 1);
    is_not_in("nobody");
    if (size == 4) {
        is_in("user://all", rank, 4);
        if (rank % 2)
            is_in("odd", rank / 2, 2);
        else
            is_not_in("odd");
        if (rank == 3)
            is_in("last", 0, 1);
        else
            is_not_in("last");
        is_not_in("ODD");
    }
    MPI_Session_finalize(&session);
    return argc != 2;
}
