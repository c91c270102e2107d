// Under a launcher that knows no jobs, spawning is an error that says so and what to do, at all members, and
// ports likewise. Catena's own starts what is asked for.
//
// run: -n 2; says 'spawn(ed|: .*mpirun)'
// alone: CATENA_SINGLETON=1; says 'spawned'
#include "check.h"

static void said(const char *what, int code, int want)
{
    char text[MPI_MAX_ERROR_STRING];
    int len;
    EQUAL(class_of(code), want);
    MPI_Error_string(code, text, &len);
    if (rank == 0) {
        CHECK(strstr(text, "mpirun"));
        printf("%s: %s\n", what, text);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm parent, inter;
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        MPI_Comm_disconnect(&parent);
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int len;
    MPI_Get_library_version(version, &len);
    if (!strstr(version, "Catena")) {
        printf("spawned by another library\n");
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int codes[2] = {-1, -1};
    int code = MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
    if (code == MPI_SUCCESS) {
        if (rank == 0)
            printf("spawned\n");
        MPI_Comm_disconnect(&inter);
    } else {
        said("spawn", code, MPI_ERR_SPAWN);
        CHECK(inter == MPI_COMM_NULL);
        if (rank == 0)
            EQUAL(class_of(codes[1]), MPI_ERR_SPAWN);
        char port[MPI_MAX_PORT_NAME];
        said("port", MPI_Open_port(MPI_INFO_NULL, port), MPI_ERR_PORT);
        said("connect", MPI_Comm_connect("garbage", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter), MPI_ERR_PORT);
        said("publish", MPI_Publish_name("name", MPI_INFO_NULL, "port"), MPI_ERR_SERVICE);
        said("look up", MPI_Lookup_name("name", MPI_INFO_NULL, port), MPI_ERR_NAME);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
