// Whatever is wrong with what is to be spawned or with a name: each call fails within seconds, at all members alike, the
// error names what is wrong and what to do, and no process is left of it while the job goes on.
//
// only: catena
// time: 60
// run: -n 2; says 'all done'
// run: -n 1 --set LAUNCH_TIMEOUT=300ms -- late; says 'all done'
// alone: CATENA_SINGLETON=1; says 'all done'
#include "../check.h"
#include <dirent.h>
#include <sched.h>

enum { PATIENCE = 5, MOST = 50000 };

static double begun;
static char self[4096];
static int codes[MOST];

/* The error has this class and these words, at the one who has said what is wrong, and MPI_ERR_SPAWN at others. */
static void failed(int code, int class, const char *words)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, text, &length);
    if (class_of(code) != (rank ? MPI_ERR_SPAWN : class) || (rank == 0 && !strstr(text, words)))
        fprintf(stderr, "rank %d: class %d, wanted %d and %s: %s\n", rank, class_of(code), class, words, text);
    EQUAL(class_of(code), rank ? MPI_ERR_SPAWN : class);
    CHECK(rank || strstr(text, words));
    CHECK(MPI_Wtime() - begun < PATIENCE);
}

static void spawn_with(MPI_Info info, const char *command, const char **argv, int n, int class, const char *words)
{
    MPI_Comm inter = MPI_COMM_WORLD;
    begun = MPI_Wtime();
    memset(codes, 0, sizeof codes);
    failed(MPI_Comm_spawn(command, (char **)argv, n, info, 0, MPI_COMM_WORLD, &inter, codes), class, words);
    CHECK(inter == MPI_COMM_NULL);
    for (int i = 0; rank == 0 && i < n; i++)
        EQUAL(class_of(codes[i]), class);
}

static void spawn(const char *command, const char **argv, int n, int class, const char *words)
{
    spawn_with(MPI_INFO_NULL, command, argv, n, class, words);
}

static void spawn_key(const char *key, const char *value, int class, const char *words)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    spawn_with(info, self, NULL, 1, class, words);
    MPI_Info_free(&info);
}

/* How many processes there are whose parent is `parent`, but for those that have ended. */
static int children_of(int parent)
{
    int n = 0;
    DIR *all = opendir("/proc");
    CHECK(all);
    for (struct dirent *it; (it = readdir(all));) {
        char path[300], state;
        int of;
        snprintf(path, sizeof path, "/proc/%s/stat", it->d_name);
        FILE *stat = it->d_name[0] >= '1' && it->d_name[0] <= '9' ? fopen(path, "r") : NULL;
        if (!stat)
            continue;
        n += fscanf(stat, "%*d (%*[^)]) %c %d", &state, &of) == 2 && of == parent && state != 'Z';
        fclose(stat);
    }
    closedir(all);
    return n;
}

static void programs(void)
{
    const char *three[] = {"-c", "exit 3", NULL}, *killed[] = {"-c", "kill -9 $$", NULL};
    spawn("no-such-program", NULL, 2, MPI_ERR_SPAWN, "is in none of the directories of PATH");
    spawn("/no/such/program", NULL, 2, MPI_ERR_SPAWN, "/no/such/program does not exist");
    spawn("./no-such-program", NULL, 1, MPI_ERR_SPAWN, "/./no-such-program; check its name, and in which directory");
    spawn("/etc/passwd", NULL, 1, MPI_ERR_SPAWN, "chmod +x /etc/passwd");
    spawn("/etc", NULL, 1, MPI_ERR_SPAWN, "is a directory");
    spawn("sh", three, 3, MPI_ERR_SPAWN, "exited with code 3 and had not called MPI_Init");
    spawn("sh", killed, 2, MPI_ERR_SPAWN, "killed by signal 9");
    spawn("true", NULL, 2, MPI_ERR_SPAWN, "had not called MPI_Init");
    spawn("sh", three, 0, MPI_ERR_COUNT, "0");
    spawn("sh", three, -1, MPI_ERR_COUNT, "-1");
    spawn(self, NULL, MOST, MPI_ERR_SPAWN, "soft");
}

static void keys(void)
{
    spawn_key("host", "no-such-host.invalid", MPI_ERR_SPAWN, "no-such-host.invalid");
    spawn_key("hostfile", "/no/such/file", MPI_ERR_SPAWN, "/no/such/file");
    spawn_key("wdir", "/no/such/folder", MPI_ERR_SPAWN, "/no/such/folder");
    spawn_key("file", "/no/such/file", MPI_ERR_INFO_VALUE, "/no/such/file");
    spawn_key("appnum", "first", MPI_ERR_INFO_VALUE, "first");
    spawn_key("soft", "1:", MPI_ERR_INFO_VALUE, "1:");
    spawn_key("soft", "0,2:9", MPI_ERR_SPAWN, "none of its numbers is from 1 to 1");
    spawn_key("env", "A=1\nB", MPI_ERR_INFO_VALUE, "the line 'B': write NAME=value");
    spawn_key("env", "=1", MPI_ERR_INFO_VALUE, "write NAME=value");
    spawn_key("mpi_initial_errhandler", "return", MPI_ERR_INFO_VALUE, "mpi_errors_return");
    spawn_key("bind_to", "moon", MPI_ERR_SPAWN, "the info key bind_to: moon");
    spawn_key("map_by", "moon", MPI_ERR_SPAWN, "the info key map_by: moon");
}

/* One of two programs ends, the other waits in MPI_Init. */
static void half(void)
{
    char *commands[] = {self, "sh"}, *three[] = {"-c", "exit 3", NULL}, **argvs[] = {NULL, three};
    int counts[] = {2, 1};
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm inter = MPI_COMM_WORLD;
    begun = MPI_Wtime();
    failed(MPI_Comm_spawn_multiple(2, commands, argvs, counts, infos, 0, MPI_COMM_WORLD, &inter, codes), MPI_ERR_SPAWN,
           "exited with code 3");
    CHECK(inter == MPI_COMM_NULL);
}

/* Nobody can spawn on an intercommunicator: nothing is started. */
static void between(void)
{
    MPI_Comm two, inter = MPI_COMM_WORLD;
    if (size != 2)
        return;
    MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 0, &two);
    MPI_Comm_set_errhandler(two, MPI_ERRORS_RETURN);
    EQUAL(class_of(MPI_Comm_spawn(self, NULL, 1, MPI_INFO_NULL, 0, two, &inter, codes)), MPI_ERR_COMM);
    CHECK(inter == MPI_COMM_NULL);
    MPI_Comm_free(&two);
}

static void names(void)
{
    char port[MPI_MAX_PORT_NAME], text[MPI_MAX_ERROR_STRING];
    int length, code;
    if (rank)
        return;
    begun = MPI_Wtime();
    code = MPI_Lookup_name("nobody has published this", MPI_INFO_NULL, port);
    failed(code, MPI_ERR_NAME, "nobody has published this");
    code = MPI_Unpublish_name("nobody has published this", MPI_INFO_NULL, "port");
    failed(code, MPI_ERR_SERVICE, "nobody has published this");
    MPI_Error_string(code, text, &length);
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    CHECK(realpath(argv[0], self));
    start(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    CHECK(parent == MPI_COMM_NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int launched = getenv("CATENA_BOOT") != NULL, before = children_of(getppid());
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1) {
        const char *sleeper[] = {"1000", NULL};
        spawn("sleep", sleeper, 2, MPI_ERR_SPAWN, "has not called MPI_Init for 0.3 s; a program that takes longer needs a higher");
    } else {
        programs();
        keys();
        half();
        between();
        names();
    }
    /* Of the launcher's, which ends them soon. */
    while (launched && children_of(getppid()) > before)
        sched_yield();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("all done\n");
    MPI_Finalize();
    return 0;
}
