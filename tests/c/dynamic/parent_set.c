// Spawned processes find those who have spawned them as the process set mpi://PARENT, with MPI_Init and with
// sessions alone, and make a communicator with them. Whoever was not spawned has no such set.
//
// only: catena
// run: -n 1 -- 1
// run: -n 2 -- 3
// run: -n 3 --set LINK=tcp -- 2
#include "../check.h"

static int has_set(MPI_Session session, const char *wanted)
{
    int sets, found = 0;
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets);
    for (int i = 0; i < sets; i++) {
        char name[MPI_MAX_PSET_NAME_LEN];
        int room = sizeof name;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &room, name);
        found |= !strcmp(name, wanted);
    }
    return found;
}

/* The parents first, in the order of their communicator, then the children: all talk to all. */
static void together(MPI_Group parents, MPI_Group children)
{
    MPI_Group all;
    MPI_Comm comm;
    int n, me, told, sum = 0;
    MPI_Group_union(parents, children, &all);
    MPI_Group_size(all, &n);
    MPI_Group_rank(all, &me);
    MPI_Comm_create_from_group(all, "family", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_rank(comm, &told);
    EQUAL(told, me);
    told = 1 << me;
    MPI_Allreduce(&told, &sum, 1, MPI_INT, MPI_SUM, comm);
    EQUAL(sum, (1 << n) - 1);
    MPI_Comm_free(&comm);
    MPI_Group_free(&all);
}

static void child(int parents)
{
    MPI_Session session;
    MPI_Group group, own;
    MPI_Info info;
    char text[16];
    int n, flag, room = sizeof text;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    CHECK(has_set(session, "mpi://PARENT"));
    MPI_Session_get_pset_info(session, "mpi://PARENT", &info);
    MPI_Info_get_string(info, "mpi_size", &room, text, &flag);
    CHECK(flag);
    EQUAL(atoi(text), parents);
    MPI_Info_free(&info);
    /* The standard's names have no case. */
    MPI_Group_from_session_pset(session, "MPI://parent", &group);
    MPI_Group_size(group, &n);
    EQUAL(n, parents);
    MPI_Group_rank(group, &n);
    EQUAL(n, MPI_UNDEFINED);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &own);
    together(group, own);
    MPI_Group_free(&group);
    MPI_Group_free(&own);
    MPI_Session_finalize(&session);
}

static void no_parent(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    CHECK(!has_set(session, "mpi://PARENT"));
    EQUAL(class_of(MPI_Group_from_session_pset(session, "mpi://PARENT", &group)), MPI_ERR_ARG);
    MPI_Session_finalize(&session);
}

int main(int argc, char **argv)
{
    if (argc > 2) {
        int with_world = !strcmp(argv[2], "world");
        if (with_world)
            MPI_Init(&argc, &argv);
        child(atoi(argv[3]));
        if (with_world)
            MPI_Finalize();
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    no_parent();
    char *models[] = {"sessions", "world"}, count[8];
    snprintf(count, sizeof count, "%d", size);
    for (int k = 0; k < 4; k++) {
        char *args[] = {argv[1], models[k % 2], count, NULL};
        MPI_Comm inter;
        MPI_Group parents, children;
        MPI_Comm_spawn(argv[0], args, atoi(argv[1]), MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                       MPI_ERRCODES_IGNORE);
        MPI_Comm_group(MPI_COMM_WORLD, &parents);
        MPI_Comm_remote_group(inter, &children);
        together(parents, children);
        MPI_Group_free(&parents);
        MPI_Group_free(&children);
        MPI_Comm_disconnect(&inter);
    }
    MPI_Finalize();
    return 0;
}
