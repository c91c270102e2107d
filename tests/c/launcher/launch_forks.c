// Ranks that are not the process which the launcher has started: that one forks, and the other one
// uses MPI, beside it or after it has ended, in the group that it was started in or one of its own.
// The rank is that process then, and nothing is left when the job fails or the launcher is killed.
//
// Words of its command line
//   waits    the first process waits for the other one
//   leaves   the other one makes a session of its own
//   late     and begins with MPI only once the first process has ended
//   executes and executes this program anew before
//   straight nothing is forked
//   stays    waits for ever before it begins with MPI
//   fails    rank 0 ends with status 3 while the others wait for it
//   spins    all look for a message for ever
//
// only: catena
// run: -n 2; lines 1 all 2 are there
// run: -n 2 -- late; lines 1 all 2 are there
// run: -n 2 -- late executes; lines 1 all 2 are there
// run: -n 2 sh -c '"$0" straight &' @; lines 1 all 2 are there
// run: -n 2 sh -c '"$0" straight fails &' @; exit 3; says 'exited with code 3; the other rank was ended'
// run: -n 2 sh -c '("$0" straight fails; exit $?) &' @; exit 3; says 'exited with code 3'
// run: -n 2 sh -c '("$0" straight; exit 5) &' @; exit 5
// run: -n 2 sh -c 'timeout 0.1 "$0" straight stays &' @; exit 124
// run: -n 2 --timeout 1s setsid -f @ -- straight stays; exit 124; ends 5
// run: -n 1 sh -c 'setsid "$0" straight stays & "$0" straight' @; lines 1 all 1 are there; ends 5
// run: -n 2 -- leaves; lines 1 all 2 are there
// run: -n 3 -- leaves late; lines 1 all 3 are there
// run: -n 2 -- waits leaves; lines 1 all 2 are there
// run: -n 2 -- fails; exit 3; says 'exited with code 3; the other rank was ended'
// run: -n 2 -- leaves fails; exit 3; says 'exited with code 3; the other rank was ended'
// run: -n 2 -- waits leaves fails; exit 3; says 'exited with code 3; the other rank was ended'
// run: -n 2 -- leaves spins; signal KILL; fails; ends 5
// run: -n 2 -- waits leaves spins; signal KILL; fails; ends 5
// run: -n 2 -- leaves spins; signal TERM; exit 143; ends 5
// variant: launch_forks_hosts --host h0:1,h1:1 --launcher-agent scripts/hosts
// hosts: 2
// run: -n 2 -- leaves late; lines 1 all 2 are there
// run: -n 2 -- leaves fails; exit 3; says 'exited with code 3; the other rank was ended'
// run: -n 2 -- leaves spins; signal KILL; fails; ends 5
#include "../check.h"

#include <sys/wait.h>

static int argc_of;
static char **argv_of;

static int said(const char *word)
{
    for (int i = 1; i < argc_of; i++)
        if (!strcmp(argv_of[i], word))
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    argc_of = argc;
    argv_of = argv;
    int ends[2];
    CHECK(pipe(ends) == 0);
    pid_t child = said("straight") ? 0 : fork();
    CHECK(child >= 0);
    if (child) {
        int status = 0;
        close(ends[0]);
        if (said("waits"))
            CHECK(waitpid(child, &status, 0) == child);
        return WEXITSTATUS(status);
    }
    close(ends[1]);
    if (said("leaves"))
        CHECK(setsid() == getpid());
    if (said("late")) {
        /* The end of the pipe is that of the first process. */
        char byte;
        CHECK(read(ends[0], &byte, 1) == 0);
    }
    if (said("executes"))
        execl("/proc/self/exe", argv[0], "straight", NULL);
    while (said("stays"))
        pause();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int sum = 0, one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EQUAL(sum, size);
    if (said("spins")) {
        if (rank == 0) {
            printf("ready\n");
            fflush(stdout);
        }
        for (int found = 0; !found;)
            MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    }
    if (said("fails")) {
        if (rank == 0)
            _exit(3);
        MPI_Recv(&one, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == 0)
        printf("all %d are there\n", size);
    MPI_Finalize();
    return 0;
}
