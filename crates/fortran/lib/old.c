/*
 * What MPI 3.0 has removed: addresses and displacements are default integers. An address that is
 * too large for one is an error.
 */

#include "descriptor.h"

static int narrow(MPI_Aint from, Fint *to)
{
    if ((Fint)from != from)
        return mpifort_raise(MPI_COMM_SELF, MPI_ERR_VALUE_TOO_LARGE);
    *to = (Fint)from;
    return MPI_SUCCESS;
}

void F(address)(const void *location, Fint *address, Fint *ierror)
{
    MPI_Aint at = 0;
    int code = C(Get_address)(buffer(location), &at);
    finish(ierror, code ? code : narrow(at, address));
}
NAMES(address, ADDRESS)

#ifndef CATENA_INTERFACE_FOREIGN
void D(address)(const struct descriptor *location, Fint *address, Fint *ierror)
{
    F(address)(location->base_addr, address, ierror);
}
NAMES_FTS(address)
#endif

/* Of the old functions in C not every library has the PMPI_ name. */
#define MEASURE(name, NAME, which) \
    void F(name)(const Fint *datatype, Fint *value, Fint *ierror) \
    { \
        MPI_Aint lb = 0, extent = 0; \
        int code = C(Type_get_extent)(Type_of(*datatype), &lb, &extent); \
        finish(ierror, code ? code : narrow(which, value)); \
    } \
    NAMES(name, NAME)
MEASURE(type_extent, TYPE_EXTENT, extent)
MEASURE(type_lb, TYPE_LB, lb)
MEASURE(type_ub, TYPE_UB, lb + extent)

void F(errhandler_get)(const Fint *comm, Fint *errhandler, Fint *ierror)
{
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    int code = C(Comm_get_errhandler)(Comm_of(*comm), &handler);
    *errhandler = Errhandler_int(handler);
    finish(ierror, code);
}
NAMES(errhandler_get, ERRHANDLER_GET)

void F(errhandler_set)(const Fint *comm, const Fint *errhandler, Fint *ierror)
{
    finish(ierror, C(Comm_set_errhandler)(Comm_of(*comm), Errhandler_of(*errhandler)));
}
NAMES(errhandler_set, ERRHANDLER_SET)

void F(type_hvector)(const Fint *count, const Fint *blocklength, const Fint *stride,
    const Fint *oldtype, Fint *newtype, Fint *ierror)
{
    MPI_Datatype type = MPI_DATATYPE_NULL;
    int code = C(Type_create_hvector)(INT(*count), INT(*blocklength), *stride, Type_of(*oldtype), &type);
    *newtype = Type_int(type);
    finish(ierror, code);
}
NAMES(type_hvector, TYPE_HVECTOR)

/* Displacements as C wants them; NULL if there is no memory. */
static MPI_Aint *widen(MPI_Aint few[FEW], const Fint *displacements, ptrdiff_t count)
{
    MPI_Aint *wide = room(few, sizeof *wide, count);
    for (ptrdiff_t i = 0; wide && i < count; i++)
        wide[i] = displacements[i];
    return wide;
}

void F(type_hindexed)(const Fint *count, const Fint *blocklengths, const Fint *displacements,
    const Fint *oldtype, Fint *newtype, Fint *ierror)
{
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Aint few[FEW], *wide = widen(few, displacements, *count);
    INTEGERS(blocklengths, *count)
    int code = wide && !NO_INTEGERS(blocklengths)
        ? C(Type_create_hindexed)(INT(*count), ENTRIES(blocklengths), wide, Type_of(*oldtype), &type)
        : mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
    LEAVE_INTEGERS(blocklengths)
    leave(few, wide);
    *newtype = Type_int(type);
    finish(ierror, code);
}
NAMES(type_hindexed, TYPE_HINDEXED)

void F(type_struct)(const Fint *count, const Fint *blocklengths, const Fint *displacements,
    const Fint *types, Fint *newtype, Fint *ierror)
{
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Datatype few_types[FEW], *c_types = room(few_types, sizeof *c_types, *count);
    MPI_Aint few[FEW], *wide = widen(few, displacements, *count);
    int code;
    for (Fint i = 0; c_types && i < *count; i++)
        c_types[i] = Type_of(types[i]);
    INTEGERS(blocklengths, *count)
    code = wide && c_types && !NO_INTEGERS(blocklengths)
        ? C(Type_create_struct)(INT(*count), ENTRIES(blocklengths), wide, c_types, &type)
        : mpifort_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
    LEAVE_INTEGERS(blocklengths)
    leave(few, wide);
    leave(few_types, c_types);
    *newtype = Type_int(type);
    finish(ierror, code);
}
NAMES(type_struct, TYPE_STRUCT)
