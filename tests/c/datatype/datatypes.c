// Contiguous, vector, struct and resized types: sizes, packing, sending one as another.
// run: -n 2
#include "../check.h"
#include <stddef.h>

struct particle {
    char kind;
    double x[3];
    int id;
};

static MPI_Datatype particle_type(void)
{
    int lengths[] = {1, 3, 1};
    MPI_Aint at[] = {offsetof(struct particle, kind), offsetof(struct particle, x),
                     offsetof(struct particle, id)};
    MPI_Datatype parts[] = {MPI_CHAR, MPI_DOUBLE, MPI_INT}, raw, type;
    MPI_Type_create_struct(3, lengths, at, parts, &raw);
    MPI_Type_create_resized(raw, 0, sizeof(struct particle), &type);
    MPI_Type_free(&raw);
    MPI_Type_commit(&type);
    return type;
}

static void columns(int rows, int width)
{
    /* A column of a matrix leaves as a vector and arrives as plain numbers, and back. */
    MPI_Datatype column, tight;
    double *a = calloc(rows * width, sizeof *a), *flat = calloc(rows, sizeof *flat);
    MPI_Type_vector(rows, 1, width, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Type_create_resized(column, 0, sizeof(double), &tight);
    MPI_Type_commit(&tight);
    if (rank == 0) {
        for (int i = 0; i < rows * width; i++)
            a[i] = i;
        MPI_Send(a + 1, 1, column, 1, 0, MPI_COMM_WORLD);
        MPI_Send(a, 2, tight, 1, 1, MPI_COMM_WORLD);
        for (int i = 0; i < rows; i++)
            flat[i] = -i;
        MPI_Send(flat, rows, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(flat, rows, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < rows; i++)
            CHECK(flat[i] == i * width + 1);
        MPI_Status s;
        int count;
        MPI_Recv(a, 2, tight, 0, 1, MPI_COMM_WORLD, &s);
        MPI_Get_count(&s, tight, &count);
        EQUAL(count, 2);
        MPI_Get_elements(&s, tight, &count);
        EQUAL(count, 2 * rows);
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < width; j++)
                CHECK(a[i * width + j] == (j < 2 ? i * width + j : 0));
        MPI_Recv(a + 2, 1, column, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < rows; i++)
            CHECK(a[i * width + 2] == -i);
    }
    MPI_Type_free(&column);
    MPI_Type_free(&tight);
    CHECK(column == MPI_DATATYPE_NULL);
    free(a);
    free(flat);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Datatype type = particle_type();
    int bytes;
    MPI_Aint low, extent;
    MPI_Type_size(type, &bytes);
    EQUAL(bytes, 1 + 3 * sizeof(double) + sizeof(int));
    MPI_Type_get_extent(type, &low, &extent);
    EQUAL(low, 0);
    EQUAL(extent, sizeof(struct particle));

    static const int counts[] = {1, 3, 40, 500, 20000};
    for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++) {
        int n = counts[c];
        struct particle *p = calloc(n, sizeof *p);
        if (rank == 0) {
            for (int i = 0; i < n; i++)
                p[i] = (struct particle){'a' + i % 26, {i, i + .25, i + .5}, n - i};
            MPI_Send(p, n, type, 1, 3, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(p, n, type, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < n; i++)
                CHECK(p[i].kind == 'a' + i % 26 && p[i].x[0] == i && p[i].x[2] == i + .5 &&
                      p[i].id == n - i);
        }
        free(p);
    }
    columns(5, 4);
    columns(300, 7);
    columns(40000, 5);

    /* Pack and unpack in pieces. */
    struct particle a = {'q', {1, 2, 3}, 42}, b = {0};
    char wire[256];
    int at = 0, need, pair[2] = {7, 8}, got[2];
    MPI_Pack_size(1, type, MPI_COMM_WORLD, &need);
    CHECK(need >= bytes);
    MPI_Pack(pair, 2, MPI_INT, wire, sizeof wire, &at, MPI_COMM_WORLD);
    MPI_Pack(&a, 1, type, wire, sizeof wire, &at, MPI_COMM_WORLD);
    int end = at;
    at = 0;
    MPI_Unpack(wire, end, &at, got, 2, MPI_INT, MPI_COMM_WORLD);
    MPI_Unpack(wire, end, &at, &b, 1, type, MPI_COMM_WORLD);
    EQUAL(at, end);
    CHECK(got[1] == 8 && b.kind == 'q' && b.x[2] == 3 && b.id == 42);

    MPI_Datatype three, twelve;
    MPI_Type_contiguous(3, MPI_INT, &three);
    MPI_Type_contiguous(4, three, &twelve);
    MPI_Type_free(&three); /* the type made from it stays */
    MPI_Type_commit(&twelve);
    MPI_Type_size(twelve, &bytes);
    EQUAL(bytes, 12 * sizeof(int));
    int numbers[12], back[12];
    for (int i = 0; i < 12; i++)
        numbers[i] = i * i;
    MPI_Sendrecv(numbers, 1, twelve, rank, 0, back, 12, MPI_INT, rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(!memcmp(numbers, back, sizeof back));
    MPI_Type_free(&twelve);
    MPI_Type_free(&type);
    return finish();
}
