// The codes of the processes that were asked for come to all members, not to the root alone: also of a spawn that fails.
//
// run: -n 3
// run: -n 1
#include "../check.h"

enum { ASKED = 4 };

/* All ranks have the same codes; the first of them. */
static int same(const int *codes)
{
    int first[ASKED];
    memcpy(first, codes, sizeof first);
    MPI_Bcast(first, ASKED, MPI_INT, 0, MPI_COMM_WORLD);
    CHECK(memcmp(first, codes, sizeof first) == 0);
    return first[0];
}

int main(int argc, char **argv)
{
    MPI_Comm parent, other;
    int codes[ASKED];
    start(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        MPI_Comm_disconnect(&parent);
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int root = size - 1;
    for (int i = 0; i < ASKED; i++)
        codes[i] = -7;
    int code = MPI_Comm_spawn("/nowhere/such_a_program", MPI_ARGV_NULL, ASKED, MPI_INFO_NULL, root, MPI_COMM_WORLD, &other, codes);
    CHECK(code != MPI_SUCCESS && other == MPI_COMM_NULL);
    int class = class_of(code);
    MPI_Bcast(&class, 1, MPI_INT, root, MPI_COMM_WORLD);
    EQUAL(same(codes), class);
    for (int i = 1; i < ASKED; i++)
        EQUAL(codes[i], codes[0]);
    char *programs[] = {rank == root ? argv[0] : "", rank == root ? argv[0] : ""};
    int counts[] = {1, 1};
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    for (int i = 0; i < ASKED; i++)
        codes[i] = -7;
    EQUAL(MPI_Comm_spawn_multiple(2, programs, MPI_ARGVS_NULL, counts, infos, root, MPI_COMM_WORLD, &other, codes), MPI_SUCCESS);
    EQUAL(same(codes), MPI_SUCCESS);
    EQUAL(codes[1], MPI_SUCCESS);
    EQUAL(codes[2], -7);
    MPI_Comm_disconnect(&other);
    return finish();
}
