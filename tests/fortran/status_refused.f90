! A status that is too short, as older programs have it, is refused where the module mpi is used.
! refused: (?i)status
program short_status
  use mpi
  implicit none
  integer :: v, status(5), ierror
  call MPI_Recv(v, 1, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, status, ierror)
end program
