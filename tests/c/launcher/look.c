// A user looks at a job that runs: `catena ps`, `catena hang`, `catena explain` and `catena trace` know what ranks of all its hosts do, also of those that are in
// a container and call themselves otherwise there.
// only: catena
// waits: until ranks have waited for a second
// run: -n 4 --on-hang nothing -- ps; says LOOK \S+ +4/4 +1  mpirun \d+ .* 3 for more than 1 s; says done
// run: -n 4 --on-hang nothing -- hang; says LOOK no progress: rank 0 does not wait in MPI.*MPI_Recv \(look.c:\d+\); says LOOK   ranks 1 to 3 wait in MPI_Recv; says done
// run: -n 4 --on-hang nothing -- json; says LOOK \{"definite":false,"culprits":\["rank 0"\]; says done
// run: -n 4 --on-hang nothing -- trace; says LOOK rank 3 on host; says MPI_Recv\(source=0, tag=5, comm=MPI_COMM_WORLD\); says done
// run: -n 4 --on-hang nothing -- explain; says LOOK   through shared memory: \d+; says LOOK   barrier: board 3$; says LOOK not known, as the job was started without --explain; says done
// run: -n 4 --on-hang nothing --explain -- explain; says LOOK messages of the program: none$; says 'LOOK   MPI_Barrier of nothing, 4 ranks on 1 host: 1 call; planned in shared memory'; says LOOK   barrier: board 3$; says done
// run: -n 4 --on-hang nothing --trace /dev/null -- explain_json; says LOOK \{"hosts":.*"silent":\[0\],"messages":\{.*"function":"MPI_Barrier","ranks":4,"hosts":1,.*"coll_barrier_board":3; says done
// run: -n 4 --on-hang nothing -- explain_json; says LOOK \{"hosts":.*"messages":null,"collectives":null,"counters":\{.*"coll_barrier_board":3; says done
// run: -n 4 --on-hang nothing -- pid; says LOOK no progress: rank 0 does not wait in MPI; says done
// run: -n 1 --on-hang nothing -- spawn; says LOOK no progress: rank 0 does not wait in MPI; says ranks 0 to 2 of spawned job 1 wait in MPI_Recv; says done
//
// variant: look_apart
// only: catena
// waits: until ranks have waited for a second
// hosts: 2
// run: -n 4 --on-hang nothing --host h0:2,h1:2 --launcher-agent scripts/hosts -- ps; says LOOK \S+ +4/4 +2  mpirun \d+ .* 3 for more than 1 s; says done
// run: -n 4 --on-hang nothing --host h0:2,h1:2 --launcher-agent scripts/hosts -- hang; says LOOK no progress: rank 0 does not wait in MPI; says LOOK   ranks 1 to 3 wait in MPI_Recv \(look.c:\d+\); says done
// run: -n 4 --on-hang nothing --host h0:2,h1:2 --launcher-agent scripts/hosts -- trace; says LOOK rank 3 on host h1; says done
// run: -n 4 --on-hang nothing --explain --host h0:2,h1:2 --launcher-agent scripts/hosts -- explain; says 'LOOK   MPI_Barrier of nothing, 4 ranks on 2 hosts: 1 call; planned as'; says LOOK   over a network: \d+; says done
// run: -n 2 --on-hang nothing --host h0:1,h1:1 --launcher-agent scripts/hosts -- explain; says LOOK   over a network: \d+; says LOOK   barrier: dissemination 1$; says done
//
// variant: look_within
// only: catena
// needs: user namespaces
// waits: until ranks have waited for a second
// run: -n 4 --on-hang nothing -- within; says LOOK no progress: rank 0 does not wait in MPI; says LOOK   ranks 1 to 3 wait in MPI_Recv \(look.c:\d+\); says done
#define _GNU_SOURCE
#include "../check.h"
#include <sched.h>
#include <sys/wait.h>

/* What a command of catena says: mpirun, which has started this process, is that command, too. */
static int look(int launcher, const char *words, const char *awaited)
{
    char command[200], line[4096];
    int is_there = 0;
    snprintf(command, sizeof command, "/proc/%d/exe --called catena %s 2>&1", launcher, words);
    FILE *said = popen(command, "r");
    CHECK(said);
    while (fgets(line, sizeof line, said)) {
        if (!is_there && strstr(line, awaited))
            is_there = 1;
        if (is_there)
            printf("LOOK %s", line);
    }
    pclose(said);
    return is_there;
}

/* The rest of this program is a process in a namespace of its own, where it has another number. */
static void enter_a_namespace(void)
{
    if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
        exit(9);
    int status, child = fork();
    if (child == 0)
        return;
    waitpid(child, &status, 0);
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 9);
}

int main(int argc, char **argv)
{
    const char *mode = argv[1];
    int launcher = getppid(), own = getpid(), x = 0;
    MPI_Comm parent, world = MPI_COMM_WORLD;
    if (!strcmp(mode, "within") && strcmp(getenv("CATENA_LOCAL_RANK"), "0"))
        enter_a_namespace();
    start(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (!strcmp(mode, "spawn")) {
        int is_child = parent != MPI_COMM_NULL;
        if (!is_child)
            MPI_Comm_spawn(argv[0], argv + 1, 3, MPI_INFO_NULL, 0, MPI_COMM_SELF, &parent, MPI_ERRCODES_IGNORE);
        MPI_Intercomm_merge(parent, is_child, &world);
        MPI_Comm_rank(world, &rank);
        MPI_Comm_size(world, &size);
    }
    /* All of them have noted a call. */
    MPI_Barrier(world);
    if (rank == 0) {
        char words[64];
        const char *awaited = "no progress: rank 0 does not wait";
        snprintf(words, sizeof words, "hang %d", strcmp(mode, "pid") ? launcher : own);
        if (!strcmp(mode, "ps"))
            snprintf(words, sizeof words, "ps"), awaited = " 3 for more than 1 s";
        if (!strcmp(mode, "json"))
            strcat(words, " --json"), awaited = "{";
        if (!strncmp(mode, "explain", 7)) {
            const char *more = mode[7] ? " --json" : "";
            snprintf(words, sizeof words, "explain %d%s", launcher, more);
            /* The others have told what they have counted; this one is here. */
            awaited = mode[7] ? "\"silent\":[0]" : "the library of rank 0 has done";
        }
        if (!strcmp(mode, "trace"))
            snprintf(words, sizeof words, "trace %d", launcher), awaited = "rank 0 on host";
        /* Others need a second until they say what they wait for. The test ends if they never do. */
        while (!look(launcher, words, awaited)) {
        }
        for (int other = 1; other < size; other++)
            MPI_Send(&x, 1, MPI_INT, other, 5, world);
        printf("done\n");
    } else {
        MPI_Recv(&x, 1, MPI_INT, 0, 5, world, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
