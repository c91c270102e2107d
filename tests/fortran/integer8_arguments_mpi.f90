! arguments_mpi.f90, where INTEGER and LOGICAL have 8 bytes.
! cc: -fdefault-integer-8
! run: -n 2 ; says ok
! run: -n 4 ; says ok
include 'arguments_mpi.f90'
