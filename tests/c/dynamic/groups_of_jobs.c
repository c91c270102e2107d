// MPI_Intercomm_create_from_groups where the groups are of different jobs, and where each of them is of several.
//
// only: catena
// run: -n 2
// run: -n 2 --set LINK=tcp
#include "../check.h"

enum { N = 2 };

static void talk(MPI_Group local, MPI_Group remote, int leader, int others, const char *tag)
{
    MPI_Comm inter;
    int me, n, got, flag;
    MPI_Group_rank(local, &me);
    MPI_Group_size(remote, &n);
    MPI_Intercomm_create_from_groups(local, leader, remote, others, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &inter);
    MPI_Comm_test_inter(inter, &flag);
    CHECK(flag);
    MPI_Comm_rank(inter, &got);
    EQUAL(got, me);
    MPI_Comm_remote_size(inter, &got);
    EQUAL(got, n);
    MPI_Sendrecv(&me, 1, MPI_INT, me, 1, &got, 1, MPI_INT, me, 1, inter, MPI_STATUS_IGNORE);
    EQUAL(got, me);
    int one = 1, sum;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
    EQUAL(sum, n);
    MPI_Comm_free(&inter);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm parent, inter;
    MPI_Group parents, children, all, halves[2];
    MPI_Comm_get_parent(&parent);
    int is_child = parent != MPI_COMM_NULL;
    inter = parent;
    if (!is_child)
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, N, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    MPI_Comm_group(MPI_COMM_WORLD, is_child ? &children : &parents);
    MPI_Comm_remote_group(inter, is_child ? &parents : &children);
    for (int round = 0; round < 3; round++) {
        /* The leaders are others each time, and of different jobs. */
        int a = round % N, b = (round + 1) % N;
        talk(is_child ? children : parents, is_child ? parents : children, is_child ? a : b, is_child ? b : a, "jobs");
        /* Each group has one of either job: first those of rank 0, then those of rank 1. */
        MPI_Group_union(parents, children, &all);
        for (int h = 0; h < 2; h++) {
            int ranks[] = {h, N + h};
            MPI_Group_incl(all, 2, ranks, &halves[h]);
        }
        talk(halves[rank], halves[1 - rank], rank ? b : a, rank ? a : b, "halves");
        MPI_Group_free(&all);
        MPI_Group_free(&halves[0]);
        MPI_Group_free(&halves[1]);
    }
    MPI_Group_free(&parents);
    MPI_Group_free(&children);
    MPI_Comm_disconnect(&inter);
    MPI_Finalize();
    return 0;
}
