// Groups: set operations, ranges with strides of both signs, translation, comparison, errors.
// run: -n 1
// run: -n 6
#include "../check.h"

#define OK(call) EQUAL(call, MPI_SUCCESS)

static MPI_Group world;

/* The group's members are these ranks of the world. */
static void is(MPI_Group group, int n, const int *ranks)
{
    int size, all[16], there[16];
    OK(MPI_Group_size(group, &size));
    EQUAL(size, n);
    for (int i = 0; i < n; i++)
        all[i] = i;
    OK(MPI_Group_translate_ranks(group, n, all, world, there));
    for (int i = 0; i < n; i++)
        EQUAL(there[i], ranks[i]);
    CHECK(n > 0 || group == MPI_GROUP_EMPTY);
    OK(MPI_Group_free(&group));
    CHECK(group == MPI_GROUP_NULL);
}

#define IS(group, ...)                                                               \
    do {                                                                             \
        const int ranks_[] = {__VA_ARGS__};                                          \
        is(group, sizeof ranks_ / sizeof *ranks_, ranks_);                           \
    } while (0)

static MPI_Group of(int n, const int *ranks)
{
    MPI_Group group;
    OK(MPI_Group_incl(world, n, ranks, &group));
    return group;
}

static MPI_Group range(int first, int last, int stride)
{
    MPI_Group group;
    int ranges[1][3] = {{first, last, stride}};
    OK(MPI_Group_range_incl(world, 1, ranges, &group));
    return group;
}

static void sets(void)
{
    MPI_Group a = of(4, (int[]) {3, 1, 2, 5}), b = of(3, (int[]) {2, 4, 3}), made;
    OK(MPI_Group_union(a, b, &made));
    IS(made, 3, 1, 2, 5, 4);
    OK(MPI_Group_union(b, a, &made));
    IS(made, 2, 4, 3, 1, 5);
    OK(MPI_Group_intersection(a, b, &made));
    IS(made, 3, 2);
    OK(MPI_Group_intersection(b, a, &made));
    IS(made, 2, 3);
    OK(MPI_Group_difference(a, b, &made));
    IS(made, 1, 5);
    OK(MPI_Group_difference(a, a, &made));
    is(made, 0, NULL);
    OK(MPI_Group_union(MPI_GROUP_EMPTY, b, &made));
    IS(made, 2, 4, 3);
    OK(MPI_Group_intersection(a, MPI_GROUP_EMPTY, &made));
    is(made, 0, NULL);
    OK(MPI_Group_excl(a, 2, (int[]) {3, 0}, &made));
    IS(made, 1, 2);
    OK(MPI_Group_excl(a, 0, NULL, &made));
    IS(made, 3, 1, 2, 5);
    OK(MPI_Group_incl(a, 0, NULL, &made));
    is(made, 0, NULL);

    int result, there[3], me;
    OK(MPI_Group_translate_ranks(a, 3, (int[]) {0, MPI_PROC_NULL, 1}, b, there));
    CHECK(there[0] == 2 && there[1] == MPI_PROC_NULL && there[2] == MPI_UNDEFINED);
    OK(MPI_Group_rank(b, &me));
    EQUAL(me, rank == 2 ? 0 : rank == 4 ? 1 : rank == 3 ? 2 : MPI_UNDEFINED);
    made = of(3, (int[]) {2, 4, 3});
    OK(MPI_Group_compare(b, made, &result));
    EQUAL(result, MPI_IDENT);
    OK(MPI_Group_free(&made));
    made = of(3, (int[]) {4, 3, 2});
    OK(MPI_Group_compare(b, made, &result));
    EQUAL(result, MPI_SIMILAR);
    OK(MPI_Group_compare(a, made, &result));
    EQUAL(result, MPI_UNEQUAL);
    OK(MPI_Group_compare(made, MPI_GROUP_EMPTY, &result));
    EQUAL(result, MPI_UNEQUAL);
    OK(MPI_Group_free(&made));
    OK(MPI_Group_free(&a));
    OK(MPI_Group_free(&b));
}

static void ranges(void)
{
    IS(range(0, 5, 2), 0, 2, 4);
    IS(range(5, 0, -2), 5, 3, 1);
    IS(range(4, 0, -4), 4, 0);
    IS(range(2, 2, 7), 2);
    IS(range(2, 2, -7), 2);
    /* The last computed rank counts, not the last one given. */
    IS(range(1, 7, 4), 1, 5);
    IS(range(0, 1 << 30, (1 << 30) - 1 + (1 << 30)), 0);
    MPI_Group made;
    int two[2][3] = {{4, 0, -2}, {1, 3, 2}};
    OK(MPI_Group_range_incl(world, 2, two, &made));
    IS(made, 4, 2, 0, 1, 3);
    OK(MPI_Group_range_excl(world, 2, two, &made));
    IS(made, 5);
    OK(MPI_Group_range_excl(world, 0, NULL, &made));
    IS(made, 0, 1, 2, 3, 4, 5);
    OK(MPI_Group_range_incl(world, 0, NULL, &made));
    is(made, 0, NULL);
}

static void errors(void)
{
    MPI_Group made;
    int n, bad[][3] = {{0, 5, 0}, {0, 6, 1}, {-1, 3, 1}, {6, 0, -1}, {5, -2, -1}, {0, 5, -1},
                       {5, 0, 1}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int class = bad[i][2] == 0 || i > 4 ? MPI_ERR_ARG : MPI_ERR_RANK;
        EQUAL(class_of(MPI_Group_range_incl(world, 1, &bad[i], &made)), class);
        EQUAL(class_of(MPI_Group_range_excl(world, 1, &bad[i], &made)), class);
    }
    int twice[2][3] = {{0, 3, 1}, {3, 5, 2}};
    EQUAL(class_of(MPI_Group_range_incl(world, 2, twice, &made)), MPI_ERR_RANK);
    EQUAL(class_of(MPI_Group_range_excl(world, 2, twice, &made)), MPI_ERR_RANK);
    EQUAL(class_of(MPI_Group_range_incl(world, -1, twice, &made)), MPI_ERR_ARG);
    EQUAL(class_of(MPI_Group_range_incl(world, 1, NULL, &made)), MPI_ERR_ARG);
    EQUAL(class_of(MPI_Group_incl(world, 1, (int[]) {size}, &made)), MPI_ERR_RANK);
    EQUAL(class_of(MPI_Group_incl(world, 1, (int[]) {0}, NULL)), MPI_ERR_ARG);
    EQUAL(class_of(MPI_Group_excl(world, 2, (int[]) {1, 1}, &made)), MPI_ERR_RANK);
    EQUAL(class_of(MPI_Group_union(world, MPI_GROUP_NULL, &made)), MPI_ERR_GROUP);
    EQUAL(class_of(MPI_Group_compare(MPI_GROUP_NULL, world, &n)), MPI_ERR_GROUP);
    EQUAL(class_of(MPI_Group_translate_ranks(world, 1, &size, world, &n)), MPI_ERR_RANK);
    made = MPI_GROUP_NULL;
    EQUAL(class_of(MPI_Group_free(&made)), MPI_ERR_GROUP);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    if (size == 6) {
        sets();
        ranges();
        errors();
    } else {
        IS(range(0, 0, -3), 0);
        int none[1][3] = {{1, 1, 1}};
        MPI_Group made;
        EQUAL(class_of(MPI_Group_range_incl(world, 1, none, &made)), MPI_ERR_RANK);
    }
    OK(MPI_Group_free(&world));
    return finish();
}
