/*
 * What there is once in a process: the sentinels, what the library is told of the compiler, and
 * helpers of all procedures.
 */

#include "fortran.h"

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
#endif

/* gfortran and flang have 1; what others take for true has the lowest bit, as 1 has. */
Flogical mpifort_true = 1;
Flogical mpifort_false = 0;

/* Learns whether the numbers of handles lead back to them, and tells the library of the sizes and
 * truth values of Fortran, unless the program has. Some libraries end a program that asks before
 * they are started. */
void mpifort_begin(int code)
{
    static const char *const sizes[][2] = {
        {"mpi_logical_size", "4"},
        {"mpi_integer_size", "4"},
        {"mpi_real_size", "4"},
        {"mpi_double_precision_size", "8"},
    };
    Flogical yes = mpifort_true, no = mpifort_false;
    int known = 0;
    if (code)
        return;
    if (!PMPI_Abi_get_fortran_booleans(sizeof yes, &yes, &no, &known)) {
        if (known) {
            mpifort_true = yes;
            mpifort_false = no;
        } else {
            PMPI_Abi_set_fortran_booleans(sizeof yes, &yes, &no);
        }
    }
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
