// The leader of one group has an intercommunicator, knows of a death, and duplicates it while the leader of the other group has not
// got it yet, as the one that leads that in the call that makes it is stopped: it asks the other leader, which says that nothing
// comes once that is so, and not before.
//
// only: catena
// run: -n 4 --with-ft ulfm --set FAULT_STATUS=survivors
// run: -n 4 --with-ft ulfm --set FAULT_STATUS=survivors --set LINK=tcp
// run: -n 4 --with-ft ulfm --set FAULT_STATUS=survivors -- dies
// run: -n 4 --with-ft ulfm --set FAULT_STATUS=survivors --set LINK=tcp -- dies
#include "../check.h"
#include "deaths.h"
#include <mpi-ext.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

/* Files of which each is there until a rank begins. */
static char begins[][32] = {"", "ft_leaders_early_1.XXXXXX", "ft_leaders_early_2.XXXXXX"};
static int processes[4];

/* Waits until the process of a rank is in that state. */
static void until_it_is(int of, char wanted)
{
    char path[64], state = 0;
    int process = processes[of];
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", process, process);
    while (state != wanted) {
        FILE *file = fopen(path, "r");
        CHECK(file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1);
        fclose(file);
        sched_yield();
    }
}

/* Waits until a rank sleeps in the call: what it tells there has left. */
static void until_it_waits(int of)
{
    while (access(begins[of], F_OK) == 0)
        sched_yield();
    until_it_is(of, 'S');
}

/* The groups are rank 0, and ranks 1 and 2, of which rank 2 leads where the intercommunicator is made. */
int main(int argc, char **argv)
{
    MPI_Comm three, half, inter, twice;
    MPI_Request request;
    int sum = 0, done = 0, code, me = getpid();
    start(&argc, &argv);
    int dies = argc > 1;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 3, rank, &three);
    MPI_Comm_set_errhandler(three, MPI_ERRORS_RETURN);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : rank == 3 ? MPI_UNDEFINED : 1, rank, &half);
    if (rank < 3)
        MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
    for (int n = 1; rank == 0 && n < 3; n++) {
        int file = mkstemp(begins[n]);
        CHECK(file >= 0);
        close(file);
    }
    MPI_Bcast(begins, sizeof begins, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Allgather(&me, 1, MPI_INT, processes, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 3)
        raise(SIGKILL);
    while (!deaths(MPI_COMM_WORLD))
        sched_yield();
    if (rank != 1)
        until_it_waits(rank == 0 ? 2 : 1);
    if (rank == 0) {
        CHECK(kill(processes[2], SIGSTOP) == 0);
        until_it_is(2, 'T');
    } else
        CHECK(unlink(begins[rank]) == 0);
    code = MPI_Intercomm_create(half, rank == 0 ? 0 : 1, three, rank == 0 ? 2 : 0, 7, &inter);
    EQUAL(class_of(code), dies && rank == 1 ? MPIX_ERR_PROC_FAILED : MPI_SUCCESS);
    if (rank == 0) {
        MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
        EQUAL(MPI_Comm_idup(inter, &twice, &request), MPI_SUCCESS);
        for (int n = 0; n < 100000; n++)
            EQUAL(MPI_Test(&request, &done, MPI_STATUS_IGNORE), MPI_SUCCESS);
        CHECK(!done);
        CHECK(kill(processes[2], dies ? SIGKILL : SIGCONT) == 0);
        EQUAL(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)), dies ? MPIX_ERR_PROC_FAILED : MPI_SUCCESS);
    } else if (!dies)
        EQUAL(MPI_Comm_dup(inter, &twice), MPI_SUCCESS);
    if (!dies) {
        EQUAL(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, twice), MPI_SUCCESS);
        EQUAL(sum, rank == 0 ? 3 : 0);
        MPI_Comm_free(&twice);
    }
    if (!dies || rank == 0)
        MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    MPI_Comm_free(&three);
    MPI_Finalize();
    return 0;
}
