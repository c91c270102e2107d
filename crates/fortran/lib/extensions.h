/*
 * Procedures whose functions no version of the standard has: those of mpi-ext.h. They are asked for weakly, and over a
 * library that lacks one its procedure returns MPI_ERR_UNSUPPORTED_OPERATION.
 *
 * Each has the name that gfortran, flang, ifx and nvfortran give it, and that of mpi_f08_ext. With INTEGERs of 8
 * bytes there are none.
 */

#ifndef CATENA_FORTRAN_EXTENSIONS_H
#define CATENA_FORTRAN_EXTENSIONS_H

#include "descriptor.h"

#ifndef INTEGER_8

#undef C
#undef LOWER
#undef DESCRIBED
#undef NAMES_FTS
#define LOWER LOWER_X
#ifdef PROFILE
#define C(name) PMPIX_##name
#define DESCRIBED(name, suffix) pmpix_##name##suffix
#else
#define C(name) MPIX_##name
#define DESCRIBED(name, suffix) mpix_##name##suffix
#endif
#define NAMES_X(name) SAME(F(name), JOIN(LOWER(name), _f08_))
#define NAMES_FTS(name) SAME(D(name), DESCRIBED(name, _fts))

#endif

#endif
