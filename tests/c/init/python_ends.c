// A program that looks like Python's interpreter, whose mpi4py calls MPI_Finalize while it ends: one that ends by an exception
// ends the job, although others wait for its messages.
//
// cc: -rdynamic
// only: catena
// run: -n 2 -- 0
// run: -n 3 -- 1; exit 3; says rank 1 on host .* exited with code 3; ends 10
// run: -n 2 -- all; exit 3; says (?s)finalized as one.*finalized as one
// run: -n 2 -- attribute
#include "../check.h"

static int running = 1, deleted;

static int delete_it(MPI_Comm comm, int key, void *value, void *state)
{
    int sum = 0, finalized = 1;
    (void)comm, (void)key, (void)value, (void)state;
    /* Everything still works. */
    MPI_Finalized(&finalized);
    CHECK(!finalized);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EQUAL(sum, 1);
    deleted++;
    return MPI_SUCCESS;
}

int Py_IsInitialized(void) { return running; }

int main(int argc, char **argv) {
    int flag, value;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(argc == 2);
    int all = strcmp(argv[1], "all") == 0;
    int fails = all || (rank == 1 && atoi(argv[1]) == 1);
    if (atoi(argv[1]) == 1 && rank != 1) {
        MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    int with_attribute = strcmp(argv[1], "attribute") == 0;
    if (with_attribute) {
        int key;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_it, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    }
    // As Py_FinalizeEx does before it calls what Py_AtExit was given.
    running = 0;
    CHECK(MPI_Finalize() == MPI_SUCCESS);
    EQUAL(deleted, with_attribute);
    MPI_Finalized(&flag);
    CHECK(flag);
    if (all) printf("finalized as one\n");
    return fails ? 3 : 0;
}
