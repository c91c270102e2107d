! An argument of the wrong kind is refused, with the name of the procedure or of the argument.
! refused: (?i)(mpi_send|tag)
program kinds
  use mpi_f08
  implicit none
  integer :: v
  call MPI_Send(v, 1, MPI_INTEGER, 0, 1.5, MPI_COMM_WORLD)
end program
