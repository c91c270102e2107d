// Duplicates, splits, groups and self: each keeps its own messages apart.
// run: -n 1
// run: -n 4
// run: -n 7
#include "../check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int r, n, result;

    MPI_Comm dup, half, one;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_compare(MPI_COMM_WORLD, dup, &result);
    EQUAL(result, MPI_CONGRUENT);
    MPI_Comm_compare(dup, dup, &result);
    EQUAL(result, MPI_IDENT);

    /* The same tag on two communicators: no mixing. */
    int right = (rank + 1) % size, left = (rank + size - 1) % size, a = 1, b = 2, x, y;
    MPI_Request q[2];
    MPI_Irecv(&y, 1, MPI_INT, left, 0, dup, &q[1]);
    MPI_Irecv(&x, 1, MPI_INT, left, 0, MPI_COMM_WORLD, &q[0]);
    MPI_Send(&a, 1, MPI_INT, right, 0, MPI_COMM_WORLD);
    MPI_Send(&b, 1, MPI_INT, right, 0, dup);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    EQUAL(x, 1);
    EQUAL(y, 2);

    /* Odd and even, ranks turned round by the key. */
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_rank(half, &r);
    MPI_Comm_size(half, &n);
    EQUAL(n, (size + 1 - rank % 2) / 2);
    EQUAL(r, n - 1 - rank / 2);
    int sum, expect = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, half);
    for (int i = rank % 2; i < size; i += 2)
        expect += i;
    EQUAL(sum, expect);

    /* Some stay out. */
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, rank, &one);
    if (rank == 0)
        CHECK(one == MPI_COMM_NULL);
    else {
        MPI_Comm_size(one, &n);
        EQUAL(n, size - 1);
        MPI_Comm_free(&one);
        CHECK(one == MPI_COMM_NULL);
    }

    /* Groups. */
    MPI_Group world, odd, rest, both;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_group(half, &odd);
    MPI_Group_size(world, &n);
    EQUAL(n, size);
    MPI_Group_difference(world, odd, &rest);
    MPI_Group_union(odd, rest, &both);
    MPI_Group_compare(both, world, &result);
    CHECK(result == MPI_SIMILAR || result == MPI_IDENT);
    MPI_Group_intersection(rest, odd, &both);
    CHECK(both == MPI_GROUP_EMPTY);
    int mine = 0, theirs;
    MPI_Group_translate_ranks(odd, 1, &mine, world, &theirs);
    MPI_Group_size(odd, &n);
    EQUAL(theirs, rank % 2 + 2 * (n - 1));

    /* A communicator of the first three (or fewer) ranks. */
    int range[1][3] = {{0, size < 3 ? size - 1 : 2, 1}};
    MPI_Group first;
    MPI_Comm few;
    MPI_Group_range_incl(world, 1, range, &first);
    MPI_Comm_create(MPI_COMM_WORLD, first, &few);
    CHECK((few != MPI_COMM_NULL) == (rank < 3));
    if (few != MPI_COMM_NULL) {
        MPI_Barrier(few);
        MPI_Comm_free(&few);
    }

    MPI_Comm_rank(MPI_COMM_SELF, &r);
    MPI_Comm_size(MPI_COMM_SELF, &n);
    CHECK(r == 0 && n == 1);
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    CHECK(!strcmp(name, "MPI_COMM_WORLD"));
    MPI_Comm_set_name(dup, "a copy");
    MPI_Comm_get_name(dup, name, &length);
    CHECK(!strcmp(name, "a copy") && length == 6);

    /* Many, one after the other: context ids come back. */
    for (int i = 0; i < 300; i++) {
        MPI_Comm c;
        MPI_Comm_dup(i % 2 ? half : dup, &c);
        if (i % 50 == 0)
            MPI_Barrier(c);
        MPI_Comm_free(&c);
    }
    MPI_Group_free(&first);
    MPI_Group_free(&rest);
    MPI_Group_free(&odd);
    MPI_Group_free(&world);
    MPI_Comm_free(&half);
    MPI_Comm_free(&dup);
    return finish();
}
