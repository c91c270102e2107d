// What a call costs does not grow with what there is: MPI_Open_port with the ports that are open, and MPI_Cart_create that may
// reorder reads nothing of the machine that it has read before.
//
// only: catena
// time: 60
// run: -n 1
#include "../check.h"

enum { BATCHES = 20, CALLS = 10, MANY = 5000 };

/* The least time of a call, of a few batches. */
static double least(void (*call)(void))
{
    double least = 1e9;
    for (int batch = 0; batch < BATCHES; batch++) {
        double begin = MPI_Wtime();
        for (int i = 0; i < CALLS; i++)
            call();
        double time = (MPI_Wtime() - begin) / CALLS;
        least = time < least ? time : least;
    }
    return least;
}

static void open_port(void)
{
    char port[MPI_MAX_PORT_NAME];
    CHECK(MPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS);
}

static void cart(int reorder)
{
    MPI_Comm comm;
    int dims = 1, periods = 0;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &periods, reorder, &comm);
    MPI_Comm_free(&comm);
}

static void plain(void)
{
    cart(0);
}

static void reordered(void)
{
    cart(1);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    double few = least(open_port);
    for (int i = 0; i < MANY; i++)
        open_port();
    double many = least(open_port);
    double in_order = least(plain), any_order = least(reordered);
    printf("a port: %.1f us, and %.1f us with %d others\n", few * 1e6, many * 1e6, MANY);
    printf("a grid: %.1f us, and %.1f us reordered\n", in_order * 1e6, any_order * 1e6);
    CHECK(many < 2 * few + 20e-6);
    CHECK(any_order < 2 * in_order + 20e-6);
    return finish();
}
