/*
 * What there is once in a process: the sentinels, what the library is told of the compiler, and
 * helpers of all procedures.
 */

#include "fortran.h"

#include <stdio.h>

#ifdef CATENA_INTERFACE_FOREIGN
/* By this name the launcher tells Catena's libraries from those of other MPIs (foreign.rs there). */
__attribute__((used)) static const char whose[] = "catena_MPI_Init";
#endif

/* An executable with COMMON blocks of these names has its own copies, and the linker compares
 * size and alignment. */
#define CELL __attribute__((aligned(64), visibility("default")))
#ifdef CATENA_INTERFACE_MPICH
CELL struct mpifort_block_1 mpipriv1_;
CELL struct mpifort_block_2 mpipriv2_;
CELL struct mpifort_block_c mpiprivc_;
CELL Fint mpifcmb5_, mpifcmb9_;
CELL Fint MPIR_F08_MPI_BOTTOM, MPIR_F08_MPI_IN_PLACE,
    __mpi_f08_link_constants_MOD_mpi_errcodes_ignore,
    __mpi_f08_link_constants_MOD_mpi_unweighted,
    __mpi_f08_link_constants_MOD_mpi_weights_empty;
CELL char __mpi_f08_link_constants_MOD_mpi_argv_null, __mpi_f08_link_constants_MOD_mpi_argvs_null;
CELL struct mpifort_status MPIR_F08_MPI_STATUS_IGNORE_OBJ, MPIR_F08_MPI_STATUSES_IGNORE_OBJ;
Fint mpifort_no_automatic;
#elif defined(CATENA_INTERFACE_OPENMPI)
CELL Fint mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_errcodes_ignore_,
    mpi_fortran_unweighted_, mpi_fortran_weights_empty_;
CELL char mpi_fortran_argv_null_, mpi_fortran_argvs_null_;
CELL struct mpifort_status mpi_fortran_status_ignore_, mpi_fortran_statuses_ignore_;
#else
CELL Fint mpifort_bottom, mpifort_in_place, mpifort_automatic, mpifort_errcodes_ignore,
    mpifort_unweighted, mpifort_weights_empty;
CELL char mpifort_argv_null, mpifort_argvs_null;
CELL struct mpifort_status mpifort_status_ignore, mpifort_statuses_ignore,
    mpifort_f08_status_ignore, mpifort_f08_statuses_ignore;
/* Those of programs whose INTEGER has 8 bytes. */
struct long_status {
    int64_t entry[8];
};
CELL int64_t mpif8_bottom, mpif8_in_place, mpif8_automatic,
    mpif8_errcodes_ignore, mpif8_unweighted, mpif8_weights_empty;
CELL char mpif8_argv_null, mpif8_argvs_null;
CELL struct long_status mpif8_status_ignore, mpif8_statuses_ignore,
    mpif8_f08_status_ignore, mpif8_f08_statuses_ignore;
#endif

/* gfortran and flang have 1; what others take for true has the lowest bit, as 1 has. */
Flogical mpifort_true = 1;
Flogical mpifort_false = 0;
int64_t mpifort_i8_true __attribute__((visibility("hidden"))) = 1;
int64_t mpifort_i8_false __attribute__((visibility("hidden"))) = 0;

/* The truth values of LOGICAL with that many bytes: what the program has told counts. */
static void learn_booleans(int bytes, void *yes, void *no)
{
    int64_t known_yes = 0, known_no = 0;
    int known = 0;
    if (PMPI_Abi_get_fortran_booleans(bytes, &known_yes, &known_no, &known))
        return;
    if (known) {
        memcpy(yes, &known_yes, (size_t)bytes);
        memcpy(no, &known_no, (size_t)bytes);
    } else {
        PMPI_Abi_set_fortran_booleans(bytes, yes, no);
    }
}

/* Learns whether the numbers of handles lead back to them, and tells the library of the sizes and
 * truth values of Fortran, unless the program has. */
static void learn(size_t integer)
{
    const char *const size = integer == 8 ? "8" : "4";
    const char *const sizes[][2] = {
        {"mpi_logical_size", size},
        {"mpi_integer_size", size},
        {"mpi_real_size", "4"},
        {"mpi_double_precision_size", "8"},
    };
    if (integer == 8)
        learn_booleans(8, &mpifort_i8_true, &mpifort_i8_false);
    else
        learn_booleans(4, &mpifort_true, &mpifort_false);
    MPI_Info info = MPI_INFO_NULL, told = MPI_INFO_NULL;
    if (PMPI_Info_create(&info))
        return;
#ifndef CATENA_INTERFACE_FOREIGN
    mpifort_own_numbers = PMPI_Info_fromint(PMPI_Info_toint(info)) != info;
#endif
    if (!PMPI_Abi_get_fortran_info(&told)) {
        if (told == MPI_INFO_NULL) {
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
                PMPI_Info_set(info, sizes[i][0], sizes[i][1]);
            PMPI_Abi_set_fortran_info(info);
        } else {
            PMPI_Info_free(&told);
        }
    }
    PMPI_Info_free(&info);
    int found = 0;
    if (!PMPI_Type_size(MPI_INTEGER, &found) && (size_t)found != integer)
        fprintf(stderr, "mpifort: INTEGER has %zu bytes in this program, but MPI_INTEGER has %d: use "
            "MPI_INTEGER%zu and MPI_LOGICAL%zu, or let the procedures of %zu bytes start MPI first\n",
            integer, found, integer, integer, integer);
}

/* Some libraries end a program that asks before they are started. Of INTEGERs with 8 bytes MPICH 5.0 and Intel MPI
 * 2021.19 know nothing, which the program is told, but by which it does not end. */
void mpifort_begin(int code, size_t integer)
{
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    int has_self = 0;
    if (code)
        return;
    if (integer == 8)
        PMPI_Initialized(&has_self);
    if (has_self) {
        PMPI_Comm_get_errhandler(MPI_COMM_SELF, &handler);
        PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    }
    learn(integer);
    if (has_self) {
        PMPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
        PMPI_Errhandler_free(&handler);
    }
}

char *mpifort_text(const char *text, size_t length, char few[SHORT])
{
    while (length && text[length - 1] == ' ')
        length--;
    char *copy = length < SHORT ? few : malloc(length + 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = 0;
    }
    return copy;
}

char *mpifort_word(const char *text, size_t length, char few[SHORT])
{
    while (length && *text == ' ') {
        text++;
        length--;
    }
    return mpifort_text(text, length, few);
}

int mpifort_fill(char *text, size_t length, const char *from)
{
    size_t has = strnlen(from, length);
    memcpy(text, from, has);
    memset(text + has, ' ', length - has);
    return (int)has;
}

void mpifort_neighbors(MPI_Comm comm, int *sources, int *destinations)
{
    int kind = MPI_UNDEFINED, weighted, number = 0, rank = 0;
    PMPI_Topo_test(comm, &kind);
    switch (kind) {
    case MPI_DIST_GRAPH:
        PMPI_Dist_graph_neighbors_count(comm, sources, destinations, &weighted);
        return;
    case MPI_GRAPH:
        PMPI_Comm_rank(comm, &rank);
        PMPI_Graph_neighbors_count(comm, rank, &number);
        break;
    case MPI_CART:
        PMPI_Cartdim_get(comm, &number);
        number *= 2;
    }
    *sources = *destinations = number;
}

int mpifort_raise(MPI_Comm comm, int class)
{
    PMPI_Comm_call_errhandler(comm, class);
    return class;
}
