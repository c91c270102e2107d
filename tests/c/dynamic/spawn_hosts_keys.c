// Where spawned processes run: the info keys host, add-host, hostfile and map_by on three hosts, of which the
// job begins on the first. A host that cannot be reached is an error of class MPI_ERR_SPAWN, and the job
// goes on.
//
// only: catena
// hosts: 3
// time: 120
// run: -n 1 --host h0:1,h1:2 --launcher-agent scripts/hosts; says 'no host nowhere'; says 'all done'
// run: -n 2 --host h0:1,h1:2 --launcher-agent scripts/hosts; says 'no host nowhere'; says 'all done'
#include "../check.h"

/* The child on this host tells its name to the parents' rank 0, and which rank it is. */
static void child(MPI_Comm parent)
{
    char name[64] = "";
    CHECK(!gethostname(name, sizeof name));
    MPI_Send(name, sizeof name, MPI_CHAR, 0, rank, parent);
    int all, one = 1;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, parent);
    MPI_Comm_disconnect(&parent);
}

/* Spawns `n` children where `key` and `value` say, the first of whom must be on these hosts, separated by
 * spaces. */
static void spawn(const char *self, int n, const char *key, const char *value, const char *where)
{
    MPI_Info info;
    MPI_Comm inter;
    char *argv[] = {"child", NULL}, got[256] = "";
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    int code = MPI_Comm_spawn(self, argv, n, info, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    if (code != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING];
        int len;
        MPI_Error_string(code, text, &len);
        printf("%s=%s: %s\n", key, value, text);
        exit(1);
    }
    MPI_Info_free(&info);
    if (rank == 0)
        for (int k = 0; k < n; k++) {
            char name[64];
            MPI_Recv(name, sizeof name, MPI_CHAR, k, k, inter, MPI_STATUS_IGNORE);
            snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", k ? " " : "", name);
        }
    int one = 1, all = 0;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, inter);
    EQUAL(all, n);
    if (rank == 0 && strncmp(got, where, strlen(where))) {
        printf("%s=%s: they run on %s, not on %s\n", key, value, got, where);
        exit(1);
    }
    MPI_Comm_disconnect(&inter);
}

static void fails(const char *self, const char *host)
{
    MPI_Info info;
    MPI_Comm inter;
    char text[MPI_MAX_ERROR_STRING];
    int len, codes[2] = {-1, -1};
    MPI_Info_create(&info);
    MPI_Info_set(info, "host", host);
    int code = MPI_Comm_spawn(self, MPI_ARGV_NULL, 2, info, 0, MPI_COMM_WORLD, &inter, codes);
    EQUAL(class_of(code), MPI_ERR_SPAWN);
    CHECK(inter == MPI_COMM_NULL);
    MPI_Info_free(&info);
    if (rank == 0) {
        MPI_Error_string(code, text, &len);
        printf("%s\n", text);
        fflush(stdout);
        EQUAL(class_of(codes[1]), MPI_ERR_SPAWN);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        child(parent);
        MPI_Finalize();
        return 0;
    }
    char path[64];
    snprintf(path, sizeof path, "/tmp/spawn_hosts_%d", (int)getpid());
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        FILE *file = fopen(path, "w");
        CHECK(file && fprintf(file, "# two\nh2 slots=1\nh0:1\n") > 0 && !fclose(file));
    }
    spawn(argv[0], 2, "host", "h1:2", "h1 h1");
    fails(argv[0], "nowhere");
    /* A host that the job did not have, and has from now on. */
    spawn(argv[0], 2, "add-host", "h2:2", "h2 h2");
    fails(argv[0], "h1,nowhere");
    spawn(argv[0], 3, "host", "h0,h2,h1", "h0 h2 h1");
    spawn(argv[0], 2, "hostfile", path, "h2 h0");
    /* More than there are free slots: on all hosts. */
    spawn(argv[0], 6, "map_by", "node", "h0 h1 h2");
    if (rank == 0)
        CHECK(!remove(path));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("all done\n");
    MPI_Finalize();
    return 0;
}
