/*
 * MPI_SIZEOF as Open MPI's modules call it: a procedure for each type and rank, whose name says what
 * the size is.
 */

#include "fortran.h"

#define SIZEOF(type, rank, bytes) \
    void JOIN(LOWER(sizeof), _##type##_##rank##_)(const void *x, Fint *size, Fint *ierror) \
    { \
        (void)x; \
        *size = bytes; \
        finish(ierror, MPI_SUCCESS); \
    }
#define RANKS(type, bytes) SIZEOF(type, scalar, bytes) SIZEOF(type, r1, bytes) \
    SIZEOF(type, r2, bytes) SIZEOF(type, r3, bytes) SIZEOF(type, r4, bytes) \
    SIZEOF(type, r5, bytes) SIZEOF(type, r6, bytes) SIZEOF(type, r7, bytes) \
    SIZEOF(type, r8, bytes) SIZEOF(type, r9, bytes) SIZEOF(type, r10, bytes) \
    SIZEOF(type, r11, bytes) SIZEOF(type, r12, bytes) SIZEOF(type, r13, bytes) \
    SIZEOF(type, r14, bytes) SIZEOF(type, r15, bytes)

RANKS(character, 1)
RANKS(logical, 4)
RANKS(int8, 1)
RANKS(int16, 2)
RANKS(int32, 4)
RANKS(int64, 8)
RANKS(real32, 4)
RANKS(real64, 8)
RANKS(real128, 16)
RANKS(complex32, 8)
RANKS(complex64, 16)
RANKS(complex128, 32)
