// Settings that must be equal are compared where processes meet: a difference is an error that names the setting, who has
// which value, and no wrong sum or hang.
//
// only: catena
// run: -n 2 -- rank; fails; says 'CATENA_COLL_NODE is (its default|.false.) at rank . and (its default|.false.) at rank .'; ends 10
// run: -n 2 -- memory; fails; says 'CATENA_LINK is .with(out|) shm. at rank'; ends 10
// run: -n 1 -- child; says 'CATENA_COLL_NODE is (its default|.false.) at rank 0 of job .* and (its default|.false.) at rank 0 of job'; says 'the parent goes on'; ends 10
// run: -n 2 -- host; says 'CATENA_COLL_NODE is (its default|.false.) at rank 0 of job'; says 'the host goes on'; says 'the guest goes on'; ends 10
// run: -n 2 --elastic --timeout 40 -- grown; says 'CATENA_COLL_NODE is its default at rank . and .false. at rank 0 of those that have come'; says 'it has not grown'; ends 10
// run: -n 2 --elastic --timeout 40 -- world; says 'rank . on host .* has called MPI_Init'; says 'it has not grown'; ends 10
#include "../check.h"
#include <unistd.h>

/* Groups that meet at a port: nothing is wrong with the port, and all members are told an error of one class. */
static void meet(const char *how, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "", line[1000], text[MPI_MAX_ERROR_STRING];
    MPI_Comm inter;
    FILE *guest = NULL;
    int length, code, is_host = !strcmp(how, "host");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (is_host && rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        snprintf(line, sizeof line, "mpirun -n 2 --set COLL_NODE=false %s guest '%s'", argv[0], port);
        CHECK(guest = popen(line, "r"));
    }
    code = is_host ? MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter)
                   : MPI_Comm_connect(argv[2], MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    EQUAL(class_of(code), MPI_ERR_OTHER);
    MPI_Error_string(code, text, &length);
    printf("%s\n", text);
    if (guest) {
        for (int c; (c = fgetc(guest)) != EOF;)
            putchar(c);
        EQUAL(pclose(guest), 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    printf("the %s goes on\n", how);
}

/* As a user does it: one more process, which has another value. */
static void grow(MPI_Comm comm, const char *marker)
{
    MPI_Comm_rank(comm, &rank);
    MPI_Barrier(comm);
    if (rank == 0) {
        char line[64];
        FILE *file = fopen(marker, "w");
        CHECK(file);
        fclose(file);
        snprintf(line, sizeof line, "catena grow %d 1", (int)getppid());
        CHECK(system(line) != 0);
        remove(marker);
        printf("it has not grown\n");
    }
    MPI_Barrier(comm);
}

/* Only what uses sessions alone may grow. */
static void grow_by_sessions(const char *marker)
{
    MPI_Session session;
    MPI_Group all;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    MPI_Comm_create_from_group(all, "grows", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&all);
    grow(comm, marker);
    MPI_Comm_disconnect(&comm);
    MPI_Session_finalize(&session);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "", *place = getenv("CATENA_BOOT");
    /* Its rank is the fourth word. */
    for (int i = 0; place && i < 3; i++)
        place = strchr(place, ':') + 1;
    int second = place && atoi(place) == 1;
    if (!strcmp(how, "rank") && second)
        setenv("CATENA_COLL_NODE", "false", 1);
    if (!strcmp(how, "memory") && second)
        setenv("CATENA_LINK", "tcp", 1);
    if (!strcmp(how, "spawned"))
        setenv("CATENA_COLL_NODE", "false", 1);
    /* Whoever comes later finds the file, and has the launcher as its parent, too. */
    char marker[64];
    snprintf(marker, sizeof marker, "/tmp/catena-grown-%d", (int)getppid());
    if (!strcmp(how, "grown") && !access(marker, F_OK))
        setenv("CATENA_COLL_NODE", "false", 1);
    if (!strcmp(how, "grown")) {
        grow_by_sessions(marker);
        return 0;
    }
    MPI_Init(&argc, &argv);
    if (!strcmp(how, "world"))
        grow(MPI_COMM_WORLD, marker);
    if (!strcmp(how, "host") || !strcmp(how, "guest"))
        meet(how, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(how, "child")) {
        MPI_Comm inter;
        char *args[] = {"spawned", NULL}, text[MPI_MAX_ERROR_STRING];
        int length;
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        int code = MPI_Comm_spawn(argv[0], args, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
        EQUAL(class_of(code), MPI_ERR_SPAWN);
        MPI_Error_string(code, text, &length);
        printf("%s\nthe parent goes on\n", text);
    }
    long mine = rank + 1, sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    EQUAL(sum, (long)size * (size + 1) / 2);
    MPI_Finalize();
    return 0;
}
