// A communicator is made only of members that pass the same group: the one that passes another one is named.
// run: -n 4 -- create ; fails ; says MPI_ERR_NOT_SAME: MPI_Comm_create: rank 2 of the communicator passed another group than \d of the other members
// run: -n 4 -- order ; fails ; says MPI_ERR_NOT_SAME: MPI_Comm_create: rank 2 of the communicator passed another group than \d of the other members
// run: -n 4 -- apart ; says done
// run: -n 4 -- returned ; says done
// run: -n 4 -- group ; fails ; says MPI_ERR_NOT_SAME: MPI_Comm_create_group: .*rank 2 told
#include "../check.h"

int main(int argc, char **argv)
{
    const char *mode = argv[1];
    int is_other, members, error;
    MPI_Group all, group;
    MPI_Comm made = MPI_COMM_NULL;
    start(&argc, &argv);
    is_other = rank == 2;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    if (!strcmp(mode, "apart"))
        MPI_Group_incl(all, 2, rank % 2 ? (int[]){3, 1} : (int[]){0, 2}, &group);
    else if (!strcmp(mode, "order"))
        MPI_Group_incl(all, 4, is_other ? (int[]){1, 0, 2, 3} : (int[]){0, 1, 2, 3}, &group);
    else
        MPI_Group_incl(all, is_other ? 3 : 4, (int[]){0, 1, 2, 3}, &group);
    if (!strcmp(mode, "returned")) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        error = MPI_Comm_create(MPI_COMM_WORLD, group, &made);
        CHECK(class_of(error) == MPI_ERR_NOT_SAME);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        /* Another one can be made. */
        MPI_Comm_create(MPI_COMM_WORLD, all, &made);
        MPI_Comm_size(made, &members);
        CHECK(members == 4);
    } else if (!strcmp(mode, "group")) {
        MPI_Comm_create_group(MPI_COMM_WORLD, group, 3, &made);
    } else {
        MPI_Comm_create(MPI_COMM_WORLD, group, &made);
        MPI_Comm_size(made, &members);
        CHECK(members == 2);
    }
    MPI_Comm_free(&made);
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    if (rank == 0)
        puts("done");
    return finish();
}
