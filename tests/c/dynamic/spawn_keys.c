// What info objects say to MPI_Comm_spawn, MPI_Comm_connect and MPI_Comm_accept. Unknown keys are
// ignored, misspelt ones are named.
//
// only: catena
// run: -n 1 --set LAUNCH_UNIVERSE=9 -x GIVEN=0 -x OURS=1; says 'ignores the info key wdri, .* did you mean wdir'; never says 'company'; says 'all done'
// run: -n 2 -- timeout; says port .catena:.* for 0.2 s; says 'all done'; ends 10
// run: -n 2 --set CONNECT_TIMEOUT=200ms -- default; says port .catena:.* for 0.2 s; says 'all done'; ends 10
// run: -n 1 -- dead; says 'there is no port'; says 'all done'
#define _GNU_SOURCE
#include <sched.h>

#include "../check.h"

static MPI_Info info(const char *pairs[][2])
{
    MPI_Info made;
    MPI_Info_create(&made);
    for (int k = 0; pairs[k][0]; k++)
        MPI_Info_set(made, pairs[k][0], pairs[k][1]);
    return made;
}

static int attribute(int key)
{
    int *value, flag;
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag);
    CHECK(flag);
    return *value;
}

static void child(MPI_Comm parent, const char *how)
{
    if (!strcmp(how, "placed")) {
        char here[4096];
        CHECK(getcwd(here, sizeof here) && !strcmp(here, "/proc"));
        CHECK(getenv("GIVEN") && !strcmp(getenv("GIVEN"), "a=b"));
        /* What mpirun gave to all programs. */
        CHECK(getenv("OURS") && !strcmp(getenv("OURS"), "1"));
        EQUAL(attribute(MPI_APPNUM), 7);
        MPI_Errhandler handler;
        MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
        CHECK(handler == MPI_ERRORS_RETURN);
        /* Bound to the threads of one core. */
        cpu_set_t cpus;
        CHECK(!sched_getaffinity(0, sizeof cpus, &cpus));
        CHECK(CPU_COUNT(&cpus) < sysconf(_SC_NPROCESSORS_ONLN) || sysconf(_SC_NPROCESSORS_ONLN) < 2);
        /* Of both jobs. */
        EQUAL(attribute(MPI_UNIVERSE_SIZE), 9);
    }
    if (!strcmp(how, "file"))
        CHECK(getenv("FROM") && !strcmp(getenv("FROM"), "file"));
    MPI_Comm_disconnect(&parent);
}

/* Spawns one child that is told `how`; the error class. */
static int spawn(const char *self, char *how, const char *pairs[][2])
{
    MPI_Comm inter = MPI_COMM_NULL;
    MPI_Info made = info(pairs);
    char *argv[] = {how, NULL};
    int code = -1, class = class_of(MPI_Comm_spawn(self, argv, 1, made, 0, MPI_COMM_WORLD, &inter, &code));
    MPI_Info_free(&made);
    EQUAL(class_of(code), class);
    if (class == MPI_SUCCESS)
        MPI_Comm_disconnect(&inter);
    return class;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "keys";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        child(parent, how);
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    char port[MPI_MAX_PORT_NAME], text[MPI_MAX_ERROR_STRING];
    int len, code;
    MPI_Comm none;
    if (!strcmp(how, "dead")) {
        MPI_Open_port(MPI_INFO_NULL, port);
        CHECK(strlen(port) <= 200);
        MPI_Close_port(port);
        const char *names[] = {port, "garbage", "", "catena:0:0:0:00"};
        for (int k = 0; k < 4; k++) {
            code = MPI_Comm_connect(names[k], MPI_INFO_NULL, 0, MPI_COMM_WORLD, &none);
            EQUAL(class_of(code), MPI_ERR_PORT);
            CHECK(none == MPI_COMM_NULL);
            MPI_Error_string(code, text, &len);
            printf("%s\n", text);
        }
    } else if (strcmp(how, "keys")) {
        /* Nobody accepts: all members fail alike, and whoever comes later is met. */
        const char *brief[][2] = {{"timeout", "0.2"}, {NULL}}, *wrong[][2] = {{"timeout", "soon"}, {NULL}};
        if (rank == 0)
            MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Info made = strcmp(how, "timeout") ? MPI_INFO_NULL : info(brief);
        code = MPI_Comm_connect(port, made, 0, MPI_COMM_WORLD, &none);
        EQUAL(class_of(code), MPI_ERR_PORT);
        CHECK(none == MPI_COMM_NULL);
        if (rank == 0) {
            MPI_Error_string(code, text, &len);
            printf("%s\n", text);
        }
        if (made != MPI_INFO_NULL) {
            code = MPI_Comm_accept(port, made, 0, MPI_COMM_WORLD, &none);
            EQUAL(class_of(code), MPI_ERR_PORT);
            MPI_Info_free(&made);
            made = info(wrong);
            code = MPI_Comm_accept(port, made, 0, MPI_COMM_WORLD, &none);
            EQUAL(class_of(code), rank == 0 ? MPI_ERR_INFO_VALUE : MPI_ERR_PORT);
            MPI_Info_free(&made);
        }
        /* Rank 1 goes to rank 0. */
        MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
        MPI_Comm inter;
        if (rank == 0)
            MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
        else
            MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
        MPI_Comm_disconnect(&inter);
    } else {
        const char *placed[][2] = {{"wdir", "/proc"},  {"env", "GIVEN=a=b"}, {"appnum", "7"},
                                   {"mpi_initial_errhandler", "mpi_errors_return"},
                                   {"host", "localhost:8"}, {"wdri", "/nowhere"}, {"company", "any"},
                                   {"map_by", "core"}, {"bind_to", "core"}, {NULL}};
        char self[4096];
        CHECK(realpath(argv[0], self));
        EQUAL(spawn(self, "placed", placed), MPI_SUCCESS);
        EQUAL(spawn(self, "placed", placed), MPI_SUCCESS);
        char file[64];
        snprintf(file, sizeof file, "/tmp/catena-keys-%d", getpid());
        FILE *keys = fopen(file, "w");
        CHECK(keys);
        fprintf(keys, "# more\nenv = FROM=file\nhost = nowhere\n");
        fclose(keys);
        const char *from_file[][2] = {{"file", file}, {"host", "localhost"}, {NULL}};
        EQUAL(spawn(self, "file", from_file), MPI_SUCCESS);
        const char *elsewhere[][2] = {{"file", file}, {NULL}};
        EQUAL(spawn(self, "file", elsewhere), MPI_ERR_SPAWN);
        remove(file);
        EQUAL(spawn(self, "file", elsewhere), MPI_ERR_INFO_VALUE);
        const char *bad[][2] = {{"appnum", "first"}, {NULL}}, *bound[][2] = {{"bind_to", "moon"}, {NULL}};
        EQUAL(spawn(self, "none", bad), MPI_ERR_INFO_VALUE);
        EQUAL(spawn(self, "none", bound), MPI_ERR_SPAWN);
        /* As many as will do, which is less than maxprocs here, however many there is room for. */
        const char *some[][2] = {{"soft", "1, 2:9:5"}, {NULL}};
        char *none[] = {"none", NULL};
        int of_four[4], started;
        MPI_Comm inter = MPI_COMM_NULL;
        MPI_Info soft = info(some);
        EQUAL(class_of(MPI_Comm_spawn(self, none, 4, soft, 0, MPI_COMM_WORLD, &inter, of_four)), MPI_SUCCESS);
        MPI_Info_free(&soft);
        MPI_Comm_remote_size(inter, &started);
        EQUAL(started, 2);
        for (int k = 0; k < 4; k++)
            EQUAL(class_of(of_four[k]), k < 2 ? MPI_SUCCESS : MPI_ERR_SPAWN);
        MPI_Comm_disconnect(&inter);
        /* More than a launcher can have: an error, unless fewer will do. */
        const char *few[][2] = {{"soft", "2:40000:39998, 50000"}, {NULL}};
        char *more[] = {"none", NULL};
        static int codes[50000];
        inter = MPI_COMM_NULL;
        code = MPI_Comm_spawn(self, more, 50000, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
        EQUAL(class_of(code), MPI_ERR_SPAWN);
        EQUAL(class_of(codes[49999]), MPI_ERR_SPAWN);
        soft = info(few);
        code = MPI_Comm_spawn(self, more, 40000, soft, 0, MPI_COMM_WORLD, &inter, codes);
        MPI_Info_free(&soft);
        EQUAL(class_of(code), MPI_SUCCESS);
        MPI_Comm_remote_size(inter, &started);
        EQUAL(started, 2);
        EQUAL(codes[0], MPI_SUCCESS);
        EQUAL(codes[1], MPI_SUCCESS);
        for (int k = 2; k < 40000; k++)
            EQUAL(class_of(codes[k]), MPI_ERR_SPAWN);
        MPI_Comm_disconnect(&inter);
    }
    if (rank == 0)
        printf("all done\n");
    MPI_Finalize();
    return 0;
}
