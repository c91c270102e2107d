// Processes that any launcher has started spawn others, talk with them, and accept them at a port whose name they
// have published. Under launchers of others all members of the job have one of Catena's in common then, which takes
// one host. On several it is an error that says so and what to do, at all members, and ports likewise.
//
// run: -n 1; says 'all done'
// run: -n 3; says '(all done|spawn: .*mpirun)'
// alone: CATENA_SINGLETON=1; says 'all done'
#include "../check.h"

static void said(const char *what, int code, int want)
{
    char text[MPI_MAX_ERROR_STRING];
    int len;
    EQUAL(class_of(code), want);
    MPI_Error_string(code, text, &len);
    if (rank == 0) {
        CHECK(strstr(text, "mpirun") && strstr(text, "one host"));
        printf("%s: %s\n", what, text);
    }
}

/* Spawning and connecting are errors at all members. */
static void cannot(int code, const int *codes, MPI_Comm inter)
{
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

/* Short and long messages between all of both sides, and a collective of all. */
static void talk(MPI_Comm inter, int is_late)
{
    static int out[100000], in[100000];
    int others, n, sum, one = 1;
    MPI_Comm all;
    MPI_Comm_remote_size(inter, &others);
    for (int r = 0; r < others; r++)
        for (int length = 1; length <= 100000; length *= 100000) {
            for (int i = 0; i < length; i++)
                out[i] = rank * 1000 + i;
            MPI_Sendrecv(out, length, MPI_INT, r, length, in, length, MPI_INT, r, length, inter, MPI_STATUS_IGNORE);
            EQUAL(in[length - 1], r * 1000 + length - 1);
        }
    MPI_Intercomm_merge(inter, is_late, &all);
    MPI_Comm_size(all, &n);
    EQUAL(n, size + others);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
    EQUAL(sum, n);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&inter);
}

static void child(MPI_Comm parent, const char *service)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm inter;
    talk(parent, 1);
    MPI_Lookup_name(service, MPI_INFO_NULL, port);
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    talk(inter, 1);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm parent, inter;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        child(parent, argv[1]);
        MPI_Finalize();
        return 0;
    }
    char version[MPI_MAX_LIBRARY_VERSION_STRING], port[MPI_MAX_PORT_NAME] = "";
    int len, host = one_node(), codes[2] = {-1, -1};
    MPI_Get_library_version(version, &len);
    if (!strstr(version, "Catena")) {
        printf("all done by another library\n");
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    char service[80], *words[] = {service, NULL};
    snprintf(service, sizeof service, "spawn_elsewhere-%d-%ld", (int)getpid(), (long)time(NULL));
    MPI_Bcast(service, sizeof service, MPI_CHAR, 0, MPI_COMM_WORLD);
    int code = MPI_Comm_spawn(argv[0], words, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
    if (code != MPI_SUCCESS && !host) {
        cannot(code, codes, inter);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Finalize();
        return 0;
    }
    EQUAL(code, MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    /* Of the last rank, so that what is at hand is not rank 0's alone; the children ask for it after this. */
    if (rank == size - 1) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name(service, MPI_INFO_NULL, port);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    talk(inter, 0);
    MPI_Comm_accept(port, MPI_INFO_NULL, size - 1, MPI_COMM_WORLD, &inter);
    talk(inter, 0);
    if (rank == size - 1) {
        MPI_Unpublish_name(service, MPI_INFO_NULL, port);
        MPI_Close_port(port);
    }
    if (rank == 0)
        printf("all done\n");
    MPI_Finalize();
    return 0;
}
