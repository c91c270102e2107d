// Predefined types without a name, huge types, and operations on types that do not allow them.
// run: -n 1
#include "../check.h"

static char text[MPI_MAX_ERROR_STRING];

/* The class of an error, whose text goes to `text`. */
static int told(int code)
{
    int length;
    MPI_Error_string(code, text, &length);
    return class_of(code);
}

static void unnamed(void)
{
    MPI_Datatype a, b, pair, again;
    MPI_Type_create_f90_real(15, 300, &a);
    MPI_Type_create_f90_real(15, 300, &b);
    CHECK(a == b);
    MPI_Type_create_f90_real(14, 300, &b);
    CHECK(a != b);
    EQUAL(told(MPI_Type_free(&a)), MPI_ERR_TYPE);
    double two[2] = {1.5, 2.5};
    MPI_Reduce_local(two, two + 1, 1, b, MPI_SUM);
    CHECK(two[1] == 4);

    MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &pair);
    CHECK(pair == MPI_DOUBLE_INT);
    MPI_Type_get_value_index(MPI_REAL, MPI_REAL, &pair);
    CHECK(pair == MPI_2REAL);
    MPI_Type_get_value_index(MPI_FLOAT, MPI_FLOAT, &pair);
    CHECK(pair == MPI_DATATYPE_NULL);
    MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT64_T, &pair);
    CHECK(pair != MPI_DATATYPE_NULL);
    MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT64_T, &again);
    CHECK(pair == again);
    struct {
        double value;
        long long index;
    } x = {3, 7}, y = {2, 1LL << 40};
    MPI_Reduce_local(&x, &y, 1, pair, MPI_MAXLOC);
    CHECK(y.value == 3 && y.index == 7);
}

static void huge(void)
{
    const MPI_Count tera = (MPI_Count)1 << 40;
    MPI_Datatype sparse, other;
    MPI_Type_vector_c(tera, 1, 3, MPI_DOUBLE, &sparse);
    int size;
    MPI_Count bytes, lb, extent, ni, na, nc, nd;
    MPI_Type_size(sparse, &size);
    EQUAL(size, MPI_UNDEFINED);
    MPI_Type_size_x(sparse, &bytes);
    CHECK(bytes == 8 * tera);
    MPI_Type_get_extent_x(sparse, &lb, &extent);
    CHECK(lb == 0 && extent == 24 * tera - 16);
    EQUAL(told(MPI_Type_get_envelope(sparse, &size, &size, &size, &size)), MPI_ERR_TYPE);
    MPI_Type_get_envelope_c(sparse, &ni, &na, &nc, &nd, &size);
    CHECK(ni == 0 && na == 0 && nc == 3 && nd == 1 && size == MPI_COMBINER_VECTOR);
    MPI_Type_commit(&sparse);
    MPI_Pack_size(1, sparse, MPI_COMM_SELF, &size);
    EQUAL(size, MPI_UNDEFINED);
    EQUAL(told(MPI_Type_vector_c(tera, 1, tera, MPI_DOUBLE, &other)),
          MPI_ERR_VALUE_TOO_LARGE);
    CHECK(strstr(text, "63 bits") != NULL);
    MPI_Type_free(&sparse);
}

static void operations(void)
{
    char a[2] = {1, 2}, b[2] = {3, 4};
    MPI_Reduce_local(a, b, 2, MPI_CHAR, MPI_SUM);
    CHECK(b[0] == 4 && b[1] == 6);
    double x = 1, y = 2;
    EQUAL(told(MPI_Reduce_local(MPI_IN_PLACE, &y, 1, MPI_DOUBLE, MPI_SUM)), MPI_ERR_BUFFER);
    CHECK(strstr(text, "MPI_IN_PLACE") != NULL);
    EQUAL(told(MPI_Reduce_local(&x, MPI_IN_PLACE, 1, MPI_DOUBLE, MPI_SUM)), MPI_ERR_BUFFER);
    EQUAL(told(MPI_Reduce_local(&x, &y, 1, MPI_DOUBLE, MPI_BAND)), MPI_ERR_OP);
    CHECK(strstr(text, "MPI_BAND") && strstr(text, "MPI_DOUBLE"));
    EQUAL(told(MPI_Reduce_local(&x, &y, 1, MPI_DOUBLE, MPI_MAXLOC)), MPI_ERR_OP);
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_FLOAT, &pair);
    MPI_Type_commit(&pair);
    EQUAL(told(MPI_Reduce_local(&x, &y, 1, pair, MPI_SUM)), MPI_ERR_OP);
    CHECK(strstr(text, "MPI_SUM") && strstr(text, "MPI_Op_create"));
    MPI_Type_free(&pair);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    unnamed();
    huge();
    operations();
    return finish();
}
