! What programs ask of MPI by the module mpi in the way that all libraries have it.
! run: -n 1 ; says ok
! run: -n 3 ; says ok
program portable
  use mpi
  use, intrinsic :: iso_c_binding, only : c_ptr, c_f_pointer
  implicit none
  include 'portable.inc'
end program
