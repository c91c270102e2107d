// Mean and variance of numbers that are spread over ranks, in one reduction with an operation of our own.
//
//     mpicxx -O2 moments.cc -o moments
//     mpirun -n 4 ./moments
//
// A sum of squares loses its digits where the mean is large next to the spread. So each rank has a count, a mean and a
// sum of squared distances from that mean, and the operation joins two of these into one.
#include <cmath>
#include <cstdio>
#include <mpi.h>

struct Moments {
    double count, mean, squares;
};

static Moments joined(const Moments &a, const Moments &b)
{
    double count = a.count + b.count, apart = b.mean - a.mean;
    if (count == 0)
        return a;
    return {count, a.mean + apart * b.count / count, a.squares + b.squares + apart * apart * a.count * b.count / count};
}

// What MPI calls: `inout` becomes `in` joined with `inout`, in this order.
static void join(void *in, void *inout, int *length, MPI_Datatype *)
{
    auto *left = static_cast<const Moments *>(in);
    auto *both = static_cast<Moments *>(inout);
    for (int i = 0; i < *length; i++)
        both[i] = joined(left[i], both[i]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    MPI_Datatype type;
    MPI_Op op;
    MPI_Type_contiguous(3, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(join, 1, &op);

    // The numbers a billion, a billion and one, and so on, dealt out in turn.
    const int numbers = 100000;
    Moments mine = {0, 0, 0}, all;
    for (int i = rank; i < numbers; i += size)
        mine = joined(mine, {1, 1e9 + i, 0});
    MPI_Allreduce(&mine, &all, 1, type, op, MPI_COMM_WORLD);

    double variance = all.squares / all.count, right = (double(numbers) * numbers - 1) / 12;
    if (rank == 0)
        std::printf("%.0f numbers: mean %.1f, variance %.1f, which is %s\n", all.count, all.mean, variance,
            std::fabs(variance / right - 1) < 1e-9 ? "right" : "wrong");
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    MPI_Finalize();
}
