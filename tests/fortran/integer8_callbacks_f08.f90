! callbacks_f08.f90, where INTEGER and LOGICAL have 8 bytes.
! cc: -fdefault-integer-8
! run: -n 1 ; says ok
! run: -n 4 ; says ok
include 'callbacks_f08.f90'
