// Settings that must be equal are compared where processes meet: a difference is an error that names the setting, who has
// which value, and no wrong sum or hang.
//
// only: catena
// run: -n 2 -- rank; fails; says 'CATENA_COLL_NODE is (its default|.false.) at rank 0 and (its default|.false.) at rank 1'; ends 10
// run: -n 2 -- memory; fails; says 'CATENA_LINK is .with(out|) shm. at rank'; ends 10
// run: -n 1 -- child; says 'CATENA_COLL_NODE is its default at rank 0 of this job and .false. at rank 0 of the other'; says 'the parent goes on'; ends 10
#include "check.h"

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
    MPI_Init(&argc, &argv);
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
