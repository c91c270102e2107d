// A function of the program on elements that are longer than any buffer of the library's, with and
// without gaps; and on elements for which there is no memory, which is an error that all are told.
// only: catena
// run: -n 2
// run: -n 5
// run: --set LINK=tcp -n 3
// run: -n 3 -- scarce
// run: --set LINK=tcp -n 3 -- scarce
// time: 60
#include "../check.h"
#include <sys/mman.h>
#include <sys/resource.h>

enum { CELLS = 300000, MANY = 2 };

static int gaps;

/* 2x2 matrices modulo 65521: their product does not commute. */
static void multiply(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)type;
    int step = gaps ? 5 : 4;
    for (long i = 0; i < (long)*len * CELLS; i++) {
        unsigned *a = (unsigned *)in + i * step, *b = (unsigned *)inout + i * step, c[4];
        for (int k = 0; k < 4; k++)
            c[k] = (a[k & 2] * b[k & 1] + a[k | 1] * b[(k & 1) + 2]) % 65521;
        memcpy(b, c, sizeof c);
    }
}

static void set(unsigned *data, int who, long n)
{
    for (long i = 0; i < n * CELLS; i++) {
        unsigned *m = data + i * (gaps ? 5 : 4);
        m[0] = 1 + who, m[1] = (unsigned)(i % 1000), m[2] = 3, m[3] = 7 * who + 1;
        if (gaps)
            m[4] = 99;
    }
}

/* The product over ranks [0, until), the slow way, in one cell. */
static void is_product(const unsigned *data, int until, long n, long first)
{
    int step = gaps ? 5 : 4;
    for (long i = 0; i < n * CELLS; i += 997) {
        unsigned p[4] = {1, 0, 0, 1};
        for (int r = 0; r < until; r++) {
            unsigned m[4] = {1 + r, (unsigned)((first * CELLS + i) % 1000), 3, 7 * r + 1}, c[4];
            for (int k = 0; k < 4; k++)
                c[k] = (p[k & 2] * m[k & 1] + p[k | 1] * m[(k & 1) + 2]) % 65521;
            memcpy(p, c, sizeof c);
        }
        for (int k = 0; k < 4; k++)
            EQUAL(data[i * step + k], p[k]);
        if (gaps)
            EQUAL(data[i * step + 4], 99);
    }
}

static void works(MPI_Datatype type, MPI_Op op)
{
    size_t bytes = (size_t)CELLS * 20 * MANY * size;
    unsigned *in = malloc(bytes), *out = malloc(bytes);
    MPI_Request r;
    for (int n = 1; n <= MANY; n++) {
        set(in, rank, n), set(out, 0, n);
        MPI_Reduce(in, out, n, type, op, size - 1, MPI_COMM_WORLD);
        if (rank == size - 1)
            is_product(out, size, n, 0);
        set(out, 0, n);
        MPI_Allreduce(in, out, n, type, op, MPI_COMM_WORLD);
        is_product(out, size, n, 0);
        set(out, 0, n);
        MPI_Iallreduce(in, out, n, type, op, MPI_COMM_WORLD, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        is_product(out, size, n, 0);
        set(out, 0, n);
        MPI_Scan(in, out, n, type, op, MPI_COMM_WORLD);
        is_product(out, rank + 1, n, 0);
        set(out, 0, n);
        MPI_Exscan(in, out, n, type, op, MPI_COMM_WORLD);
        if (rank)
            is_product(out, rank, n, 0);
    }
    set(in, rank, size), set(out, 0, 1);
    MPI_Reduce_scatter_block(in, out, 1, type, op, MPI_COMM_WORLD);
    is_product(out, size, 1, rank);
    free(in), free(out);
}

static void nothing(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)len, (void)type;
}

/* Two numbers far apart, which the library cannot lay out for the function in what memory it may
   have: more than 64 MiB are too much. */
static void scarce(void)
{
    enum { APART = 256 << 20 };
    MPI_Datatype wide;
    MPI_Op op;
    MPI_Comm comm;
    MPI_Request r;
    struct rlimit whole, less;
    long pages;
    char text[MPI_MAX_ERROR_STRING];
    int n, flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *in = mmap(NULL, APART + 4096, PROT_READ | PROT_WRITE, flags, -1, 0);
    void *out = mmap(NULL, APART + 4096, PROT_READ | PROT_WRITE, flags, -1, 0);
    MPI_Type_create_hvector(2, 1, APART, MPI_INT, &wide);
    MPI_Type_commit(&wide);
    MPI_Op_create(nothing, 0, &op);
    for (int form = 0; form < 3; form++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        MPI_Barrier(comm);
        FILE *statm = fopen("/proc/self/statm", "r");
        EQUAL(fscanf(statm, "%ld", &pages), 1);
        fclose(statm);
        getrlimit(RLIMIT_AS, &whole);
        less = whole, less.rlim_cur = pages * sysconf(_SC_PAGESIZE) + (64 << 20);
        setrlimit(RLIMIT_AS, &less);
        int code = form == 0   ? MPI_Allreduce(in, out, 1, wide, op, comm)
                   : form == 1 ? MPI_Scan(in, out, 1, wide, op, comm)
                               : MPI_Iallreduce(in, out, 1, wide, op, comm, &r);
        if (form == 2 && code == MPI_SUCCESS)
            code = MPI_Wait(&r, MPI_STATUS_IGNORE);
        setrlimit(RLIMIT_AS, &whole);
        /* The first of a scan combines nothing. */
        if (form != 1 || rank) {
            CHECK(class_of(code) == MPI_ERR_NO_MEM || class_of(code) == MPI_ERR_OTHER);
            MPI_Error_string(code, text, &n);
            CHECK(strstr(text, "no memory for"));
        }
        MPI_Comm_free(&comm);
    }
    MPI_Type_free(&wide), MPI_Op_free(&op);
    munmap(in, APART + 4096), munmap(out, APART + 4096);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    if (argc > 1) {
        scarce();
        return finish();
    }
    MPI_Datatype plain, cell, holey;
    MPI_Op op;
    MPI_Op_create(multiply, 0, &op);
    MPI_Type_contiguous(4 * CELLS, MPI_UNSIGNED, &plain);
    MPI_Type_commit(&plain);
    works(plain, op);
    MPI_Type_create_hvector(CELLS, 4, 20, MPI_UNSIGNED, &cell);
    MPI_Type_create_resized(cell, 0, 20 * CELLS, &holey);
    MPI_Type_commit(&holey);
    gaps = 1;
    works(holey, op);
    MPI_Type_free(&plain), MPI_Type_free(&cell), MPI_Type_free(&holey);
    MPI_Op_free(&op);
    return finish();
}
