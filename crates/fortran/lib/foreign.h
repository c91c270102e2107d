/*
 * What differs over the interfaces of MPICH and of Open MPI: how an integer becomes a handle, and
 * the names of the sentinels, which are COMMON blocks of the program, and variables of MPICH's modules.
 */

#ifndef CATENA_FORTRAN_FOREIGN_H
#define CATENA_FORTRAN_FOREIGN_H

/* What a call has made of a handle. */
#define HANDLE_PUT(Type, Name) \
    static inline void Name##_put(Fint *to, MPI_##Type handle) \
    { \
        *to = Name##_int(handle); \
    }
#define HANDLE_BY_CALL(Type, Name) \
    static inline MPI_##Type Name##_of(Fint handle) \
    { \
        return PMPI_##Name##_f2c(handle); \
    } \
    static inline Fint Name##_int(MPI_##Type handle) \
    { \
        return PMPI_##Name##_c2f(handle); \
    } \
    HANDLE_PUT(Type, Name)

#ifdef CATENA_INTERFACE_MPICH
/* Handles are integers in C, too, but for files. */
#define HANDLE(Type, Name) \
    static inline MPI_##Type Name##_of(Fint handle) \
    { \
        return handle; \
    } \
    static inline Fint Name##_int(MPI_##Type handle) \
    { \
        return handle; \
    } \
    HANDLE_PUT(Type, Name)
#else
#define HANDLE HANDLE_BY_CALL
#endif

HANDLE(Comm, Comm)
HANDLE(Datatype, Type)
HANDLE(Errhandler, Errhandler)
HANDLE_BY_CALL(File, File)
HANDLE(Group, Group)
HANDLE(Info, Info)
HANDLE(Message, Message)
HANDLE(Op, Op)
HANDLE(Request, Request)
HANDLE(Session, Session)
HANDLE(Win, Win)
#undef HANDLE
#undef HANDLE_BY_CALL
#undef HANDLE_PUT

struct mpifort_status {
    Fint entry[sizeof(MPI_Status) / sizeof(Fint)];
};

#ifdef CATENA_INTERFACE_MPICH
/* Several in a block, as MPICH's mpif.h lays them out. */
extern struct mpifort_block_1 {
    Fint bottom, in_place;
    struct mpifort_status status_ignore;
} mpipriv1_;
extern struct mpifort_block_2 {
    struct mpifort_status statuses_ignore;
    Fint errcodes_ignore;
} mpipriv2_;
extern struct mpifort_block_c {
    char argvs_null, argv_null;
} mpiprivc_;
extern Fint mpifcmb5_, mpifcmb9_;
/* Those of its module mpi_f08. */
extern Fint MPIR_F08_MPI_BOTTOM, MPIR_F08_MPI_IN_PLACE,
    __mpi_f08_link_constants_MOD_mpi_errcodes_ignore,
    __mpi_f08_link_constants_MOD_mpi_unweighted,
    __mpi_f08_link_constants_MOD_mpi_weights_empty;
extern char __mpi_f08_link_constants_MOD_mpi_argv_null,
    __mpi_f08_link_constants_MOD_mpi_argvs_null;
extern struct mpifort_status MPIR_F08_MPI_STATUS_IGNORE_OBJ, MPIR_F08_MPI_STATUSES_IGNORE_OBJ;
#define mpifort_f08_bottom MPIR_F08_MPI_BOTTOM
#define mpifort_f08_in_place MPIR_F08_MPI_IN_PLACE
#define mpifort_f08_status_ignore MPIR_F08_MPI_STATUS_IGNORE_OBJ
#define mpifort_f08_statuses_ignore MPIR_F08_MPI_STATUSES_IGNORE_OBJ
#define mpifort_f08_errcodes_ignore __mpi_f08_link_constants_MOD_mpi_errcodes_ignore
#define mpifort_f08_argv_null __mpi_f08_link_constants_MOD_mpi_argv_null
#define mpifort_f08_argvs_null __mpi_f08_link_constants_MOD_mpi_argvs_null
#define mpifort_f08_unweighted __mpi_f08_link_constants_MOD_mpi_unweighted
#define mpifort_f08_weights_empty __mpi_f08_link_constants_MOD_mpi_weights_empty
#define mpifort_bottom mpipriv1_.bottom
#define mpifort_in_place mpipriv1_.in_place
#define mpifort_status_ignore mpipriv1_.status_ignore
#define mpifort_statuses_ignore mpipriv2_.statuses_ignore
#define mpifort_errcodes_ignore mpipriv2_.errcodes_ignore
#define mpifort_argvs_null mpiprivc_.argvs_null
#define mpifort_argv_null mpiprivc_.argv_null
#define mpifort_unweighted mpifcmb5_
#define mpifort_weights_empty mpifcmb9_
#define mpifort_automatic mpifort_no_automatic
extern Fint mpifort_no_automatic __attribute__((visibility("hidden")));
#else
/* Each in a block of its own. */
extern Fint mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_errcodes_ignore_,
    mpi_fortran_unweighted_, mpi_fortran_weights_empty_;
extern char mpi_fortran_argv_null_, mpi_fortran_argvs_null_;
extern struct mpifort_status mpi_fortran_status_ignore_, mpi_fortran_statuses_ignore_;
#define mpifort_bottom mpi_fortran_bottom_
#define mpifort_in_place mpi_fortran_in_place_
#define mpifort_status_ignore mpi_fortran_status_ignore_
#define mpifort_statuses_ignore mpi_fortran_statuses_ignore_
#define mpifort_errcodes_ignore mpi_fortran_errcodes_ignore_
#define mpifort_argvs_null mpi_fortran_argvs_null_
#define mpifort_argv_null mpi_fortran_argv_null_
#define mpifort_unweighted mpi_fortran_unweighted_
#define mpifort_weights_empty mpi_fortran_weights_empty_
#define mpifort_f08_status_ignore mpifort_status_ignore
#define mpifort_f08_statuses_ignore mpifort_statuses_ignore
#endif

#endif
