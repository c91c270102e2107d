// What cannot be spawned is an error of class MPI_ERR_SPAWN at all members, and no hang.
//
// only: catena
// run: -n 2; says 'none of the directories of PATH'; says 'exited with code 3'; says 'all done'
// run: -n 1 --set LAUNCH_TIMEOUT=300ms -- late; says 'has not called MPI_Init'; says 'all done'
#include "../check.h"

static void fails(const char *command, char **argv, int n, int want)
{
    MPI_Comm inter = MPI_COMM_WORLD;
    int codes[4] = {-1, -1, -1, -1}, code, len;
    code = MPI_Comm_spawn(command, argv, n, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
    CHECK(code != MPI_SUCCESS);
    CHECK(inter == MPI_COMM_NULL);
    if (rank == 0) {
        char text[MPI_MAX_ERROR_STRING];
        EQUAL(class_of(code), want);
        MPI_Error_string(code, text, &len);
        printf("%s\n", text);
        fflush(stdout);
        for (int k = 0; k < n; k++)
            EQUAL(class_of(codes[k]), want);
    } else {
        EQUAL(class_of(code), MPI_ERR_SPAWN);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (argc > 1 && !strcmp(argv[1], "late")) {
        char *sleeper[] = {"1000", NULL};
        fails("sleep", sleeper, 1, MPI_ERR_SPAWN);
    } else {
        char *three[] = {"-c", "exit 3", NULL};
        fails("no-such-program", MPI_ARGV_NULL, 2, MPI_ERR_SPAWN);
        fails("/etc/passwd", MPI_ARGV_NULL, 1, MPI_ERR_SPAWN);
        fails("sh", three, 3, MPI_ERR_SPAWN);
        fails("true", MPI_ARGV_NULL, 2, MPI_ERR_SPAWN);
        fails("sh", three, 0, MPI_ERR_COUNT);
    }
    /* The job is as it was. */
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("all done\n");
    MPI_Finalize();
    return 0;
}
