! What programs ask of MPI by mpif.h in the way that all libraries have it.
! run: -n 1 ; says ok
! run: -n 3 ; says ok
program portable
  use, intrinsic :: iso_c_binding, only : c_ptr, c_f_pointer
  implicit none
  include 'mpif.h'
  include 'portable.inc'
end program
